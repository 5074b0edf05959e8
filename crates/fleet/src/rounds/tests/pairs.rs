//! Tests of rounds over pairs of fake nodes.

use proofmark_model::{Pairs, PairsAgain};

use super::*;

/// Returns the lines of a fleet of three nodes that also measures the network, and one pair again.
fn in_pairs(launcher: &mut FakeNodes) -> Vec<FleetLine> {
    in_pairs_after(launcher, Vec::new())
}

fn in_pairs_after(launcher: &mut FakeNodes, before: Vec<FleetLine>) -> Vec<FleetLine> {
    let names = |all: &[&str]| all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let again = ["n1", "n2"].map(str::to_owned);
    let network = NetworkPass {
        pairs: Pairs::Rounds(2),
        subnet: None,
        key: &|| Ok("secret".to_owned()),
        groups: &|| Ok(vec![names(&["n1", "n2", "n3"])]),
        again: &|| Ok(PairsAgain { rounds: vec![vec![again.clone()], vec![again.clone()]] }),
    };
    resumed(launcher, &[], Some(network), before)
}

/// Returns the nodes of the orders of a pass, by round.
fn asked(launcher: &FakeNodes, pass: Pass) -> Vec<(u32, &str)> {
    let orders = launcher.orders.iter().filter(|(p, ..)| *p == pass);
    orders.map(|(_, round, node)| (*round, node.as_str())).collect()
}

#[test]
fn a_launcher_that_was_killed_in_pairs_goes_on_with_the_next_pair() {
    let all = in_pairs(&mut FakeNodes::new(well));
    for kept in 0..=all.len() {
        let mut launcher = FakeNodes::new(well);
        let lines = in_pairs_after(&mut launcher, all[..kept].to_vec());
        assert_eq!(results(&lines, Pass::Pairs), 3, "after {kept} lines");
        assert_eq!(results(&lines, Pass::PairsAgain), 2);
        let circles = lines.iter().filter(|l| matches!(l, FleetLine::RoundRobin(_))).count();
        assert_eq!(circles, 1);
        let left = 3 - results(&all[..kept], Pass::Pairs);
        // Each node gets an order to serve.
        assert_eq!(asked(&launcher, Pass::Pairs).len(), 3 + left, "no pair is measured twice");
    }
}

#[test]
fn the_time_left_is_that_of_the_pairs_so_far() {
    fn slow(node: &str, partner: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        std::thread::sleep(Duration::from_millis(1100));
        well_in_pair(node, partner, pass, round)
    }
    let mut launcher = FakeNodes::new(well);
    launcher.pair = slow;
    in_pairs(&mut launcher);
    let of_pairs = launcher.printed.iter().filter(|line| line.contains("pairs"));
    let printed: Vec<&str> = of_pairs.map(String::as_str).collect();
    let left = |line: &str| {
        let (_, left) = line.split_once(", about ")?;
        left.split(' ').next()?.parse::<u32>().ok()
    };
    // Three rounds of a pair, then two of the second pass.
    let seconds: Vec<Option<u32>> = printed.iter().map(|line| left(line)).collect();
    let [Some(3..6), Some(2..5), None, Some(2..5), None] = seconds[..] else {
        panic!("{printed:#?}")
    };
}

#[test]
fn further_rounds_make_up_for_a_lost_partner() {
    fn lost(node: &str, partner: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        if node == "n3" && pass == Pass::Pairs {
            return vec![b"killed".to_vec()];
        }
        well_in_pair(node, partner, pass, round)
    }
    let mut launcher = FakeNodes::new(well);
    launcher.pair = lost;
    let lines = in_pairs(&mut launcher);
    assert!(failures(&lines).iter().any(|(node, .., gone)| *node == "n3" && *gone));
    let met = |line: &&FleetLine| match line {
        FleetLine::Round(r) if r.pass == Pass::Pairs => {
            [Some(r.node.as_str()), r.partner.as_deref()].contains(&Some("n1"))
        }
        _ => false,
    };
    assert_eq!(lines.iter().filter(met).count(), 2, "as often as planned: {lines:#?}");
}

#[test]
fn nodes_measure_with_each_other_after_they_measured_themselves() {
    let lines = in_pairs(&mut FakeNodes::new(well));
    assert_eq!(failures(&lines), []);
    assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Pairs)), (6, 3));
    assert_eq!(results(&lines, Pass::PairsAgain), 2);
    let mut met = BTreeSet::new();
    for line in &lines {
        if let FleetLine::Round(round) = line
            && let Some(partner) = &round.partner
        {
            met.insert(BTreeSet::from([&round.node, partner]));
        }
    }
    assert_eq!(met.len(), 3);
    let text = serde_json::to_string(&lines).unwrap();
    assert!(!text.contains("secret"), "the key is in no file");
}

#[test]
fn who_answers_for_another_pair_is_asked_no_more() {
    fn other(node: &str, _: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        well_in_pair(node, "n9", pass, round)
    }
    fn itself(node: &str, _: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        well(node, pass, round)
    }
    for peculiar in [other as PairAnswers, itself] {
        let mut launcher = FakeNodes::new(well);
        launcher.pair = peculiar;
        let lines = in_pairs(&mut launcher);
        let failed = failures(&lines);
        assert!(
            failed[0].2 == "it sent an answer that no order asked for" && failed[0].3,
            "{failed:?}"
        );
        assert_eq!(results(&lines, Pass::Pairs), 0);
    }
}

#[test]
fn a_pair_that_fails_costs_no_node() {
    fn refused(_: &str, _: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        lines(&Answer::Failed { pass, round, reason: "no route".to_owned() })
    }
    let mut launcher = FakeNodes::new(well);
    launcher.pair = refused;
    let lines = in_pairs(&mut launcher);
    assert!(launcher.ended.is_empty());
    let pairs: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            FleetLine::Failure(f) => Some((f.partner.is_some(), f.reason.as_str(), f.gone)),
            _ => None,
        })
        .collect();
    assert_eq!(pairs, [(true, "no route", false); 5]);
}
