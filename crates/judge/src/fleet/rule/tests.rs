use super::*;
use crate::testing::{normal, xorshift};

/// Figures of nodes that differ by that share, whose rounds vary by 1 %.
fn figures(
    random: &mut impl FnMut() -> f64,
    count: usize,
    nodes: usize,
    between: f64,
) -> Vec<((), Rounds)> {
    let mut figure = || {
        let mut rounds = Rounds::new(nodes, 8);
        for node in 0..nodes {
            let speed = (between * normal(random)).exp();
            (0..8).for_each(|round| {
                rounds.set(node, round, speed * (0.01 * normal(random)).exp());
            });
        }
        ((), rounds)
    };
    (0..count).map(|_| figure()).collect()
}

fn slow_down(rounds: &mut Rounds, node: usize, by: f64, in_rounds: usize) {
    let own = &mut rounds.speeds[node * rounds.rounds..][..in_rounds];
    own.iter_mut().for_each(|speed| *speed *= by);
}

/// Pairs with 8 planned rounds have 16, to make up for lost partners.
#[test]
fn seven_of_eight_rounds_decide_however_many_there_are() {
    for (slow, is_slow) in [(7, false), (13, false), (14, true)] {
        let mut rounds = Rounds::for_pairs(&[8; 8], 16);
        (0..128).for_each(|i| rounds.set(i / 16, i % 16, 5.0));
        slow_down(&mut rounds, 3, 0.5, slow);
        let node = &apply(&[((), rounds)], 8)[0].nodes[3];
        assert_eq!((node.slow, node.below, node.needed), (is_slow, slow, 14));
    }
}

#[test]
fn healthy_fleets_make_no_alarm() {
    let mut random = xorshift();
    for (between, nodes) in [(0.003, 4), (0.003, 64), (0.02, 8), (0.05, 8), (0.05, 64)] {
        for _ in 0..20 {
            let ruled = apply(&figures(&mut random, 20, nodes, between), 20 * nodes);
            assert!(ruled.iter().flat_map(|r| &r.nodes).all(|n| !n.slow), "{between} {nodes}");
        }
    }
}

#[test]
fn a_slow_node_is_found_among_few_and_many() {
    let mut random = xorshift();
    for nodes in [4, 8, 32, 256] {
        let mut found = 0;
        for _ in 0..20 {
            let mut all = figures(&mut random, 20, nodes, 0.003);
            slow_down(&mut all[3].1, 1, 0.95, 8);
            let ruled = apply(&all, 20 * nodes);
            found += u32::from(ruled[3].nodes[1].slow);
            let margin = ruled[3].margin.unwrap();
            assert!(nodes < 32 || margin < 0.0225, "{nodes}: {margin}");
        }
        assert!(found >= if nodes == 4 { 14 } else { 18 }, "{nodes}: {found} of 20");
    }
}

#[test]
fn the_margin_follows_the_differences_between_nodes() {
    let mut random = xorshift();
    let margin = |random: &mut _, between, tests| {
        apply(&figures(random, 20, 32, between), tests)[0].margin.unwrap()
    };
    assert_eq!(margin(&mut random, 0.0, 640), FLOOR);
    let [few, many] = [10, 1_000_000].map(|tests| margin(&mut random, 0.05, tests));
    assert!(few > 0.09 && many > 1.3 * few && many < 0.4, "{few} {many}");
}

#[test]
fn a_single_figure_of_few_nodes_still_finds_a_node_of_half_the_speed() {
    let mut random = xorshift();
    let mut all = figures(&mut random, 1, 4, 0.003);
    slow_down(&mut all[0].1, 2, 0.5, 8);
    let ruled = apply(&all, 8);
    assert!(ruled[0].nodes[2].slow, "{:?}", ruled[0].margin);
    assert_eq!(ruled[0].nodes.iter().filter(|n| n.slow).count(), 1);
}

#[test]
fn figures_of_another_pool_do_not_count() {
    let mut random = xorshift();
    let steady = figures(&mut random, 20, 8, 0.003).into_iter().map(|(_, r)| (0, r));
    let vague = figures(&mut random, 20, 8, 0.08).into_iter().map(|(_, r)| (1, r));
    let ruled = apply(&steady.chain(vague).collect::<Vec<_>>(), 320);
    let widest = ruled[..20].iter().filter_map(|r| r.margin).fold(0.0, f64::max);
    let narrowest = ruled[20..].iter().filter_map(|r| r.margin).fold(1.0, f64::min);
    assert!(widest < 0.03 && narrowest > 0.1, "{widest} {narrowest}");
}

#[test]
fn too_few_nodes_are_not_judged() {
    let mut rounds = Rounds::new(5, 8);
    (0..3).for_each(|node| (0..8).for_each(|round| rounds.set(node, round, 1.0)));
    let ruled = &apply(&[((), rounds.clone())], 5)[0];
    assert!(ruled.margin.is_none() && ruled.medians.iter().all(Option::is_none));
    for (round, speed) in [f64::NAN, 0.0, -1.0, f64::INFINITY, 1.0].into_iter().enumerate() {
        rounds.set(3, round, speed);
    }
    let ruled = &apply(&[((), rounds)], 5)[0];
    assert_eq!(ruled.medians.iter().flatten().count(), 1);
    assert!(apply::<()>(&[], 0).is_empty());
    assert!(apply(&[((), Rounds::new(0, 0))], 0)[0].nodes.is_empty());
}

#[test]
fn nodes_that_are_all_the_same_are_level() {
    let mut rounds = Rounds::new(8, 8);
    (0..64).for_each(|i| rounds.set(i / 8, i % 8, 5.0));
    let ruled = &apply(&[((), rounds)], 8)[0];
    assert!(ruled.nodes.iter().all(|n| !n.slow && n.below == 0 && n.usable == 8));
}

#[test]
fn three_of_four_nodes_are_compared_without_more_alarms() {
    let mut random = xorshift();
    for (between, lacking, least) in
        [(0.003, 20, 220), (0.003, 9, 220), (0.02, 20, 0), (0.02, 9, 0)]
    {
        let (mut alarms, mut found) = (0, 0);
        for _ in 0..300 {
            let mut all = figures(&mut random, 20, 4, between);
            for (_, rounds) in all.iter_mut().take(lacking) {
                (0..8).for_each(|round| rounds.set(3, round, f64::NAN));
            }
            alarms += u32::from(apply(&all, 160).iter().flat_map(|r| &r.nodes).any(|n| n.slow));
            slow_down(&mut all[0].1, 1, 0.8, 8);
            found += u32::from(apply(&all, 160)[0].nodes[1].slow);
        }
        assert!(alarms <= 4 && found >= least, "{between} {lacking}: {alarms} {found} of 300");
    }
}
