//! The first screen of unusual runs.

use proofmark_model::{
    FigureKind, Finding, Measurement, Precision, Probe, Run, Severity, StorageKind, Summary,
    Verdict, key,
};
use proofmark_report::view::View;
use proofmark_report::{Options, terminal};

use super::dump::Dump;
use super::fixture;
use super::reading::{MORE, each, render};

fn brief(run: &Run, width: usize) -> String {
    terminal::brief(run, &Options { width, color: false }, &MORE)
}

/// The fixture with that verdict and half-width for its fastest `cpu.flops`.
fn with_best(verdict: Verdict, half_width: f64) -> Run {
    let mut run = fixture::run();
    let value = |m: &Measurement| m.summary.as_ref().map_or(0.0, Summary::value);
    let best = each(&mut run, "cpu.flops").max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    best.verdict = verdict;
    best.precision = Some(Precision { half_width, target: 0.005, reached: half_width <= 0.005 });
    run
}

#[test]
fn rows() {
    let mut out = Dump::default();
    let mut says = |what: &str, run: &Run| {
        out.text += &format!("# {what}\n{}", brief(run, 80));
        out.says(what, run, &["* summary/first", "* precision"]);
    };
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload == "cpu.mix.int");
    says("few results are all shown", &run);
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload.starts_with("cpu.mix"));
    run.measurements = [&run.measurements[..]; 3].concat();
    says("a subsystem without a declared row has one a workload", &run);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload == "disk.rand_read" || m.workload == "disk.seq_read");
    each(&mut run, "disk.rand_read").for_each(|m| m.verdict = Verdict::Invalid);
    let mut storage = fixture::disk().host.storage.get().unwrap().clone();
    (storage.kind, storage.devices) = (StorageKind::Memory, vec![]);
    run.host.storage = Probe::known(storage, "fixture");
    says("in memory; an invalid result keeps its row and loses its figure", &run);
    let mut run = fixture::beside();
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    for r in each(&mut run, "cpu.linpack").flat_map(|m| &mut m.references) {
        r.verdict = Verdict::Invalid;
    }
    says("no tool is named whose result is invalid", &run);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload.starts_with("cpu.") && m.series.is_none());
    for m in each(&mut run, "cpu.flops") {
        let Some(s) = &mut m.summary else { continue };
        (s.headline, s.attainable) = (FigureKind::Attainable, s.delivered.clone());
        s.delivered.value = s.delivered.value.map(|value| 0.25 * value);
        m.findings =
            vec![Finding::new("steal", Severity::Suspect, "taken", "ask for dedicated CPUs")];
        m.verdict = Verdict::Suspect;
    }
    says("a quarter of what is attainable was delivered", &run);
    says("the best is precise", &with_best(Verdict::Valid, 0.001));
    says("the best is suspect and not precise", &with_best(Verdict::Suspect, 0.2));
    says("the best is invalid", &with_best(Verdict::Invalid, 0.001));
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.fsync");
    for m in &mut run.measurements {
        m.params = m.params.clone().with(key::MODE, "overwrite").with(key::METHOD, "o_dsync");
    }
    says("a commit of another method, in a mode that is not the usual one", &run);
    insta::assert_snapshot!(out.text);
}

#[test]
fn the_end_of_a_run_and_its_summary_are_short() {
    let mut run = fixture::published();
    let text = render("summary", &run);
    let causes = View::from_run(&run).summary.first.causes.len();
    assert!(text.lines().count() <= 7 + causes, "{text}");
    run.measurements.retain(|m| m.series.is_none());
    let brief = brief(&run, 80);
    assert!(brief.lines().count() <= 30, "{}\n{brief}", brief.lines().count());
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
}
