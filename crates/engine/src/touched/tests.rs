//! Compares the reported memory with every single visit.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn visits(round: u64, visits: u64) -> Visits {
    Visits { place_bytes: 64, round, round_bytes: 64 * round, visits }
}

/// A thread's visits before and after `went` more.
fn went(round: u64, before: u64, went: u64) -> [Visits; 2] {
    [visits(round, before), visits(round, before + went)]
}

/// Computes the result from the single visits of one thread.
fn simulated(round: u64, before: u64, went: u64) -> Touched {
    let place = |visit: u64| visit % round;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut reuse: Option<u64> = None;
    for visit in before..before + went {
        *counts.entry(place(visit)).or_default() += 1;
        let Some(last) = (0..visit).rev().find(|v| place(*v) == place(visit)) else { continue };
        let between: BTreeSet<u64> = (last..visit).map(place).collect();
        let bytes = 64 * between.len() as u64;
        reuse = Some(reuse.map_or(bytes, |least| least.min(bytes)));
    }
    Touched {
        place_bytes: 64,
        places: counts.len() as u64,
        least_visits: counts.values().copied().min().unwrap(),
        most_visits: counts.values().copied().max().unwrap(),
        reuse_bytes: reuse,
    }
}

proptest! {
    #[test]
    fn what_is_reported_is_what_the_visits_come_to(
        round in 1_u64..60,
        before in 0_u64..150,
        many in 1_u64..150,
    ) {
        prop_assert_eq!(touched(&[went(round, before, many)]), Some(simulated(round, before, many)));
    }

    /// Threads that take turns, one with this many visits for each of the other's.
    #[test]
    fn what_other_threads_touch_meanwhile_counts(
        rounds in (2_u64..40, 2_u64..40),
        pace in 1_u64..6,
        turns in 40_u64..200,
    ) {
        let all = touched(&[went(rounds.0, 0, turns), went(rounds.1, 0, pace * turns)]).unwrap();
        let order = (0..turns).flat_map(|t| {
            let others = (0..pace).map(move |i| (1, (t * pace + i) % rounds.1));
            [(0, t % rounds.0)].into_iter().chain(others)
        });
        let order: Vec<(u64, u64)> = order.collect();
        let mut last = BTreeMap::new();
        let mut least = u64::MAX;
        for (at, place) in order.iter().enumerate() {
            if let Some(before) = last.insert(*place, at) {
                let between: BTreeSet<_> = order[before..at].iter().collect();
                least = least.min(64 * between.len() as u64);
            }
        }
        // At the ends one turn more or less.
        let reported = all.reuse_bytes.unwrap();
        prop_assert!(reported.abs_diff(least) <= 64 * (pace + 1), "{} {}", reported, least);
    }
}

#[test]
fn a_thread_that_visits_nothing_says_nothing() {
    assert_eq!(touched(&[]), None);
    assert_eq!(touched(&[went(10, 5, 0)]), None);
    assert_eq!(touched(&[[visits(0, 0), visits(0, 9)]]), None);
    let one = went(10, 0, 25);
    assert_eq!(touched(&[one, went(10, 7, 0)]), touched(&[one]));
    // Two with ten lines each, at the same pace.
    let both = touched(&[one, one]).unwrap();
    assert_eq!((both.places, both.least_visits, both.most_visits), (20, 2, 3));
    assert_eq!(both.reuse_bytes, Some(20 * 64));
    // One that hardly moves adds little.
    assert_eq!(
        touched(&[went(10, 0, 1000), went(1000, 0, 100)]).unwrap().reuse_bytes,
        Some(11 * 64)
    );
}
