//! What was measured and how, in sentences, where a run is not as usual.

use proofmark_model::{Run, TimeAccount};

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
    let circumstances = ["* trust/circumstances", "* noise/title"];
    let mut run = fixture::run();
    run.programs[0].cpu_s = 5.0;
    out.says("programs used as much time as is missing", &run, &circumstances);
    run.programs.truncate(0);
    let accounts = |run: &mut Run, change: &dyn Fn(&mut Option<TimeAccount>)| {
        let trials = run.measurements.iter_mut().flat_map(|m| &mut m.trials);
        trials.for_each(|t| change(&mut t.time_account));
    };
    let unknown = |time: &mut Option<TimeAccount>| {
        time.iter_mut().for_each(|time| time.throttled_s = None);
    };
    accounts(&mut run, &unknown);
    out.says("a quota may have taken it", &run, &circumstances);
    accounts(&mut run, &|time| *time = None);
    run.cpu_placements.truncate(1);
    out.says("no account, and one placement", &run, &circumstances);
    insta::assert_snapshot!(out.text);
}
