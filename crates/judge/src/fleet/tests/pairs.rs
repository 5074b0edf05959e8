//! The network between nodes: a slow cable, a slow link, and what is neither.

use std::collections::BTreeSet;

use proofmark_model::{Decision, FleetGroup, NodeFinding, Pairs, RoundRobin, Severity};

use super::*;
use crate::fleet::{pair_groups, pairs_again};

const STREAM: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.stream", "TCP stream", Subsystem::Network, Unit::BytePerSecond, 1.2e9);
const TRIP: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.rtt", "TCP round trip", Subsystem::Network, Unit::Second, 3e-5);

/// A line of a pair; `speed` is a share of the usual one.
fn pair([client, server]: [usize; 2], pass: Pass, number: u32, speed: f64) -> FleetLine {
    let mut line = round(client, pass, number);
    line.partner = Some(format!("n{server}"));
    line.figures = [STREAM, TRIP].map(figure).into();
    for f in &mut line.figures {
        let factor = if f.better == Better::Higher { speed } else { 1.0 / speed };
        for value in [&mut f.attainable, &mut f.delivered] {
            *value = value.map(|v| v * factor);
        }
    }
    FleetLine::Round(Box::new(line))
}

/// A fleet whose nodes have measured the network, too, in both passes. `speed` is that of a pair.
fn network(nodes: usize, rounds: u32, speed: impl Fn([usize; 2]) -> f64) -> Vec<FleetLine> {
    let mut random = xorshift();
    measured(nodes, rounds, |pair| speed(pair) * (1.0 + 0.01 * normal(&mut random)))
}

/// The same; `speed` is that of a pair in a round.
pub(super) fn measured(
    nodes: usize,
    rounds: u32,
    speed: impl FnMut([usize; 2]) -> f64,
) -> Vec<FleetLine> {
    with_failures(nodes, (rounds, 0), speed, &|_, _| None, &[])
}

/// The same in so many planned and further rounds, of which some pairs fail. These lines come before the
/// second pass is chosen.
fn with_failures(
    nodes: usize,
    (rounds, further): (u32, u32),
    mut speed: impl FnMut([usize; 2]) -> f64,
    failed: &dyn Fn([usize; 2], u32) -> Option<Vec<FleetLine>>,
    more: &[FleetLine],
) -> Vec<FleetLine> {
    let mut lines = fleet(nodes, |_, _| {});
    let FleetLine::Plan(plan) = &mut lines[0] else { panic!() };
    plan.pairs = Some(Pairs::Rounds(rounds));
    let groups = vec![plan.nodes.clone()];
    lines.push(FleetLine::RoundRobin(RoundRobin { groups, rounds }));
    for number in 1..=rounds + further {
        for ends in RoundRobin::pairs(nodes, number) {
            let result = || vec![pair(ends, Pass::Pairs, number, speed(ends))];
            lines.extend(failed(ends, number).unwrap_or_else(result));
        }
    }
    lines.extend_from_slice(more);
    for (number, pairs) in (1..).zip(pairs_again(lines.clone()).unwrap().rounds) {
        for names in pairs {
            let ends = names.map(|name| name[1..].parse().unwrap());
            let result = || vec![pair(ends, Pass::PairsAgain, number, speed(ends))];
            lines.extend(failed(ends, number).unwrap_or_else(result));
        }
    }
    lines
}

/// A network one of whose nodes can be in no pair, and n1's cable is slow.
fn without_one(nodes: usize, further: u32, slow: f64) -> FleetReport {
    let last = nodes - 1;
    let speed = |ends: [usize; 2]| if ends.contains(&1) { slow } else { 1.0 };
    let failed = |ends: [usize; 2], _| ends.contains(&last).then(Vec::new);
    let more = [lost(&format!("n{last}"), None, 1, false)];
    report(with_failures(nodes, (8, further), speed, &failed, &more))
}

#[test]
fn a_pair_that_is_alone_in_its_round_shows_nothing() {
    let report = without_one(5, 6, 0.8);
    let n1 = node(&report, "n1");
    assert_eq!(n1.state, NodeState::Unverified, "{n1:?}");
    assert!(n1.reasons.iter().any(|r| r.contains("are needed")), "{n1:?}");
}

#[test]
fn a_node_that_can_be_in_no_pair_does_not_hide_a_slow_cable() {
    for nodes in [7, 8] {
        let report = without_one(nodes, 4, 0.3);
        let n1 = node(&report, "n1");
        assert_eq!(n1.state, NodeState::Slow, "of {nodes}: {n1:?}");
        assert_eq!(report.count(NodeState::Healthy), nodes - 2);
    }
}

#[test]
fn two_nodes_that_fail_with_all_are_the_only_ones_to_blame() {
    let failed = |ends: [usize; 2], number| {
        let [a, b] = ends.map(|node| format!("n{node}"));
        ends.iter().any(|n| *n > 5).then(|| vec![lost(&a, Some(&b), number, false)])
    };
    let report = report(with_failures(8, (8, 8), |_| 1.0, &failed, &[]));
    for (name, state) in [("n6", NodeState::Unverified), ("n0", NodeState::Healthy)] {
        assert_eq!(node(&report, name).state, state, "{:?}", node(&report, name));
    }
    assert_eq!(report.count(NodeState::Healthy), 6);
}

fn again(lines: &[FleetLine]) -> usize {
    let of = |l: &&FleetLine| matches!(l, FleetLine::Round(r) if r.pass == Pass::PairsAgain);
    lines.iter().filter(of).count()
}

fn links(group: &FleetGroup) -> Vec<[&str; 2]> {
    group.links.iter().map(|l| l.nodes.map(|place| group.nodes[place].as_str())).collect()
}

#[test]
fn a_healthy_network() {
    for nodes in [4, 5, 8, 9, 16] {
        let lines = network(nodes, 10, |_| 1.0);
        assert_eq!(again(&lines), 0, "nothing is measured again");
        let report = report(lines);
        assert_eq!(report.count(NodeState::Healthy), nodes);
        assert!(report.decision() == Decision::Met && report.groups[0].links.is_empty());
        let stream = report.groups[0].figures.iter().find(|f| f.title == "TCP stream").unwrap();
        assert!(stream.required && stream.judged);
        assert_eq!(stream.strips[1].ratios.len(), 10);
        assert_eq!(report.groups[0].partners[0].len(), 10);
    }
}

#[test]
fn a_node_that_is_slow_with_all_partners_is_slow_and_no_link_is() {
    for nodes in [4, 5, 8, 9] {
        for speed in [0.1, 0.9] {
            let lines = network(nodes, 10, |ends| if ends.contains(&2) { speed } else { 1.0 });
            assert!(again(&lines) >= 8);
            let report = report(lines);
            let n2 = node(&report, "n2");
            assert_eq!(n2.state, NodeState::Slow, "{n2:?}");
            let cause = n2.cause.as_deref().unwrap();
            assert!(cause.contains("check its cable, port and network card"), "{cause}");
            assert_eq!(report.count(NodeState::Healthy), nodes - 1, "of {nodes} at {speed}");
            assert!(report.groups[0].links.is_empty(), "{:?}", report.groups[0].links);
        }
    }
}

#[test]
fn several_slow_nodes_do_not_hide_each_other() {
    for (nodes, slow) in [(4, 1), (6, 2), (8, 2), (8, 3), (9, 3), (16, 5)] {
        let lines =
            network(nodes, 16, |ends| if ends.iter().any(|n| *n < slow) { 0.1 } else { 1.0 });
        let report = report(lines);
        for number in 0..nodes {
            let state = node(&report, &format!("n{number}")).state;
            let expected = if number < slow { NodeState::Slow } else { NodeState::Healthy };
            assert_eq!(state, expected, "n{number} of {nodes} with {slow} slow");
        }
        assert!(report.groups[0].links.is_empty(), "{:?}", report.groups[0].links);
    }
}

#[test]
fn a_link_is_slow_if_its_nodes_are_as_fast_with_others() {
    for nodes in [4, 8, 9] {
        let slow = |ends: [usize; 2]| ends.contains(&1) && ends.contains(&3);
        let lines = network(nodes, 10, |ends| if slow(ends) { 0.8 } else { 1.0 });
        let report = report(lines);
        let group = &report.groups[0];
        assert_eq!(links(group), [["n1", "n3"]]);
        let link = &group.links[0];
        assert!(link.confirmed && report.decision() == Decision::Missed, "{link:?}");
        assert!(link.cause.starts_with("n1 and n3: the network between them "), "{}", link.cause);
        assert!(
            link.cause.contains("check the cables, ports and routes between them"),
            "{}",
            link.cause
        );
        assert_eq!(report.count(NodeState::Healthy), nodes, "no node is");
    }
}

#[test]
fn a_link_that_was_slow_once_is_not() {
    let once = |ends: [usize; 2]| ends == [0, 7] || ends == [7, 0];
    let mut lines = network(8, 8, |_| 1.0);
    let mut disturbed = false;
    for line in &mut lines {
        if let FleetLine::Round(round) = line
            && round.pass == Pass::Pairs
            && let Some(other) = &round.partner
            && once([&round.node, other].map(|name| name[1..].parse().unwrap()))
        {
            disturbed = true;
            round.figures.iter_mut().for_each(|f| f.delivered = f.delivered.map(|v| v * 0.7));
        }
    }
    assert!(disturbed);
    let before = report(lines.clone());
    assert!(
        before.decision() == Decision::Undecided && !before.groups[0].links[0].confirmed,
        "not measured again"
    );
    assert!(before.groups[0].links[0].cause.contains("not confirmed, it was not measured again"));
    for (number, pairs) in (1..).zip(pairs_again(lines.clone()).unwrap().rounds) {
        for names in pairs {
            let ends = names.map(|name| name[1..].parse().unwrap());
            lines.push(pair(ends, Pass::PairsAgain, number, 1.0));
        }
    }
    assert!(again(&lines) >= 8 && report(lines).decision() == Decision::Met);
}

/// Whether a line is of a pair of these nodes.
fn is_of(line: &FleetLine, of: impl Fn(&str, &str) -> bool) -> bool {
    let FleetLine::Round(round) = line else { return false };
    let Some(partner) = &round.partner else { return false };
    of(&round.node, partner) || of(partner, &round.node)
}

/// Why a node has no result of a pair, or none at all from then on.
fn lost(node: &str, partner: Option<&str>, round: u32, gone: bool) -> FleetLine {
    FleetLine::Failure(NodeFailure {
        node: node.into(),
        partner: partner.map(Into::into),
        pass: Pass::Pairs,
        round,
        reason: "no route to host".into(),
        gone,
    })
}

#[test]
fn a_pair_that_fails_is_not_taken_for_health() {
    let mut lines = network(8, 8, |_| 1.0);
    let at = lines.iter().position(|l| is_of(l, |a, b| (a, b) == ("n2", "n5"))).unwrap();
    let FleetLine::Round(round) = lines.remove(at) else { panic!() };
    lines.push(lost("n2", Some("n5"), round.round, false));
    let report = report(lines);
    let expected = "n2 with n5: no route to host (round ";
    for name in ["n2", "n5"] {
        let said = node(&report, name);
        assert_eq!(said.state, NodeState::Unverified);
        assert!(said.reasons[0].starts_with(expected), "{said:?}");
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
    let said = none(8).nodes[0].reasons.join("; ");
    assert!(said.contains("has 8 usable rounds of 16, 14 are needed"), "{said}");
    assert_eq!(none(16).count(NodeState::Healthy), 8);
}

#[test]
fn a_line_that_does_not_count_is_held_against_its_sender() {
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
        "it sent results of the network outside of pairs, or others of a pair",
    );
}

#[test]
fn that_both_ends_are_one_machine_is_forgiven_to_a_declared_testbed_alone() {
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
fn nodes_of_a_group_measure_with_each_other() {
    let lines = fleet(9, |node, line| {
        if node >= 5 {
            line.facts[0].value = "Xeon".into();
        }
    });
    let groups: Vec<BTreeSet<String>> =
        pair_groups(lines).unwrap().into_iter().map(|g| g.into_iter().collect()).collect();
    assert_eq!(groups.iter().map(BTreeSet::len).collect::<Vec<_>>(), [5, 4]);
    assert!(groups[1].contains("n8"));
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
