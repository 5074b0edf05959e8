//! What was measured and how, in sentences, where a run is not as usual.

use super::dump::Dump;
use super::fixture;

#[test]
fn designs() {
    let mut out = Dump::default();
    let sentences = ["* design/0/sentences"];
    let mut run = fixture::run();
    run.measurements.truncate(3);
    out.says("3 configurations were measured", &run, &sentences);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    run.plan.points.retain(|p| p.workload == "cpu.linpack");
    run.plan.series.clear();
    out.says("fixed work alone has no planned length", &run, &sentences);
    insta::assert_snapshot!(out.text);
}
