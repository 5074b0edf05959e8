//! Slow nodes, and nodes that only look slow.

use proofmark_model::{Decision, NodeState};

use super::*;
use crate::fleet::{SecondPass, nodes_again};

fn nothing(_: usize, _: &mut NodeRound) {}

#[test]
fn a_healthy_fleet_is_healthy() {
    for nodes in [4, 5, 8, 40] {
        let report = report(fleet(nodes, nothing));
        assert_eq!(report.count(NodeState::Healthy), nodes, "{:?}", report.nodes[0]);
        assert!(
            report.decision() == Decision::Met && report.nodes.iter().all(|n| n.reasons.is_empty())
        );
        let group = &report.groups[0];
        assert_eq!((group.figures.len(), group.differences.len()), (8, 0));
        assert!(group.figures.iter().all(|f| f.required && f.judged));
        let widest = group.figures.iter().filter_map(|f| f.margin).fold(0.0, f64::max);
        assert!(widest < if nodes == 40 { 0.03 } else { 0.12 }, "{nodes}: {widest}");
        assert!(group.figures.iter().flat_map(|f| &f.strips).all(|s| s.usable == ROUNDS));
        let median = group.figures[0].median.unwrap() / 6e10;
        assert!((1.0..1.1).contains(&median), "{median}");
    }
}

#[test]
fn a_node_that_is_slow_in_both_passes_is_slow() {
    // With few nodes and figures, a smaller loss may be chance.
    for (nodes, by) in [(4, 0.85), (8, 0.9), (64, 0.95)] {
        let slow = |node: usize, line: &mut NodeRound| {
            if node == 2 {
                scale(&mut line.figures[1], [by; 2]);
            }
        };
        let report = report(passes(nodes, &BOTH, slow));
        expect(&report, "n2", NodeState::Slow, "of its group at Triad");
        assert!(report.decision() == Decision::Missed && report.nodes[0].name == "n2");
        let at = &report.nodes[0].figures;
        assert!(at.iter().all(|f| f.confirmed) && at.len() == 2, "{at:?}");
        assert!((f64::from(at[0].ratio) - by).abs() < 0.01);
    }
}

#[test]
fn a_time_that_is_longer_is_slow() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 0 {
            scale(&mut line.figures[2], [0.5; 2]);
        }
    };
    let report = report(passes(8, &BOTH, slow));
    expect(&report, "n0", NodeState::Slow, "takes 2.0");
    assert!(report.nodes[0].figures[0].ratio < 0.52);
}

#[test]
fn slow_in_six_of_eight_rounds_is_not_slow() {
    for (rounds, state) in [(6, NodeState::Healthy), (7, NodeState::Unverified)] {
        let report = report(fleet(8, |node, line| {
            if node == 3 && line.round <= rounds {
                scale(&mut line.figures[0], [0.8; 2]);
            }
        }));
        assert_eq!(node(&report, "n3").state, state, "{rounds}");
        let strip = &report.groups[0].figures[0].strips[3];
        assert_eq!((strip.below, strip.usable), (rounds, ROUNDS));
    }
}

#[test]
fn without_a_second_pass_nothing_is_named_slow() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 5 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
    };
    let lines = fleet(8, slow);
    expect(
        &report(lines.clone()),
        "n5",
        NodeState::Unverified,
        "not confirmed, there is no second pass yet",
    );
    let asked = nodes_again(lines).unwrap();
    let [SecondPass { slow, peers }] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((slow.as_slice(), peers.len()), (["n5".to_owned()].as_slice(), 4));
    assert!(!peers.contains(&"n5".to_owned()));
    assert_eq!(nodes_again(fleet(8, nothing)).unwrap(), []);
}

#[test]
fn the_second_pass_needs_only_some_of_the_group() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node < 3 {
            scale(&mut line.figures[0], [0.6; 2]);
        }
    };
    // All slow ones are measured again with three others, so that most of the pass is slow.
    let in_pass = |pass: Pass, node: &str| pass == Pass::First || node < "n6";
    let mut lines = passes(16, &BOTH, slow);
    lines.retain(|line| match line {
        FleetLine::Round(line) => in_pass(line.pass, &line.node) && line.node != "n15",
        _ => true,
    });
    let report = report(lines);
    let slow: Vec<&str> = report.nodes[..3].iter().map(|n| n.name.as_str()).collect();
    assert_eq!(report.count(NodeState::Slow), 3, "{:?}", report.nodes[0]);
    assert!(["n0", "n1", "n2"].iter().all(|n| slow.contains(n)));
}

#[test]
fn nodes_that_recover_make_no_node_slow() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 4 || node < 4 && line.pass == Pass::First {
            scale(&mut line.figures[0], [0.6; 2]);
        }
    };
    let mut lines = passes(16, &BOTH, slow);
    let again = ["n0", "n1", "n2", "n3", "n4", "n5", "n6"];
    lines.retain(|line| match line {
        FleetLine::Round(line) => line.pass == Pass::First || again.contains(&&*line.node),
        _ => true,
    });
    let report = report(lines);
    let [slow, recovered] = ["n4", "n3"].map(|name| node(&report, name));
    assert!(slow.cause.as_ref().unwrap().starts_with("n4: delivers 60.0 % of its group"));
    assert_eq!(recovered.state, NodeState::Unverified);
    let counts = [NodeState::Slow, NodeState::Unverified].map(|state| report.count(state));
    assert_eq!(counts, [1, 4]);
}

#[test]
fn a_change_of_all_nodes_makes_no_node_slow() {
    let report = report(fleet(8, |_, line| {
        let by = if line.round < 5 { 1.0 } else { 0.5 };
        line.figures.iter_mut().for_each(|f| scale(f, [by; 2]));
    }));
    assert_eq!(report.count(NodeState::Healthy), 8);
}

#[test]
fn nodes_that_differ_have_a_wider_margin() {
    let mut random = xorshift();
    let nodes: Vec<f64> = (0..32).map(|_| (0.025 * normal(&mut random)).exp()).collect();
    let report = report(fleet(32, |node, line| {
        line.figures.iter_mut().for_each(|f| scale(f, [nodes[node]; 2]));
    }));
    assert_eq!(report.count(NodeState::Healthy), 32);
    let figure = &report.groups[0].figures[0];
    assert!(figure.margin.unwrap() > 0.08 && figure.spread.unwrap() > 0.015, "{:?}", figure.margin);
}
