//! Groups of configurations that take turns.

use proofmark_model::PlannedSeries;

use super::*;

/// Number of configurations per group: all of a group are launched before its first trial.
fn groups(script: &Script) -> Vec<usize> {
    let (mut groups, mut is_new) = (Vec::new(), true);
    for act in script.log.borrow().iter() {
        match act {
            Act::Launch(_) | Act::LaunchTogether(_) if is_new => {
                groups.push(1);
                is_new = false;
            }
            Act::Launch(_) | Act::LaunchTogether(_) => *groups.last_mut().unwrap() += 1,
            Act::Take(_, Request::Trial | Request::Span { .. }) => is_new = true,
            Act::Take(_, Request::Warm) | Act::Release | Act::Tool(_) => {}
        }
    }
    groups
}

/// The groups of a plan on a machine with this much memory.
fn groups_within(memory_bytes: u64, points: Vec<Point>) -> Vec<usize> {
    let script = Script::new(|_, _| Ok(1.0));
    run_within(
        memory_bytes,
        Plan { policy: policy(3, 3, None), points, ..Plan::default() },
        &script,
    );
    groups(&script)
}

fn groups_of(points: Vec<Point>) -> Vec<usize> {
    groups_within(u64::MAX, points)
}

/// A configuration with this much memory, which it may share with others.
fn large(bytes: u64, shares: Option<&str>) -> Point {
    let mut point = point("memory.rounds", 1);
    point.params = point.params.with_named("bytes", bytes);
    if let Some(what) = shares {
        point.params = point.params.with_named("shares", what);
    }
    point
}

#[test]
fn a_group_is_bounded_in_points_and_in_threads() {
    assert_eq!(groups_of(vec![point("cpu.rounds", 1); 70]), [64, 6]);
    // Threads 1, 2, 3, ...: 44 points make 990 threads.
    assert_eq!(groups_of((1..=50).map(|t| point("cpu.rounds", t)).collect()), [44, 6]);
    assert_eq!(groups_of(vec![point("cpu.rounds", 2000); 2]), [1, 1], "one is always allowed");
}

#[test]
fn a_group_is_bounded_in_memory_in_which_what_is_shared_counts_once() {
    // Half of the memory is for the data of one group.
    let groups = |points| groups_within(800, points);
    assert_eq!(groups(vec![large(100, None); 6]), [4, 2]);
    assert_eq!(groups(vec![large(100, Some("a")); 6]), [6]);
    let two = [large(100, Some("a")), large(100, Some("b"))];
    assert_eq!(groups(two.iter().cycle().take(6).cloned().collect()), [6]);
    // Of configurations that share memory the largest counts.
    let shared = |bytes| large(bytes, Some("a"));
    assert_eq!(groups(vec![shared(300), shared(100), large(200, None)]), [2, 1]);
    assert_eq!(groups(vec![shared(100), shared(300), large(100, None)]), [3]);
    assert_eq!(groups(vec![large(300, Some("a")), large(200, Some("b"))]), [1, 1]);
    assert_eq!(groups(vec![large(1000, None), large(1, None)]), [1, 1]);
}

#[test]
fn a_group_has_points_of_one_subsystem() {
    let of = |workloads: &[&str]| groups_of(workloads.iter().map(|w| point(w, 1)).collect());
    let (cpu, memory) = ("cpu.rounds", "memory.rounds");
    assert_eq!(of(&[cpu, cpu, memory, memory, memory, cpu]), [2, 3, 1]);
    // A configuration with an expensive set-up and uncut trials is alone.
    assert_eq!(of(&["test.null", "test.null", "test.time", "test.time", cpu, cpu]), [2, 1, 1, 2]);
}

#[test]
fn loads_of_a_bus_share_a_worker_where_they_take_turns() {
    let script = Script::new(|_, _| Ok(1.0));
    let points = ["cpu.rounds", "memory.rounds", "memory.rounds", "test.time"];
    let points = points.iter().zip(1..).map(|(workload, threads)| point(workload, threads));
    let series = vec![PlannedSeries { point: 2, for_s: 10.0, every_s: 1.0 }];
    let points = points.collect();
    run_plan(Plan { policy: policy(3, 3, None), points, series, ..Plan::default() }, &script);
    let log = script.log.borrow();
    let launches: Vec<Act> = log.iter().filter(|a| !matches!(a, Act::Take(..))).copied().collect();
    use Act::{Launch, LaunchTogether};
    assert_eq!(launches, [Launch(1), LaunchTogether(2), Launch(3), Launch(4)]);
}
