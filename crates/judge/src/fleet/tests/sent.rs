//! Tests of the line that a node sends of its run.

use proofmark_model::testing::run;
use proofmark_model::{Finding, Measurement, Probe, Run, Severity, Verdict};

use super::*;
use crate::fleet::node_round;
use crate::testing::{clock, flops, headed, host, latency, spec, stream, with_quota};

fn judged(mut all: Vec<Measurement>) -> Run {
    all.iter_mut().for_each(|m| m.verdict = Verdict::Suspect);
    let mut run = run(all);
    run.host = host();
    for m in &run.measurements {
        run.workloads.insert(m.workload.clone(), spec(&m.workload));
    }
    run
}

#[test]
fn a_run_becomes_a_line() {
    let mut series = clock(4e9);
    series.series = Some(proofmark_model::testing::series(moment(0), 9));
    let mut first = headed(flops(2), FigureKind::Attainable, 0.001);
    first.findings = vec![
        Finding::new("a", Severity::Note, "A note.", ""),
        Finding::new("b", Severity::Suspect, "Red\u{1b}[31m.", ""),
    ];
    let mut run = judged(vec![first, stream("triad", 2), latency(1 << 30, 1e-7), series]);
    run.host = with_quota(run.host, 1.0);
    run.host.memory.total_bytes = Probe::known(16_500_000_000, "test");
    let line = node_round(&run, ("n0", None), Pass::Again, 4);
    assert_eq!((line.node.as_str(), line.pass, line.round), ("n0", Pass::Again, 4));
    assert_eq!(line.figures.len(), 3, "a series is no result of a round");
    let figure = &line.figures[0];
    assert_eq!((figure.headline, figure.verdict), (FigureKind::Attainable, Verdict::Suspect));
    assert!(figure.attainable.is_some() && figure.unit == Unit::FlopPerSecond);
    assert_eq!(figure.findings[0].message, "Red[31m.", "the most severe first, and cleaned");
    assert!(line.figures.iter().all(|f| f.method > 0 && !f.title.is_empty()));
    let fact = |what: &str| line.facts.iter().find(|f| f.what == what).unwrap();
    let value = |what: &str| (fact(what).value.as_str(), fact(what).groups);
    assert_eq!(value("usable CPUs"), ("2", true));
    assert_eq!(value("CPU quota"), ("1 CPU", false));
    assert_eq!(value("memory"), ("16 GiB", true));
    assert_eq!(value("instruction sets"), ("avx2 avx512f fma", true));
    assert_eq!(value("virtualisation"), ("kvm", false));
    assert!(value("core design").1 && value("kernel").1 && value("threads per core").1);
}

#[test]
fn values_that_are_no_numbers_are_not_sent() {
    let mut m = flops(1);
    let summary = m.summary.as_mut().unwrap();
    summary.attainable.value = Some(f64::NAN);
    summary.delivered.value = Some(f64::INFINITY);
    m.efficiency = Some(1e300);
    let line = node_round(&judged(vec![m]), ("n0", None), Pass::First, 1);
    let figure = &line.figures[0];
    assert_eq!((figure.attainable, figure.delivered, figure.efficiency), (None, None, None));
    assert!(figure.missing.is_some(), "the reason why there is none");
}

#[test]
fn lines_of_runs_make_a_fleet() {
    let mut lines =
        vec![FleetLine::Plan(Box::new(FleetPlan { tool: judged(vec![]).tool, ..plan(4) }))];
    let all = vec![headed(flops(2), FigureKind::Attainable, 0.001), stream("triad", 2)];
    for number in 1..=ROUNDS {
        for node in 0..4 {
            let line =
                node_round(&judged(all.clone()), (&format!("n{node}"), None), Pass::First, number);
            lines.push(FleetLine::Round(Box::new(line)));
        }
    }
    assert_eq!(report(lines).count(NodeState::Healthy), 4);
}
