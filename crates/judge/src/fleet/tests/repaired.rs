//! Tests of nodes that were repaired and measured again: nothing of before counts.

use proofmark_model::{NodeState, NodesAgain};

use super::pairs::network;
use super::*;

fn names(all: &[&str]) -> NodesAgain {
    NodesAgain { nodes: all.iter().map(|name| (*name).to_owned()).collect(), at: None }
}

/// The lines of the given passes of one node, healthy.
fn healthy(node: usize, of: &[Pass]) -> Vec<FleetLine> {
    let all = passes(8, of, |_, _| {}).into_iter();
    let own =
        |line: &FleetLine| matches!(line, FleetLine::Round(r) if r.node == format!("n{node}"));
    all.filter(own).collect()
}

/// A fleet with a second pass in which n3 has a disk of half the speed, whose fact says so.
fn with_old_disk() -> Vec<FleetLine> {
    let mut lines = passes(8, &BOTH, |node, line| {
        line.facts.push(fact("disk", if node == 3 { "old" } else { "new" }, false));
        if node == 3 {
            scale(&mut line.figures[3], [0.5; 2]);
        }
    });
    let second =
        lines.iter().position(|l| matches!(l, FleetLine::Round(r) if r.pass == Pass::Again));
    lines.insert(second.unwrap(), FleetLine::NodesAgain(names(&["n3", "n1", "n2", "n4", "n5"])));
    lines
}

fn with_new_disk(mut lines: Vec<FleetLine>) -> Vec<FleetLine> {
    for line in &mut lines {
        if let FleetLine::Round(line) = line {
            line.facts.push(fact("disk", "new", false));
        }
    }
    lines
}

#[test]
fn a_repaired_node_recovers_although_its_facts_and_speed_were_others() {
    let before = with_old_disk();
    expect(&report(before.clone()), "n3", NodeState::Slow, "disk old, its group has new");
    let mut lines = before.clone();
    lines.push(FleetLine::MeasureAgain(names(&["n3"])));
    // Until it has measured again, none of its lines counts.
    expect(&report(lines.clone()), "n3", NodeState::Unverified, "neither a result nor an error");
    lines.extend(with_new_disk(healthy(3, &[Pass::First])));
    lines.push(FleetLine::NodesAgain(names(&[])));
    let repaired = report(lines.clone());
    assert_eq!(repaired.count(NodeState::Healthy), 8, "{:?}", node(&repaired, "n3"));
    assert_eq!(node(&repaired, "n3").rounds_again, 0);
    // Files of earlier programs lack the line, and have the empty second pass.
    lines.retain(|line| !matches!(line, FleetLine::MeasureAgain(_)));
    assert_eq!(report(lines).count(NodeState::Healthy), 8);
}

#[test]
fn a_repaired_node_tells_how_much_later_it_was_asked() {
    let asked = |at: &[i64]| {
        let mut lines = fleet(8, |_, _| {});
        for seconds in at {
            let at = moment(0).after(*seconds as f64);
            lines.push(FleetLine::MeasureAgain(NodesAgain { at, ..names(&["n3"]) }));
            lines.extend(healthy(3, &[Pass::First]));
        }
        let report = report(lines);
        assert_eq!(node(&report, "n2").asked_again_after_s, None);
        node(&report, "n3").asked_again_after_s
    };
    assert_eq!(asked(&[]), None);
    assert_eq!(asked(&[1200]), Some(1200.0));
    assert_eq!(asked(&[1200, 172_800]), Some(172_800.0), "the last time counts");
}

#[test]
fn a_node_that_was_repaired_in_vain_is_slow_by_its_new_second_pass() {
    let mut lines = with_old_disk();
    lines.push(FleetLine::MeasureAgain(names(&["n3"])));
    lines.extend(with_old_disk().into_iter().filter(|line| match line {
        // The second pass is measured anew, by all of its nodes.
        FleetLine::Round(line) => line.node == "n3" || line.pass == Pass::Again,
        line => matches!(line, FleetLine::NodesAgain(_)),
    }));
    expect(&report(lines), "n3", NodeState::Slow, "disk old");
}

#[test]
fn a_lost_node_and_a_second_name_recover() {
    let mut lines = fleet(8, |node, line| {
        if node == 6 {
            line.boot_id = Some("boot of n5".into());
        }
    });
    lines.push(failure("n2", 4, "ssh lost the connection", true));
    assert_eq!(report(lines.clone()).count(NodeState::Unverified), 3);
    lines.push(FleetLine::MeasureAgain(names(&["n2", "n6"])));
    lines.extend(healthy(2, &[Pass::First]).into_iter().chain(healthy(6, &[Pass::First])));
    let after = report(lines);
    assert_eq!(after.count(NodeState::Healthy), 8, "{:?}", after.nodes[0]);
}

#[test]
fn a_repaired_cable_recovers_with_its_pairs() {
    let slow = network(6, 8, |ends| if ends.contains(&2) { 0.5 } else { 1.0 });
    let whole = network(6, 8, |_| 1.0);
    expect(&report(slow.clone()), "n2", NodeState::Slow, "TCP");
    let mut lines = slow;
    lines.push(FleetLine::MeasureAgain(names(&["n2"])));
    let own = |line: &FleetLine| match line {
        FleetLine::Round(r) => r.node == "n2" || r.partner.as_deref() == Some("n2"),
        _ => false,
    };
    lines.extend(whole.iter().filter(|line| own(line)).cloned());
    let after = report(lines);
    assert_eq!(after.count(NodeState::Healthy), 6, "{:?}", after.nodes[0]);
    // Pairs that were planned without the node are planned anew.
    let mut lines = whole.clone();
    for line in &mut lines {
        if let FleetLine::RoundRobin(robin) = line {
            robin.groups[0].retain(|name| name != "n2");
        }
    }
    lines.push(FleetLine::MeasureAgain(names(&["n2"])));
    lines.extend(whole.iter().skip(1).cloned());
    let partners = |lines: &[FleetLine]| report(lines.to_vec()).groups[0].partners.clone();
    assert_eq!(partners(&lines), partners(&whole));
}

/// A failure of a pair, or of n5 alone, in a pass over pairs.
fn failed_pair(partner: Option<&str>, pass: Pass, gone: bool) -> FleetLine {
    FleetLine::Failure(NodeFailure {
        node: "n5".into(),
        partner: partner.map(str::to_owned),
        pass,
        round: 8,
        reason: "no route to host".into(),
        gone,
    })
}

#[test]
fn a_repaired_node_takes_the_second_pass_of_all_nodes_with_it() {
    let second = |node: &str| {
        FleetLine::Failure(NodeFailure {
            node: node.into(),
            partner: None,
            pass: Pass::Again,
            round: 1,
            reason: "its process ended".into(),
            gone: true,
        })
    };
    for (failure, ill) in [
        (failed_pair(Some("n6"), Pass::PairsAgain, false), &["n5", "n6"][..]),
        (failed_pair(Some("n6"), Pass::PairsAgain, true), &["n5"]),
        (failed_pair(None, Pass::PairsAgain, true), &["n5"]),
        // It was lost while it measured with the node that was repaired since.
        (failed_pair(Some("n2"), Pass::Pairs, true), &["n5"]),
        (second("n4"), &["n4"]),
    ] {
        let mut lines = network(8, 8, |_| 1.0);
        lines.push(failure.clone());
        let before = report(lines.clone());
        let unverified = before.nodes.iter().filter(|n| n.state == NodeState::Unverified);
        assert_eq!(unverified.map(|n| n.name.as_str()).collect::<Vec<_>>(), ill, "{failure:?}");
        lines.push(FleetLine::MeasureAgain(names(&["n2"])));
        let whole = network(8, 8, |_| 1.0);
        let own = |line: &&FleetLine| match line {
            FleetLine::Round(r) => r.node == "n2" || r.partner.as_deref() == Some("n2"),
            _ => false,
        };
        lines.extend(whole.iter().filter(own).cloned());
        let after = report(lines);
        assert_eq!(after.count(NodeState::Healthy), 8, "{failure:?}: {:?}", after.nodes[0]);
    }
}
