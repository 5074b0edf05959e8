//! Configurations whose trials are cut into rounds: when they are checked, and how many rounds they
//! get.

use super::*;

fn rounds(policy: Policy, points: u64, values: Values) -> Vec<(usize, Ending)> {
    let points = (1..=points).map(|threads| point("cpu.rounds", threads)).collect();
    let (m, log) = run_points(policy, points, values);
    assert!(log.iter().all(|(_, request)| *request == Request::Trial), "no warm-up: {log:?}");
    m.into_iter().map(|m| (m.trials.len(), m.ending)).collect()
}

/// Two values whose half distance is 2 % of their mean, but more of the lower one. The interval is
/// narrow as soon as half of all values are high. After the first two, as many values are low as
/// the row of the configuration has.
fn high_at_last(point: u64, trial: usize) -> Result<f64, Ending> {
    let lows = [0, 5, 7, 11][point as usize - 1];
    Ok(if (3..3 + lows).contains(&trial) { 100.0 } else { 104.06 })
}

#[test]
fn the_interval_is_looked_at_after_8_12_and_20_rounds_only() {
    // The interval is narrow from the start, and from 10, 14 and 22 rounds on.
    let found = rounds(policy(8, 30, None), 4, high_at_last);
    let complete = [8, 12, 20].map(|n| (n, Ending::Complete));
    assert_eq!((&found[..3], &found[3]), (&complete[..], &(20, Ending::Budget)));
    // A policy of more than 8 gets them.
    assert_eq!(rounds(policy(9, 30, None), 1, high_at_last), [(12, Ending::Complete)]);
}

#[test]
fn neither_the_budget_nor_its_time_ends_a_point_before_8_rounds() {
    let eight = (8, Ending::Budget);
    assert_eq!(rounds(policy(6, 30, Some(0.1)), 2, wild), [eight.clone(), eight.clone()]);
    // A second per round: 11 s are over when the first has 6 of them.
    assert_eq!(rounds(policy(3, 30, Some(11.0)), 2, wild), [eight.clone(), eight.clone()]);
    let point_s = Some(0.1);
    assert_eq!(rounds(Policy { point_s, ..policy(3, 30, None) }, 1, wild), [eight]);
    // Fewer if the policy asks for fewer.
    assert_eq!(rounds(policy(3, 5, Some(0.1)), 1, wild), [(5, Ending::Budget)]);
    assert_eq!(rounds(policy(3, 3, Some(0.1)), 1, wild), [(3, Ending::Complete)]);
}
