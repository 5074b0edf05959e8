//! Time limits on machines that are slower than estimated: when the run ends, what is left out, and
//! what the rest has.

use proofmark_model::PlannedSeries;

use super::*;

/// Configurations of `workload` whose trials take `ms` milliseconds each, on 1 to `count` threads.
fn points(workload: &str, count: u64, ms: u64) -> Vec<Point> {
    let with = |threads| {
        let point = point(workload, threads);
        Point { params: point.params.with_named("ms", ms), ..point }
    };
    (1..=count).map(with).collect()
}

/// Runs a plan by its budget, in the order of wishes `ranks`. Returns the results and the seconds.
fn by_deadline(plan: Plan, ahead_s: f64, ranks: &[usize]) -> (Vec<RawMeasurement>, f64) {
    let script = Script::new(wild);
    let deadline = Deadline { ahead_s, ranks: ranks.to_vec() };
    let (m, ..) = run_by((u64::MAX, Some(&deadline)), plan, &script);
    (m, ahead_s + script.clock.now())
}

fn is_left_out(m: &RawMeasurement) -> bool {
    matches!(m.ending, Ending::LeftOut { needs_s } if needs_s > 0.0)
}

/// Threads of the configurations that were left out. The others have their minimum of trials.
fn left_out(all: &[RawMeasurement], least: usize) -> Vec<u64> {
    let (out, rest): (Vec<_>, Vec<_>) = all.iter().partition(|m| is_left_out(m));
    for m in &out {
        assert!(m.trials.is_empty() && m.warmup.is_empty() && m.latency.is_none(), "{m:?}");
    }
    assert!(rest.iter().all(|m| m.trials.len() >= least), "{rest:?}");
    out.iter().map(|m| m.params.threads()).collect()
}

fn limited(points: Vec<Point>, budget_s: f64, trial_s: f64) -> Plan {
    let policy = Policy { trial_s, ..policy(8, 20, Some(budget_s)) };
    Plan { policy, points, ..Plan::default() }
}

/// Rounds of 0.1 s that take three times as long: ten configurations need 24 s at least, not 8.
#[test]
fn a_machine_three_times_slower_than_estimated_measures_less_and_ends_in_time() {
    let ranks: Vec<usize> = (0..10).rev().collect();
    for budget_s in [6.0, 12.0, 20.0] {
        let plan = limited(points("cpu.rounds", 10, 378), budget_s, 0.1);
        let (m, took_s) = by_deadline(plan, 1.0, &ranks);
        assert!(took_s <= budget_s + 0.4, "{took_s} of {budget_s}");
        assert!(took_s >= 0.75 * budget_s, "{took_s} of {budget_s}");
        let out = left_out(&m, 8);
        // The least wanted are those of few threads.
        assert!(!out.is_empty() && out == (1..=out.len() as u64).collect::<Vec<_>>(), "{out:?}");
    }
    // As fast as estimated, all of them fit.
    let plan = limited(points("cpu.rounds", 10, 126), 20.0, 0.1);
    let (m, took_s) = by_deadline(plan, 1.0, &ranks);
    assert!(left_out(&m, 8).is_empty() && took_s <= 20.0, "{took_s}");
}

/// What is begun may take a little more than estimated; the reports are in time all the same.
#[test]
fn the_tolerance_of_what_fits_is_part_of_the_budget() {
    let ranks: Vec<usize> = (0..40).collect();
    for ms in (300..400).step_by(20) {
        let plan = limited(points("cpu.rounds", 40, ms), 90.0, 0.1);
        let (m, took_s) = by_deadline(plan, 1.0, &ranks);
        assert!((80.0..89.7).contains(&took_s), "{took_s} at {ms} ms");
        assert!(!left_out(&m, 8).is_empty());
    }
}

#[test]
fn what_is_wanted_most_is_measured_though_it_comes_last_in_the_plan() {
    // Uncut loads one by one: 3 warm-up trials and 3 trials of 1 s, estimated at 0.3 s.
    let mut all = points("test.time", 6, 1000);
    all.push(lasting("test.brief", 20));
    let policy = Policy { trial_s: 0.3, ..policy(3, 20, Some(14.0)) };
    let plan = Plan { policy, points: all, ..Plan::default() };
    let (m, took_s) = by_deadline(plan, 0.5, &[6, 5, 4, 3, 2, 1, 0]);
    assert!(took_s <= 15.0, "{took_s}");
    assert!(m[6].trials.len() >= 3 && m[6].ending != Ending::Unfinished, "{:?}", m[6].ending);
    let out = left_out(&m, 3);
    assert!(!out.is_empty() && out.contains(&1) && !out.contains(&6), "{out:?}");
}

#[test]
fn a_set_up_that_takes_long_costs_others_their_place_and_one_result_there_always_is() {
    let mut slow = points("cpu.rounds", 5, 126);
    slow[4].params = slow[4].params.clone().with_named("set_up_ms", 8000);
    let (m, took_s) = by_deadline(limited(slow.clone(), 10.0, 0.1), 0.5, &[4, 3, 2, 1, 0]);
    assert!(took_s <= 10.4, "{took_s}");
    assert_eq!((m[4].trials.len() >= 8, left_out(&m, 8).is_empty()), (true, false));
    // No time at all: the most wanted is measured.
    let (m, took_s) = by_deadline(limited(slow, 0.1, 0.1), 0.5, &[4, 0, 1, 2, 3]);
    assert_eq!(left_out(&m, 8), [1, 3, 4, 5]);
    assert!((1.4..2.0).contains(&took_s), "{took_s}");
}

#[test]
fn time_that_others_did_not_use_helps_what_seemed_to_have_none() {
    // A second of set-up is estimated for each of the first, and not needed.
    let mut all = points("memory.rounds", 4, 126);
    for point in &mut all[..3] {
        point.params = point.params.clone().with_named("bytes", 3_000_000_000_u64);
    }
    let mut plan = limited(all, 8.0, 0.1);
    plan.policy.memory_rate = Some(1e9);
    let (m, took_s) = by_deadline(plan, 0.0, &[0, 1, 2, 3]);
    assert!(left_out(&m, 8).is_empty() && took_s <= 8.0, "{took_s}");
}

/// Three set-ups were ten times as fast as estimated. The last one is not.
#[test]
fn a_set_up_in_the_end_is_not_expected_to_be_as_quick_as_others() {
    let mut all = points("memory.rounds", 4, 126);
    for point in &mut all {
        point.params = point.params.clone().with_named("bytes", 3_000_000_000_u64);
    }
    all[3].params = all[3].params.clone().with_named("set_up_ms", 3000);
    for budget_s in [6.0, 7.0, 8.0, 9.0] {
        let mut plan = limited(all[..3].to_vec(), budget_s, 0.1);
        (plan.policy.max_trials, plan.left_out) = (8, all[3..].to_vec());
        plan.policy.memory_rate = Some(1e9);
        let (_, took_s) = by_deadline(plan, 0.0, &[0, 1, 2, 3]);
        assert!(took_s <= budget_s, "{took_s} of {budget_s}");
    }
}

/// The first of ten trials takes seconds, as beside a build that ends: the least wanted have begun
/// then, and seem to have no time.
#[test]
fn a_slow_start_leaves_nothing_out_for_which_there_is_time_in_the_end() {
    let mut all = points("cpu.rounds", 10, 126);
    all[0].params = all[0].params.clone().with_named("first_ms", 2000);
    let ranks: Vec<usize> = (0..10).collect();
    let (m, took_s) = by_deadline(limited(all, 14.0, 0.1), 0.0, &ranks);
    assert!(left_out(&m, 8).is_empty() && took_s <= 14.0, "{took_s} {:?}", left_out(&m, 8));
}

#[test]
fn what_the_plan_left_out_is_measured_if_time_remains() {
    let all = points("cpu.rounds", 5, 126);
    for (budget_s, measured) in [(30.0, 3), (6.9, 1), (5.9, 0)] {
        let mut plan = limited(all[..2].to_vec(), budget_s, 0.1);
        (plan.policy.max_trials, plan.left_out) = (20, all[2..].to_vec());
        let (m, took_s) = by_deadline(plan, 0.0, &[0, 1, 3, 2, 4]);
        assert!(took_s <= budget_s, "{took_s} of {budget_s}");
        assert!(m[..2].iter().all(|m| m.trials.len() == 20), "the plan comes first");
        let found: Vec<_> = m[2..].iter().filter(|m| m.trials.len() >= 8).collect();
        let open = m[2..].iter().filter(|m| m.ending == Ending::Unfinished);
        assert_eq!((found.len(), open.count()), (measured, 3 - measured), "{budget_s} s");
        let first = found.first().map(|m| m.params.threads());
        assert!(measured != 1 || first == Some(4), "the most wanted: {first:?}");
    }
}

/// The others take as long as they may, and leave a series its minimum.
#[test]
fn a_series_that_begins_has_its_minimum() {
    let mut plan = limited(points("test.null", 12, 1000), 110.0, 1.0);
    plan.policy.min_trials = 3;
    plan.policy.point_s = None;
    plan.series = vec![PlannedSeries { point: 0, for_s: 600.0, every_s: 1.0 }];
    let mut ranks: Vec<usize> = (0..12).collect();
    ranks.rotate_left(1);
    for budget_s in [60.0, 70.0, 78.0, 80.0, 82.0, 90.0] {
        plan.policy.budget_s = Some(budget_s);
        let (m, took_s) = by_deadline(plan.clone(), 0.0, &ranks);
        let series = m[0].series.as_ref().map_or(0, |series| series.samples);
        assert!(took_s <= budget_s + 1.0, "{took_s} of {budget_s}");
        assert!(is_left_out(&m[0]) || series >= 10, "{series} samples of {budget_s} s");
    }
}

#[test]
fn a_series_ends_with_the_limit_and_leaves_the_others_their_minimum() {
    let mut plan = limited(points("test.null", 3, 1000), 60.0, 1.0);
    plan.policy.min_trials = 3;
    plan.series = vec![PlannedSeries { point: 1, for_s: 600.0, every_s: 1.0 }];
    let (m, took_s) = by_deadline(plan.clone(), 0.0, &[0, 1, 2]);
    assert!(took_s <= 61.0 && left_out(&m, 3).is_empty(), "{took_s} {m:?}");
    let samples = m[1].series.as_ref().unwrap().samples;
    assert!(samples >= 10 && m[1].ending == Ending::Budget, "{samples} {:?}", m[1].ending);
    // It needs ten samples.
    plan.policy.budget_s = Some(12.0);
    let (m, took_s) = by_deadline(plan, 0.0, &[0, 2, 1]);
    assert!(took_s <= 13.0 && left_out(&m, 3) == [2], "{took_s} {:?}", left_out(&m, 3));
}

/// A quota of half a CPU that the plan does not know makes each trial take six times as long.
#[test]
fn an_unknown_quota_in_the_middle_of_a_run_ends_it_no_later() {
    let fast = points("cpu.rounds", 4, 126);
    let mut all = fast.clone();
    all.extend(points("memory.rounds", 12, 756));
    let ranks: Vec<usize> = (0..16).collect();
    let (m, took_s) = by_deadline(limited(all, 30.0, 0.1), 1.0, &ranks);
    assert!(took_s <= 30.8, "{took_s}");
    assert!(m[..4].iter().all(|m| m.trials.len() >= 8));
    let out = left_out(&m, 8);
    assert!(!out.is_empty() && out.len() < 12 && out.contains(&12), "{out:?}");
}

/// Beside a build: a set-up that takes minutes instead of a second, a trial that does not end, and a
/// series whose sample does not.
#[test]
fn a_worker_that_does_not_answer_at_the_limit_is_ended() {
    let ranks: Vec<usize> = (0..3).collect();
    let plan_with = |name: &str| {
        let mut all = points("cpu.rounds", 3, 126);
        all[2].params = all[2].params.clone().with_named(name, 300_000);
        Plan { policy: policy(8, 20, Some(10.0)), ..limited(all, 10.0, 0.1) }
    };
    let (m, took_s) = by_deadline(plan_with("set_up_ms"), 1.0, &ranks);
    assert!((8.0..=10.0).contains(&took_s), "{took_s}");
    let out = left_out(&m, 8);
    assert!(out.contains(&3) && out.len() < 3, "{out:?}");
    let Ending::LeftOut { needs_s } = m[2].ending else { panic!("{:?}", m[2].ending) };
    assert!(needs_s > 1.0, "{needs_s}");
    // A configuration alone that has its minimum is not waited for.
    let script = Script { slow: Some((1, 12, 300.0)), ..Script::new(wild) };
    let deadline = Deadline { ahead_s: 1.0, ranks: vec![0] };
    let plan = limited(points("cpu.rounds", 1, 126), 10.0, 0.1);
    let (m, ..) = run_by((u64::MAX, Some(&deadline)), plan, &script);
    assert!(script.clock.now() <= 9.0 && m[0].trials.len() == 11, "{}", script.clock.now());
    // Without a result it is waited for.
    let mut only = plan_with("set_up_ms");
    only.points = only.points.split_off(2);
    let (m, took_s) = by_deadline(only, 1.0, &[0]);
    assert!(took_s > 300.0 && m[0].trials.len() >= 8, "{took_s}");
    // The trials that it has are a result, and so are the samples of a series.
    let by_script = |plan: Plan, script: &Script| {
        let deadline = Deadline { ahead_s: 1.0, ranks: ranks.clone() };
        let (m, ..) = run_by((u64::MAX, Some(&deadline)), plan, script);
        (m, 1.0 + script.clock.now())
    };
    let script = Script { slow: Some((3, 12, 300.0)), ..Script::new(wild) };
    let (m, took_s) = by_script(limited(points("cpu.rounds", 3, 126), 10.0, 0.1), &script);
    assert!(took_s <= 10.0 && m[2].ending == Ending::Budget, "{took_s} {:?}", m[2].ending);
    assert_eq!(m[2].trials.len(), 11);
    let mut plan = limited(points("test.null", 3, 1000), 60.0, 1.0);
    plan.policy.min_trials = 3;
    plan.series = vec![PlannedSeries { point: 1, for_s: 600.0, every_s: 1.0 }];
    let script = Script { slow: Some((2, 5, 300.0)), ..Script::new(wild) };
    let (m, took_s) = by_script(plan, &script);
    assert!(took_s <= 60.0 && m[1].ending == Ending::Budget, "{took_s} {:?}", m[1].ending);
    assert_eq!(m[1].series.as_ref().map(|series| series.samples), Some(4));
}
