//! The network between nodes: a slow cable, a slow link, and what is neither.

use std::collections::BTreeSet;

use proofmark_model::{FleetGroup, NodeFinding, Pairs, Severity};

use super::*;
use crate::fleet::{pair_groups, pairs_again};

const STREAM: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.stream", "TCP stream", Subsystem::Network, Unit::BytePerSecond, 1.2e9);
const TRIP: (&str, &str, Subsystem, Unit, f64) =
    ("network.tcp.rtt", "TCP round trip", Subsystem::Network, Unit::Second, 3e-5);

/// The pairs of a round: node 0 stays, the others move on.
fn partners(nodes: usize, round: u32) -> Vec<[usize; 2]> {
    let seats = nodes + nodes % 2;
    let mut others: Vec<usize> = (1..seats).collect();
    others.rotate_right(round as usize % (seats - 1));
    let all: Vec<usize> = [0].into_iter().chain(others).collect();
    let pairs = (0..seats / 2).map(|at| [all[at], all[seats - 1 - at]]);
    pairs.filter(|pair| pair.iter().all(|node| *node < nodes)).collect()
}

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
    let mut speed = |pair| speed(pair) * (1.0 + 0.01 * normal(&mut random));
    let mut lines = fleet(nodes, |_, _| {});
    if let FleetLine::Plan(plan) = &mut lines[0] {
        plan.pairs = Some(Pairs::Rounds(rounds));
    }
    for number in 1..=rounds {
        for ends in partners(nodes, number) {
            lines.push(pair(ends, Pass::Pairs, number, speed(ends)));
        }
    }
    for (number, pairs) in (1..).zip(pairs_again(lines.clone()).unwrap()) {
        for names in pairs {
            let ends = names.map(|name| name[1..].parse().unwrap());
            lines.push(pair(ends, Pass::PairsAgain, number, speed(ends)));
        }
    }
    lines
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
        assert!(!report.fails() && report.groups[0].links.is_empty());
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
            assert!(cause.contains("its cable, its port or itself"), "{cause}");
            assert_eq!(report.count(NodeState::Healthy), nodes - 1, "of {nodes} at {speed}");
            assert!(report.groups[0].links.is_empty(), "{:?}", report.groups[0].links);
        }
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
        assert!(link.confirmed && report.fails(), "{link:?}");
        assert!(link.cause.starts_with("n1 and n3: the network between them "), "{}", link.cause);
        assert!(link.cause.contains("look between the two"), "{}", link.cause);
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
    assert!(before.fails() && !before.groups[0].links[0].confirmed, "not measured again");
    assert!(before.groups[0].links[0].cause.contains("too few rounds of a second pass"));
    for (number, pairs) in (1..).zip(pairs_again(lines.clone()).unwrap()) {
        for names in pairs {
            let ends = names.map(|name| name[1..].parse().unwrap());
            lines.push(pair(ends, Pass::PairsAgain, number, 1.0));
        }
    }
    assert!(again(&lines) >= 8 && !report(lines).fails());
}

#[test]
fn a_pair_that_fails_is_not_taken_for_health_and_a_lost_node_costs_no_other_its_health() {
    let failed = |gone| {
        let mut lines = network(8, 8, |_| 1.0);
        let of = |l: &FleetLine| {
            matches!(l, FleetLine::Round(r) if r.pass == Pass::Pairs
            && [Some("n2"), Some("n5")] == [Some(r.node.as_str()), r.partner.as_deref()]
            || matches!(l, FleetLine::Round(r) if r.pass == Pass::Pairs
            && [Some("n5"), Some("n2")] == [Some(r.node.as_str()), r.partner.as_deref()]))
        };
        let at = lines.iter().position(of).unwrap();
        let FleetLine::Round(round) = lines.remove(at) else { panic!() };
        let lost = NodeFailure {
            node: "n2".into(),
            partner: Some("n5".into()),
            pass: Pass::Pairs,
            round: round.round,
            reason: "no route to host".into(),
            gone: false,
        };
        lines.push(FleetLine::Failure(lost.clone()));
        if gone {
            let reason = "ssh lost it".into();
            let lost = NodeFailure { node: "n5".into(), partner: None, reason, gone, ..lost };
            lines.push(FleetLine::Failure(lost));
        }
        report(lines)
    };
    let between = failed(false);
    let expected = "n2 with n5: no route to host (round ";
    for name in ["n2", "n5"] {
        let said = node(&between, name);
        assert_eq!(said.state, NodeState::NotShownHealthy);
        assert!(said.reasons[0].starts_with(expected), "{said:?}");
    }
    assert_eq!(between.count(NodeState::Healthy), 6);
    let lost = failed(true);
    expect(&lost, "n5", NodeState::NotShownHealthy, "ssh lost it");
    assert_eq!(lost.count(NodeState::Healthy), 7);
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
    expect(&report(lines), "n3", NodeState::NotShownHealthy, "sent results of another pass");
}

#[test]
fn that_both_ends_are_one_machine_is_forgiven_to_a_declared_laboratory_alone() {
    let of = |laboratory: Option<&str>, check: &str| {
        let mut lines = network(8, 8, |_| 1.0);
        for line in &mut lines {
            match line {
                FleetLine::Plan(plan) => plan.laboratory = laboratory.map(Into::into),
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
