//! Tests of the network between nodes: a slow cable, a slow link, and neither.

use std::collections::BTreeSet;

use proofmark_model::{Decision, FleetGroup, Pairs, RoundRobin};

use super::*;
use crate::fleet::{pair_groups, pairs_again};

pub(super) const STREAM: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.stream", "TCP stream", Subsystem::Network, Unit::BytePerSecond, 1.2e9);
pub(super) const TRIP: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.rtt", "TCP round trip", Subsystem::Network, Unit::Second, 3e-5);

/// A line of a pair; `speed` is a share of the usual one.
pub(super) fn pair([client, server]: [usize; 2], pass: Pass, number: u32, speed: f64) -> FleetLine {
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

/// A fleet whose nodes also measured the network, in both passes. `speed` is that of a pair.
pub(super) fn network(
    nodes: usize,
    rounds: u32,
    speed: impl Fn([usize; 2]) -> f64,
) -> Vec<FleetLine> {
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

/// The same with planned and further rounds, of which some pairs fail. Their lines come before the
/// second pass is chosen.
pub(super) fn with_failures(
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

/// A network in which one node can be in no pair, and the cable of n1 is slow.
pub(super) fn without_one(nodes: usize, further: u32, slow: f64) -> FleetReport {
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
fn two_nodes_that_fail_with_all_are_the_only_faulty_ones() {
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

pub(super) fn again(lines: &[FleetLine]) -> usize {
    let of = |l: &&FleetLine| matches!(l, FleetLine::Round(r) if r.pass == Pass::PairsAgain);
    lines.iter().filter(of).count()
}

pub(super) fn links(group: &FleetGroup) -> Vec<[&str; 2]> {
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

/// Returns true if a line is of a pair whose nodes `accepts` takes.
pub(super) fn is_of(line: &FleetLine, accepts: impl Fn(&str, &str) -> bool) -> bool {
    let FleetLine::Round(round) = line else { return false };
    let Some(partner) = &round.partner else { return false };
    accepts(&round.node, partner) || accepts(partner, &round.node)
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

/// The failure of a node in a pair, or from then on.
pub(super) fn lost(node: &str, partner: Option<&str>, round: u32, gone: bool) -> FleetLine {
    FleetLine::Failure(NodeFailure {
        node: node.into(),
        partner: partner.map(Into::into),
        pass: Pass::Pairs,
        round,
        reason: "no route to host".into(),
        gone,
    })
}
