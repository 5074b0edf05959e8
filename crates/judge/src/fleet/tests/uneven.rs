//! What is not judged is never taken for health, and is said.

use proofmark_model::{NodeState, StripOutcome};

use super::*;

const NOT_SHOWN: NodeState = NodeState::NotShownHealthy;

/// Nodes that differ for good by this share at the first two results, each kind by its own.
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
    assert_eq!(report.count(NOT_SHOWN), 32);
    assert!(report.fails());
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
    // Guests that share a host: what they deliver varies, what they can reach does not.
    assert_eq!(uneven(32, 0.0, 0.2).count(NodeState::Healthy), 32);
    assert_eq!(uneven(32, 0.2, 0.0).count(NodeState::Healthy), 32);
    let neither = uneven(32, 0.2, 0.1);
    assert_eq!(neither.count(NOT_SHOWN), 32);
    let words = " and 1 other result differ too much between nodes to judge: margins up to ";
    assert!(neither.nodes[0].reasons[0].contains(words), "{:?}", neither.nodes[0].reasons);
}

#[test]
fn what_is_clearly_slow_is_slow_at_an_uneven_figure() {
    let mut random = xorshift();
    let by: Vec<f64> = (0..32).map(|_| (0.06 * normal(&mut random)).exp()).collect();
    let report = report(passes(32, &BOTH, |node, line| {
        let quota = if node == 5 { 0.4 } else { 1.0 };
        scale(&mut line.figures[0], [1.0, quota * by[node]]);
    }));
    expect(&report, "n5", NodeState::Slow, "of its group at Multiply-add");
    expect(&report, "n5", NodeState::Slow, "the machine itself is as fast");
    let delivered = &report.groups[0].figures[1];
    assert!(delivered.margin.unwrap() > 0.15 && !delivered.judged);
    assert_eq!(delivered.strips[5].outcome, StripOutcome::Slow);
    assert_eq!(delivered.strips[6].outcome, StripOutcome::NotJudged);
}

#[test]
fn what_few_nodes_have_widens_no_margin() {
    let margins = |extra: bool| {
        let mut random = xorshift();
        let by: Vec<f64> = (0..16).map(|_| (0.4 * normal(&mut random)).exp()).collect();
        let report = report(fleet(16, |node, line| {
            for size in 0..if extra && node < 6 { 12_u64 } else { 0 } {
                let mut own = figure(FIGURES[1]);
                own.params = own.params.with("size", size);
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
