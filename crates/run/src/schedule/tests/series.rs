//! Configurations that are sampled over time.

use proofmark_model::PlannedSeries;

use super::*;

/// A plan of series. Each trial takes a second, or the milliseconds of the parameter `ms`.
fn plan(points: Vec<Point>, series: &[(usize, f64, f64)]) -> Plan {
    let planned = |&(point, for_s, every_s): &_| PlannedSeries { point, for_s, every_s };
    let series = series.iter().map(planned).collect();
    Plan { policy: policy(3, 3, None), points, series, ..Plan::default() }
}

#[test]
fn a_sample_begins_at_each_tick_until_the_time_is_over() {
    let plan = plan(vec![lasting("test.null", 5)], &[(0, 12.0, 1.0)]);
    let (m, log, sampled) = run_plan(plan, &Script::new(|_, t| Ok(t as f64)));
    assert_eq!((m[0].trials.len(), &m[0].ending), (12, &Ending::Complete));
    let starts: Vec<f64> = sampled.iter().map(|at| at.round()).collect();
    assert_eq!(starts, (0..12).map(f64::from).collect::<Vec<_>>());
    let series = m[0].series.as_ref().unwrap();
    assert_eq!((series.samples, series.merged, series.for_s), (12, 1, 12.0));
    assert!((m[0].trials[7].started.since(series.started) - 7.0).abs() < 1e-3);
    let parts = log.iter().filter(|(_, r)| matches!(r, Request::Span { part_us: 100_000, .. }));
    assert_eq!(parts.count(), 12);
    assert_eq!(m[0].trials.len(), 12);
    assert_eq!(m[0].verification().unwrap().claimed, 78.0);
}

#[test]
fn what_takes_longer_than_a_tick_leaves_ticks_out_and_moves_none() {
    let plan = plan(vec![lasting("test.null", 2600)], &[(0, 10.0, 1.0)]);
    let (m, _, _) = run_plan(plan, &Script::new(|_, _| Ok(1.0)));
    assert_eq!(m[0].ending, Ending::Complete);
    assert!(m[0].trials.iter().all(|t| t.seconds >= 2.6), "as long as one trial");
    assert_eq!(m[0].trials.len(), 4);
}

#[test]
fn a_series_is_sampled_alone_and_takes_nothing_from_the_budget_of_the_others() {
    let mut plan = plan((1..=3).map(|t| point("test.null", t)).collect(), &[(1, 50.0, 1.0)]);
    plan.policy = policy(3, 20, Some(30.0));
    let (m, log, _) = run_plan(plan, &Script::new(|_, t| Ok((t % 2 + 1) as f64)));
    assert_eq!(m[1].trials.len(), 50);
    assert!(m[0].series.is_none() && m[1].series.is_some());
    let ends = |p| log.iter().rposition(|(point, _)| *point == p).unwrap();
    let begins = |p| log.iter().position(|(point, _)| *point == p).unwrap();
    assert!(ends(1) < begins(2) && ends(2) < begins(3), "nothing between its samples");
    // Half of 30 s each, less 2 s of warm-up.
    assert!(m[2].trials.len() >= 12, "{}", m[2].trials.len());
}

#[test]
fn a_stop_and_a_crash_keep_the_samples() {
    let script = Script { stop_at: Some((1, 4)), ..Script::new(|_, _| Ok(1.0)) };
    let (m, _, sampled) = run_plan(plan(vec![lasting("test.null", 5)], &[(0, 12.0, 1.0)]), &script);
    assert_eq!((m[0].trials.len(), sampled.len()), (4, 4));
    assert_eq!(m[0].ending, Ending::Interrupted { by: "SIGINT".to_owned() });
    let crash = |_, t| match t {
        7 => Err(Ending::Crashed { signal: Some("SIGKILL".to_owned()), detail: String::new() }),
        _ => Ok(1.0),
    };
    let plan = plan(vec![lasting("test.null", 5), point("test.null", 2)], &[(0, 12.0, 1.0)]);
    let (m, _, _) = run_plan(plan, &Script::new(crash));
    assert_eq!(m[0].trials.len(), 6);
    assert!(matches!(m[0].ending, Ending::Crashed { .. }) && m[0].series.is_some());
    assert_eq!((m[1].trials.len(), &m[1].ending), (3, &Ending::Complete));
}

#[test]
fn three_hours_of_samples_take_no_more_room_than_one() {
    let plan = plan(vec![lasting("test.null", 5)], &[(0, 10_000.0, 1.0)]);
    let (m, _, sampled) = run_plan(plan, &Script::new(|_, _| Ok(1.0)));
    let series = m[0].series.as_ref().unwrap();
    assert_eq!((series.samples, series.merged, m[0].trials.len()), (10_000, 4, 2500));
    assert_eq!(sampled.len(), 10_000, "each has its event");
    assert!((m[0].trials[2499].started.since(series.started) - 9996.0).abs() < 0.1);
}
