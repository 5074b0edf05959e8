//! Tests that a result which is not judged never counts as healthy, and is reported.

use proofmark_model::{Decision, NodeState, StripOutcome, key};

use super::*;

const UNVERIFIED: NodeState = NodeState::Unverified;

/// Nodes with permanent differences of those shares at the first two results, attainable and
/// delivered.
fn uneven(nodes: usize, attainable: f64, delivered: f64) -> FleetReport {
    let mut random = xorshift();
    let by: Vec<f64> = (0..nodes).map(|_| normal(&mut random)).collect();
    report(fleet(nodes, |node, line| {
        let by = [attainable, delivered].map(|share| (share * by[node]).exp());
        line.figures.iter_mut().take(2).for_each(|f| scale(f, by));
    }))
}

#[test]
fn half_of_the_nodes_that_are_slow_hide_nothing() {
    let report = report(passes(32, &BOTH, |node, line| {
        if node % 2 == 0 {
            scale(&mut line.figures[1], [0.7; 2]);
        }
    }));
    assert_eq!(report.count(UNVERIFIED), 32);
    assert!(report.decision() == Decision::Undecided);
    let reasons = &node(&report, "n0").reasons;
    assert!(reasons[0].starts_with("Triad differs too much between nodes to judge: margin "));
    assert!(report.nodes.iter().all(|n| &n.reasons == reasons), "one sentence for all");
    let triad = report.groups[0].figures.iter().filter(|f| f.title == "Triad");
    assert!(triad.clone().all(|f| !f.judged && f.margin.unwrap() > 0.3));
    let outcomes = triad.flat_map(|f| &f.strips).map(|s| s.outcome);
    assert!(outcomes.into_iter().all(|o| o == StripOutcome::TooUneven));
}

#[test]
fn a_result_is_judged_if_one_of_its_figures_is() {
    assert_eq!(uneven(32, 0.02, 0.02).count(NodeState::Healthy), 32);
    // Guests that share a host: their delivered figures vary, their attainable ones do not.
    assert_eq!(uneven(32, 0.0, 0.2).count(NodeState::Healthy), 32);
    assert_eq!(uneven(32, 0.2, 0.0).count(NodeState::Healthy), 32);
    let neither = uneven(32, 0.2, 0.1);
    assert_eq!(neither.count(UNVERIFIED), 32);
    let words = " and 1 other result differ too much between nodes to judge: margins up to ";
    assert!(neither.nodes[0].reasons[0].contains(words), "{:?}", neither.nodes[0].reasons);
}

#[test]
fn a_clearly_slow_node_is_slow_at_an_uneven_figure() {
    let mut random = xorshift();
    let by: Vec<f64> = (0..32).map(|_| (0.06 * normal(&mut random)).exp()).collect();
    let report = report(passes(32, &BOTH, |node, line| {
        let quota = if node == 5 { 0.4 } else { 1.0 };
        scale(&mut line.figures[0], [1.0, quota * by[node]]);
    }));
    expect(&report, "n5", NodeState::Slow, "of its group at Multiply-add");
    expect(&report, "n5", NodeState::Slow, "without other load it is as fast");
    let delivered = &report.groups[0].figures[1];
    assert!(delivered.margin.unwrap() > 0.15 && !delivered.judged);
    assert_eq!(delivered.strips[5].outcome, StripOutcome::Slow);
    assert_eq!(delivered.strips[6].outcome, StripOutcome::NotJudged);
}

#[test]
fn a_result_of_few_nodes_widens_no_margin() {
    let margins = |extra: bool| {
        let mut random = xorshift();
        let by: Vec<f64> = (0..16).map(|_| (0.4 * normal(&mut random)).exp()).collect();
        let report = report(fleet(16, |node, line| {
            for size in 0..if extra && node < 6 { 12_u64 } else { 0 } {
                let mut own = figure(FIGURES[1]);
                own.params = own.params.with_named("size", size);
                scale(&mut own, [by[node]; 2]);
                line.figures.push(own);
            }
        }));
        assert_eq!(report.count(NodeState::Healthy), 16, "{:?}", report.nodes[0]);
        let judged = report.groups[0].figures.iter().filter(|f| f.required);
        let margins: Vec<_> = judged.map(|f| f.margin).collect();
        let shown = report.groups[0].figures.iter().filter(|f| !f.required);
        assert!(shown.clone().all(|f| f.margin.is_none() && f.median.is_some()));
        assert_eq!(shown.count(), if extra { 24 } else { 0 });
        margins
    };
    assert_eq!(margins(true), margins(false));
}

#[test]
fn a_large_fleet_without_four_alike_is_unverified() {
    let kinds = |nodes: usize| {
        report(fleet(nodes, |node, line| line.facts[1].value = (node / 3).to_string()))
    };
    let report = kinds(6);
    assert_eq!((report.count(UNVERIFIED), report.decision()), (6, Decision::Undecided));
    let reasons = &node(&report, "n0").reasons;
    assert_eq!(reasons, &["its group has 3 nodes; comparing needs 4"]);
    let reasons = &node(&report, "n5").reasons;
    let words = "1 usable CPU, the largest group has 0; its group has 3 nodes; comparing needs 4";
    assert_eq!(reasons, &[words]);
    assert!(kinds(3).decision() == Decision::Met);
}

#[test]
fn a_node_slow_with_all_but_not_with_few_is_unverified() {
    let slow_at_first = || {
        passes(8, &BOTH, |node, line| {
            if node == 5 && line.pass == Pass::First {
                scale(&mut line.figures[0], [0.7; 2]);
            }
        })
    };
    let report = report(slow_at_first());
    let words = "of its group at Multiply-add: slow only while all nodes ran, not with a \
                 few: a limit that they share (power, a switch), or chance; measure again";
    expect(&report, "n5", UNVERIFIED, words);
    assert!(report.decision() == Decision::Undecided);
    let strip = &report.groups[0].figures[0].strips[5];
    assert_eq!((strip.outcome, strip.again.len()), (StripOutcome::SlowNotConfirmed, 8));
    // A quota that every round records may be the cause, and is named.
    let limited = self::report(passes(8, &BOTH, |node, line| {
        if node == 5 {
            set_quota(line, Some(1.5));
            scale(&mut line.figures[0], [if line.pass == Pass::First { 0.7 } else { 1.0 }; 2]);
        }
    }));
    expect(&limited, "n5", UNVERIFIED, words);
    assert_eq!(node(&limited, "n5").reasons[1..], ["CPU quota of 1.5 CPUs"]);
    // Nodes that never ran at the same time share no limit.
    let mut lines = slow_at_first();
    let FleetLine::Plan(plan) = &mut lines[0] else { panic!("no plan") };
    plan.at_once = Some(1);
    let words = "of its group at Multiply-add: slow only in the first pass, not in the second: what made \
                 it slow has ended, or chance; measure again";
    expect(&self::report(lines), "n5", UNVERIFIED, words);
}

#[test]
fn results_that_most_nodes_lack_are_reported() {
    let report = report(fleet(8, |node, line| {
        let disk = &mut line.figures[3];
        (disk.attainable, disk.delivered) = (None, None);
        disk.missing = Some("no disk".into());
        if node == 6 {
            line.figures.push(NodeFigure { title: "Own".into(), ..figure(FIGURES[0]) });
            line.figures[4].params = Params::default().with(key::THREADS, 1);
        }
    }));
    assert_eq!(report.count(NodeState::Healthy), 8);
    let left = report.groups[0].not_judged.as_ref().unwrap();
    assert_eq!((left.results, left.titles.join("; ")), (2, "Own; Random read".to_owned()));
    let all = super::report(fleet(8, |_, _| {}));
    assert_eq!(all.groups[0].not_judged, None);
}
