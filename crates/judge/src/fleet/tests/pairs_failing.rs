//! Tests of pairs that fail, and of lines of pairs that do not count.

use proofmark_model::{NodeFinding, Severity};

use super::pairs::*;
use super::*;

#[test]
fn a_pair_that_fails_does_not_count_as_healthy() {
    let mut lines = network(8, 8, |_| 1.0);
    let at = lines.iter().position(|l| is_of(l, |a, b| (a, b) == ("n2", "n5"))).unwrap();
    let FleetLine::Round(round) = lines.remove(at) else { panic!() };
    lines.push(lost("n2", Some("n5"), round.round, false));
    let report = report(lines);
    let expected = "n2 with n5: no route to host (round ";
    for name in ["n2", "n5"] {
        let text = node(&report, name);
        assert_eq!(text.state, NodeState::Unverified);
        assert!(text.reasons[0].starts_with(expected), "{text:?}");
    }
    assert_eq!(report.count(NodeState::Healthy), 6);
}

#[test]
fn a_node_that_fails_with_several_partners_fails_alone() {
    let mut lines = network(16, 16, |_| 1.0);
    let mut failed = Vec::new();
    lines.retain(|line| {
        let FleetLine::Round(round) = line else { return true };
        // It measures, and cannot be measured.
        let fails = round.partner.as_deref() == Some("n4");
        failed.extend(fails.then(|| lost(&round.node, Some("n4"), round.round, false)));
        !fails
    });
    assert!(failed.len() > 6);
    lines.extend(failed);
    expect(&report(lines), "n4", NodeState::Unverified, "with n4: no route to host");
}

#[test]
fn a_node_that_is_lost_in_pairs_is_not_healthy_and_costs_no_other_its_health() {
    let last = |line: &FleetLine| {
        is_of(line, |a, _| a == "n5") && matches!(line, FleetLine::Round(r) if r.round == 8)
    };
    // Before and after its partner's line, with and without a result.
    for (first, with_result) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut lines = network(8, 8, |_| 1.0);
        let at = lines.iter().position(last).unwrap();
        let FleetLine::Round(round) = lines[at].clone() else { panic!() };
        if !with_result {
            let other = if round.node == "n5" { round.partner.unwrap() } else { round.node };
            lines[at] = lost(&other, Some("n5"), 8, false);
        }
        lines.insert(if first { at } else { at + 1 }, lost("n5", None, 8, true));
        expect(&report(lines), "n5", NodeState::Unverified, "no route to host (round 8 of pairs)");
    }
    // One that cannot serve is in no pair; further rounds make up for the lost ones of the others.
    let mut lines = network(8, 12, |_| 1.0);
    lines.retain(|line| !is_of(line, |a, _| a == "n3"));
    for line in &mut lines {
        if let FleetLine::RoundRobin(round_robin) = line {
            round_robin.rounds = 8;
        }
    }
    lines.push(lost("n3", None, 1, false));
    expect(&report(lines), "n3", NodeState::Unverified, "no route to host (round 1 of pairs)");
}

#[test]
fn a_network_that_was_not_measured_to_the_end_is_not_healthy() {
    let none = |keep: u32| {
        let mut lines = network(8, 16, |_| 1.0);
        lines.retain(|line| match line {
            FleetLine::RoundRobin(_) => keep > 0,
            FleetLine::Round(round) if round.pass == Pass::Pairs => round.round <= keep,
            _ => true,
        });
        report(lines)
    };
    let expected = "no result of the network to other nodes";
    assert!(none(0).nodes.iter().all(|n| n.reasons == [expected]), "{:?}", none(0).nodes[0]);
    assert_eq!(none(8).count(NodeState::Unverified), 8);
    let text = none(8).nodes[0].reasons.join("; ");
    assert!(text.contains("has 8 usable rounds of 16, 14 are needed"), "{text}");
    assert_eq!(none(16).count(NodeState::Healthy), 8);
}

#[test]
fn a_line_that_does_not_count_makes_its_sender_unverified() {
    let mut lines = network(16, 16, |_| 1.0);
    for line in &mut lines {
        if let FleetLine::Round(round) = line
            && round.pass == Pass::Pairs
            && round.node == "n6"
        {
            round.tool.version = "0.0.1".into();
        }
    }
    let report = report(lines);
    let refused: Vec<_> = report.nodes.iter().filter(|n| !n.reasons.is_empty()).collect();
    let says = |n: &&FleetNode| n.reasons.iter().any(|r| r.contains("it has proofmark 0.0.1"));
    assert_eq!(refused.iter().copied().filter(|n| says(n)).count(), 1, "{refused:?}");
    assert!(says(&node(&report, "n6")));
}

#[test]
fn results_of_another_pass_do_not_count() {
    let mut lines = network(8, 8, |_| 1.0);
    for line in &mut lines {
        if let FleetLine::Round(round) = line
            && round.node == "n3"
            && round.pass == Pass::First
        {
            round.figures.push(figure(STREAM));
        }
    }
    expect(
        &report(lines),
        "n3",
        NodeState::Unverified,
        "it sent network results outside a round of pairs, or other results in one",
    );
}

#[test]
fn both_ends_may_be_one_machine_only_on_a_declared_testbed() {
    let of = |testbed: Option<&str>, check: &str| {
        let mut lines = network(8, 8, |_| 1.0);
        for line in &mut lines {
            match line {
                FleetLine::Plan(plan) => plan.testbed = testbed.map(Into::into),
                FleetLine::Round(round) if round.pass.of_pairs() => {
                    for f in &mut round.figures {
                        f.verdict = Verdict::Invalid;
                        f.findings = vec![NodeFinding {
                            check: check.into(),
                            severity: Severity::Invalid,
                            message: "the peer is this machine".into(),
                        }];
                    }
                }
                _ => {}
            }
        }
        report(lines).count(NodeState::Healthy)
    };
    assert_eq!(of(Some("namespaces"), "one_machine"), 8);
    assert_eq!(of(Some("namespaces"), "packet_loss"), 0);
    assert_eq!(of(None, "one_machine"), 0);
}

#[test]
fn a_pair_that_fails_in_the_second_pass_is_not_healthy_unless_the_other_node_is_lost() {
    let failed = |gone: bool| {
        let mut lines = network(8, 8, |ends| if ends.contains(&2) { 0.1 } else { 1.0 });
        let mut failure = NodeFailure {
            node: "n5".into(),
            partner: Some("n6".into()),
            pass: Pass::PairsAgain,
            round: 8,
            reason: "no route to host".into(),
            gone: false,
        };
        lines.push(FleetLine::Failure(failure.clone()));
        if gone {
            failure = NodeFailure { node: "n6".into(), partner: None, gone, ..failure };
            lines.push(FleetLine::Failure(failure));
        }
        let report = report(lines);
        ["n5", "n6"].map(|name| node(&report, name).state)
    };
    use NodeState::{Healthy, Unverified};
    assert_eq!(failed(false), [Unverified; 2]);
    assert_eq!(failed(true), [Healthy, Unverified]);
}
