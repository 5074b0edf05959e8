//! Tests of the order of lines, of repeated lines, and of lines of any kind.

use proofmark_model::{Decision, NodeFinding, NodeState, Severity, StripOutcome};
use proptest::prelude::*;

use super::*;
use crate::testing::wild;

#[test]
fn the_order_between_nodes_does_not_matter() {
    let spoil = |node: usize, line: &mut NodeRound| {
        if node == 2 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
        if node == 5 {
            line.facts[1].value = "1".into();
            line.figures[0].title = "another".into();
        }
        if node == 8 {
            line.figures.reverse();
        }
    };
    let lines = passes(9, &BOTH, spoil);
    let mut turned = lines.clone();
    let name = |line: &FleetLine| match line {
        FleetLine::Round(line) => line.node.clone(),
        _ => String::new(),
    };
    turned[1..].sort_by_key(|line| std::cmp::Reverse(name(line)));
    assert_ne!(turned, lines);
    assert_eq!(report(turned), report(lines));
}

#[test]
fn of_repeated_lines_the_last_counts() {
    let slow = |by: f64| {
        move |node: usize, line: &mut NodeRound| {
            if node == 2 {
                scale(&mut line.figures[0], [by; 2]);
            }
        }
    };
    let [good, bad] = [1.0, 0.5].map(|by| passes(8, &BOTH, slow(by)));
    let both = |a: &[FleetLine], b: &[FleetLine]| report([a, b].concat());
    assert_eq!(both(&bad, &good).count(NodeState::Healthy), 8);
    assert_eq!(both(&good, &bad).count(NodeState::Slow), 1);
}

#[test]
fn lines_of_unknown_nodes_are_ignored() {
    let mut lines = fleet(8, |_, _| {});
    let expected = report(lines.clone());
    for (node, number) in [("stranger", 1), ("n0", 0), ("n0", 9), ("n0", u32::MAX)] {
        let line = NodeRound { node: node.into(), round: number, ..round(0, Pass::First, 1) };
        lines.push(FleetLine::Round(Box::new(line)));
        lines.push(failure(node, number, "x", true));
    }
    lines.retain(|line| !matches!(line, FleetLine::Failure(f) if f.node == "n0" && f.round == 1));
    assert_eq!(report(lines), expected);
}

#[test]
fn without_a_plan_there_is_no_report() {
    let lines = fleet(4, |_, _| {});
    assert!(fleet_report(Vec::new()).unwrap_err().contains("no plan"));
    assert!(fleet_report(lines[1..].to_vec()).unwrap_err().contains("first line"));
    let rounds =
        |rounds| fleet_report([FleetLine::Plan(Box::new(FleetPlan { rounds, ..plan(4) }))]);
    assert!(rounds(0).is_err() && rounds(65).is_err() && rounds(64).is_ok());
    let twice = FleetPlan { nodes: vec!["a".into(), "b".into(), "a".into()], ..plan(0) };
    assert_eq!(report(vec![FleetLine::Plan(Box::new(twice))]).nodes.len(), 2);
    assert_eq!(report(vec![FleetLine::Plan(Box::new(plan(0)))]).decision(), Decision::Missed);
}

#[test]
fn a_report_survives_its_file() {
    let report = report(passes(5, &BOTH, |node, line| {
        if node == 2 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
    }));
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<FleetReport>(&text).unwrap(), report);
}

/// A line of any node, with numbers of every kind.
fn any_line() -> impl Strategy<Value = FleetLine> {
    let value = || proptest::option::of(wild());
    let figures = (0..5_usize, value(), value(), value(), value(), 0..3_u8, 1..3_u32);
    let figures = proptest::collection::vec(figures, 0..4);
    let rest = (any::<bool>(), proptest::option::of("[ -~]{0,9}|\\PC{0,3}"), wild(), wild());
    let place = (0..6_usize, 0..4_u32, any::<bool>(), 0..12_u8);
    (place, figures, rest).prop_map(|((node, number, first, kind), figures, (gone, text, a, b))| {
        let pass = if first { Pass::First } else { Pass::Again };
        let text = text.unwrap_or_default();
        if kind == 0 {
            let (node, reason) = (format!("n{node}"), text);
            return FleetLine::Failure(NodeFailure {
                node,
                partner: None,
                pass,
                round: number,
                reason,
                gone,
            });
        }
        let mut line = round(node, pass, number);
        line.figures.clear();
        for (which, attainable, delivered, ceiling, efficiency, verdict, method) in figures {
            let verdict =
                [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][usize::from(verdict)];
            let (message, severity) = (text.clone(), Severity::Suspect);
            let findings = vec![NodeFinding { check: text.clone(), severity, message }];
            line.figures.push(NodeFigure {
                attainable,
                delivered,
                ceiling,
                efficiency,
                reliance: Reliance::Known,
                verdict,
                method,
                findings,
                ..figure(FIGURES[which % FIGURES.len()])
            });
        }
        line.time_account = Some(TimeAccount {
            wall_s: a,
            working_s: b,
            throttled_s: gone.then_some(b),
            ..TimeAccount::default()
        });
        line.facts[0].value = if kind == 1 { text } else { line.facts[0].value.clone() };
        FleetLine::Round(Box::new(line))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_lines_break_it(lines in proptest::collection::vec(any_line(), 0..120), rounds in 1..4_u32) {
        let plan = FleetLine::Plan(Box::new(FleetPlan { rounds, ..plan(6) }));
        let report = report([vec![plan], lines].concat());
        prop_assert_eq!(report.nodes.len(), 6);
        for node in &report.nodes {
            prop_assert!(node.state == NodeState::Healthy || !node.reasons.is_empty() || node.cause.is_some());
            prop_assert_eq!(node.cause.is_some(), node.state == NodeState::Slow);
        }
        for strip in report.groups.iter().flat_map(|g| &g.figures).flat_map(|f| &f.strips) {
            let many = strip.usable >= rounds;
            prop_assert!(many || strip.outcome != StripOutcome::Level);
            prop_assert!(strip.ratio.is_none_or(f32::is_finite));
        }
        let text = serde_json::to_string(&report).unwrap();
        prop_assert_eq!(serde_json::from_str::<FleetReport>(&text).unwrap(), report);
    }
}
