//! Trials, groups, budgets and endings, on a clock that only sessions advance.

use super::*;
use crate::testing::{Act, Disk, FakeRunner, Script, Values, find, lasting, point, policy};

mod groups;
mod limit;
mod rounds;
mod series;

#[derive(Default)]
struct Sampled(Vec<f64>);

impl Observer for Sampled {
    fn observe(&mut self, step: &Step) {
        if let Event::Sample { at_s, .. } = step.event {
            assert!(!step.measurement().trials.is_empty(), "an event comes after it is kept");
            self.0.push(at_s);
        }
    }
}

type Log = Vec<(u64, Request)>;

fn run(policy: Policy, points: u64, values: Values) -> (Vec<RawMeasurement>, Log) {
    run_points(policy, (1..=points).map(|t| point("test.null", t)).collect(), values)
}

fn run_points(policy: Policy, points: Vec<Point>, values: Values) -> (Vec<RawMeasurement>, Log) {
    let (m, log, _) = run_plan(Plan { policy, points, ..Plan::default() }, &Script::new(values));
    (m, log)
}

fn run_plan(plan: Plan, script: &Script) -> (Vec<RawMeasurement>, Log, Vec<f64>) {
    run_within(u64::MAX, plan, script)
}

/// Runs a plan on a machine with this much memory.
fn run_within(
    memory_bytes: u64,
    plan: Plan,
    script: &Script,
) -> (Vec<RawMeasurement>, Log, Vec<f64>) {
    run_by((memory_bytes, None), plan, script)
}

/// Runs a plan on a machine with this much memory, by a time limit.
fn run_by(
    (memory_bytes, deadline): (u64, Option<&Deadline>),
    plan: Plan,
    script: &Script,
) -> (Vec<RawMeasurement>, Log, Vec<f64>) {
    let mut sampled = Sampled::default();
    let runner = FakeRunner::new(script, 1.0);
    let means = Means {
        find: &find,
        memory_bytes,
        launcher: script,
        find_tool: &|_| None,
        tools: &runner,
        clock: &script.clock,
        stop: &script.stop,
        file: &Disk::default(),
        print_line: &|_| (),
        deadline,
    };
    let pairs = Pairs::new(&plan, Default::default(), means.find_tool, means.tools);
    let measurements = super::run(&plan, &means, pairs, &mut [&mut sampled]).results;
    let taken = |act: &Act| match act {
        Act::Take(point, request) => Some((*point, *request)),
        _ => None,
    };
    let log = script.log.borrow().iter().filter_map(taken).collect();
    (measurements, log, sampled.0)
}

/// Values that never agree.
fn wild(_: u64, trial: usize) -> Result<f64, Ending> {
    Ok((trial % 2 + 1) as f64)
}

#[test]
fn steady_points_stop_at_the_first_look_and_wild_ones_at_the_greatest_number() {
    let values =
        |point, trial| Ok(if point == 1 { 100.0 } else { 100.0 + (trial % 2 * 300) as f64 });
    let wide = Policy { target: 0.25, ..policy(6, 12, None) };
    let (m, _) = run(wide, 2, values);
    assert_eq!((m[0].trials.len(), &m[0].ending), (8, &Ending::Complete));
    assert_eq!((m[1].trials.len(), &m[1].ending), (12, &Ending::Budget));
    assert_eq!(m[0].summary(None, &policy(6, 12, None)).unwrap().value(), 100.0);
    assert_eq!(m[1].warmup.len(), 2);
    let v = m[0].verification().unwrap();
    assert_eq!((v.claimed, v.counted), (800.0, 800.0));
    // A fixed number is complete, however the values scatter.
    let (m, _) = run(policy(3, 3, None), 1, |_, t| Ok(t as f64));
    assert_eq!((m[0].trials.len(), &m[0].ending), (3, &Ending::Complete));
}

#[test]
fn a_slow_point_is_warm_after_one_trial_and_a_fast_one_when_it_is_steady() {
    let points = [3000, 1999, 700, 600, 10].map(|ms| lasting("test.null", ms)).into();
    let (m, log) = run_points(policy(3, 3, None), points, |_, _| Ok(1.0));
    let warm: Vec<usize> = m.iter().map(|m| m.warmup.len()).collect();
    assert_eq!(warm, [1, 2, 3, 3, 3], "2 s of warm-up, or three values that agree");
    assert_eq!([3.0, 1.999, 0.7, 0.6, 0.01].map(warm_trials), [1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!(log.iter().filter(|(_, r)| *r == Request::Warm).count(), 12);
    assert!(m.iter().all(|m| m.trials.len() == 3), "what warmed up is no trial");
}

#[test]
fn trials_are_taken_in_turn_and_every_second_round_backwards() {
    let (_, log) = run(policy(3, 3, None), 3, |_, _| Ok(1.0));
    let trials: Vec<u64> =
        log.iter().filter(|(_, r)| *r == Request::Trial).map(|(p, _)| *p).collect();
    assert_eq!(trials, [1, 2, 3, 3, 2, 1, 1, 2, 3]);
}

#[test]
fn the_budget_ends_a_run_but_leaves_three_trials_and_of_short_ones_an_interval() {
    // Two configurations, each with 2 s of warm-up and trials of 1 s: 10 s are over after 6 trials.
    let left = |asked, trial_s, budget_s| {
        let policy = Policy { trial_s, ..policy(asked, 30, Some(budget_s)) };
        let (m, _) = run(policy, 2, wild);
        assert!(m.iter().all(|m| m.ending == Ending::Budget), "{m:?}");
        [m[0].trials.len(), m[1].trials.len()]
    };
    for budget_s in [10.0, 0.1] {
        assert_eq!(left(6, 1.0, budget_s), [3, 3]);
        assert_eq!(left(8, 0.1, budget_s), [8, 8], "they should take 0.8 s");
        assert_eq!(left(6, 0.1, budget_s), [6, 6], "no more than were asked for");
    }
}

#[test]
fn a_point_of_long_trials_stops_when_it_had_its_time_and_others_do_not() {
    let trials = |point_s: Option<f64>| {
        let policy = Policy { point_s, trial_s: 1.0, ..policy(6, 12, None) };
        let points = vec![point("test.time", 1), point("test.null", 1)];
        let (m, _) = run_points(policy, points, wild);
        assert!(m.iter().all(|m| m.ending == Ending::Budget), "{m:?}");
        [m[0].trials.len(), m[1].trials.len()]
    };
    // Trials of 3 s and of 1 s.
    assert_eq!(trials(None), [12, 12]);
    assert_eq!(trials(Some(10.5)), [4, 11]);
    // There is always time for the minimum number of trials of the policy's duration, and for three
    // trials.
    assert_eq!(trials(Some(0.1)), [3, 6]);
}

#[test]
fn the_budget_is_shared_by_the_time_that_a_trial_should_take() {
    let policy = |time_s: f64| Policy {
        trial_s: 1.0,
        trial_s_of: [("test.time".to_owned(), time_s)].into(),
        ..policy(6, 100, Some(40.0))
    };
    let trials = |time_s, points: [&str; 2]| {
        let points = points.map(|workload| point(workload, 1)).into();
        let (m, _) = run_points(policy(time_s), points, wild);
        assert!(m.iter().all(|m| m.ending == Ending::Budget), "{m:?}");
        [m[0].trials.len(), m[1].trials.len()]
    };
    // Three quarters of 40 s: 3 s of warm-up and 9 trials of 3 s; the rest: 2 s and 8 of 1 s.
    assert_eq!(trials(3.0, ["test.time", "test.null"]), [9, 8]);
    // A quarter and what the last trial takes more: 2 s and 9 of 1 s; the rest: 3 s and 9 of 3 s.
    assert_eq!(trials(3.0, ["test.null", "test.time"]), [9, 9]);
    // If both should take equally long: half of 40 s, 3 s and 6 of 3 s; then 2 s and 17 of 1 s.
    assert_eq!(trials(1.0, ["test.time", "test.null"]), [6, 17]);
}

/// On 16 CPUs the set-up of memory took 8 to 19 s after the cores' trials had used their share.
#[test]
fn what_later_points_take_to_set_up_is_not_shared() {
    let policy = Policy {
        trial_s: 1.0,
        trial_s_of: [("test.time".to_owned(), 1.0)].into(),
        memory_rate: Some(1e9),
        ..policy(6, 100, Some(40.0))
    };
    let mut large = point("test.null", 1);
    large.params = large.params.with_named("bytes", 12_000_000_000).with_named("set_up_ms", 12_000);
    let script = Script::new(wild);
    let plan = Plan { policy, points: vec![point("test.time", 1), large], ..Plan::default() };
    let (m, ..) = run_plan(plan, &script);
    // Half of 28 s: 3 s and 4 of 3 s; after 12 s the rest: 2 s and 11 of 1 s.
    assert_eq!([m[0].trials.len(), m[1].trials.len()], [4, 11]);
    assert!((script.clock.now() - 40.0).abs() < 1.0, "{} s", script.clock.now());
}

#[test]
fn what_is_timed_briefly_has_the_share_of_a_trial_with_all_that_belongs_to_it() {
    let policy = Policy { trial_s: 1.0, ..policy(8, 12, Some(40.0)) };
    let points = vec![lasting("test.brief", 30), point("test.null", 1)];
    let (m, _) = run_points(policy, points, wild);
    // A millisecond's share of 40 s would be 40 ms, and three trials.
    assert_eq!(m[0].trials.len(), 12, "{:?}", m[0].ending);
}

#[test]
fn a_workload_may_have_a_number_of_trials_of_its_own() {
    let mut policy = policy(3, 3, None);
    policy.trials_of.insert("test.null".to_owned(), 5);
    let points = [point("test.null", 1), point("test.time", 1)].into();
    let (m, _) = run_points(policy, points, |_, _| Ok(1.0));
    assert_eq!((m[0].trials.len(), &m[0].ending), (5, &Ending::Complete));
    assert_eq!((m[1].trials.len(), &m[1].ending), (3, &Ending::Complete));
}
