use proofmark_model::PlannedReference;

use super::*;

fn point(workload: &str, parameter: &str, value: u64) -> Point {
    let params = Params::default().with("threads", 1).with(parameter, value).with("isa", "sse2");
    Point { workload: workload.to_owned(), params }
}

/// A clock, two sizes of a solve, the smaller with a tool, and two series of the clock.
fn planned() -> Planned {
    let points = vec![
        point("cpu.linpack", "n", 20_000),
        point("cpu.linpack", "n", 100),
        point("cpu.clock", "x", 1),
        point("cpu.clock", "x", 2),
        point("cpu.clock", "x", 3),
    ];
    let policy = Policy { min_trials: 3, max_trials: 3, ..Policy::default() };
    let series = |point| PlannedSeries { point, for_s: 600.0, every_s: 1.0 };
    let hpl = PlannedReference { point: 1, runs: 3, run_s: 1.0 };
    let plan = Plan {
        policy,
        points,
        references: BTreeMap::from([("hpl".to_owned(), vec![hpl])]),
        series: vec![series(3), series(4)],
        ..Plan::default()
    };
    let mut planned = Planned { plan, ..Planned::default() };
    let none =
        |why: &str| crate::planned::NoReference { why: why.to_owned(), ..Default::default() };
    planned.tools.missing = BTreeMap::from([(0, none("large")), (2, none("clock"))]);
    planned
}

fn shrunk(budget_s: f64) -> (Planned, Vec<String>) {
    let mut planned = planned();
    shrink(&mut planned, budget_s, &|_| ());
    let lines = planned.findings.iter().map(|f| f.message.clone()).collect();
    (planned, lines)
}

fn least_s(plan: &Plan) -> f64 {
    super::super::estimate(plan).0 + references::seconds(plan)
}

#[test]
fn a_plan_that_fits_stays_as_it_is() {
    let (planned, lines) = shrunk(1e6);
    assert_eq!(planned.plan, self::planned().plan);
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn series_get_what_the_rest_leaves() {
    let all_s = least_s(&planned().plan);
    let (planned, lines) = shrunk(all_s - 300.0);
    let plan = &planned.plan;
    assert_eq!(plan.points.len(), 5, "nothing is left out");
    assert_eq!(plan.series[0].for_s, plan.series[1].for_s);
    let for_s = plan.series[0].for_s;
    assert!((430.0..=450.0).contains(&for_s) && for_s % 10.0 == 0.0, "{for_s}");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].ends_with(&format!("series 600 s -> {for_s} s")), "{lines:?}");
}

#[test]
fn what_belongs_to_a_point_stays_with_it() {
    let solve_s = point_s(&planned().plan, 0, &|_| 3);
    let (planned, lines) = shrunk(least_s(&planned().plan) - 1080.0 - solve_s / 2.0);
    let plan = &planned.plan;
    assert!(lines[0].contains("cpu.linpack n = 20000 left out: "), "{lines:?}");
    assert_eq!(plan.points, self::planned().plan.points[1..]);
    assert_eq!(plan.references["hpl"][0].point, 0);
    assert_eq!([plan.series[0].point, plan.series[1].point], [2, 3]);
    let reasons: Vec<_> = planned.tools.missing.iter().map(|(p, n)| (*p, n.why.as_str())).collect();
    assert_eq!(reasons, [(1, "clock")]);
}

#[test]
fn a_plan_that_nothing_makes_fit_says_its_least_time() {
    let (planned, lines) = shrunk(5.0);
    let least = format!("even so the plan takes about {}", format_seconds(least_s(&planned.plan)));
    assert!(lines.last().unwrap().ends_with(&least), "{lines:?}");
    assert_eq!(planned.plan.series[0].for_s, 10.0);
    assert!(planned.plan.points.contains(&point("cpu.linpack", "n", 100)), "the smallest stays");
}

#[test]
fn trials_go_first_and_come_back() {
    let mut planned = planned();
    planned.plan.series.clear();
    planned.plan.points.remove(0);
    planned.plan.references.clear();
    planned.plan.policy = Policy::default();
    planned.plan.policy.trials_of = BTreeMap::from([("cpu.linpack".to_owned(), 10)]);
    let (all_s, asked) = (least_s(&planned.plan), planned.plan.clone());
    shrink(&mut planned, all_s * 0.8, &|_| ());
    let policy = &planned.plan.policy;
    assert!((4..8).contains(&policy.min_trials) && policy.max_trials == 30, "{policy:?}");
    assert_eq!((planned.findings.len(), planned.plan.points.len()), (1, asked.points.len()));
    // Where something large goes, all of them stay.
    planned.plan = asked;
    planned.findings.clear();
    planned.plan.points.insert(0, point("cpu.linpack", "n", 20_000));
    shrink(&mut planned, all_s + 0.1, &|_| ());
    assert_eq!(planned.plan.policy.min_trials, 8);
    let lines: Vec<_> = planned.findings.iter().map(|f| f.message.as_str()).collect();
    assert!(lines.len() == 1 && lines[0].contains("n = 20000 left out"), "{lines:?}");
}

#[test]
fn trials_stay_as_long_as_the_machine_needs_them() {
    let mut planned = planned();
    planned.plan.policy.trial_s = 0.5;
    let at_least = |policy: &mut Policy| policy.trial_s = policy.trial_s.max(0.5);
    shrink(&mut planned, 5.0, &at_least);
    assert_eq!(planned.plan.policy.trial_s, 0.5);
    assert!(!planned.findings.iter().any(|f| f.message.contains("trials")));
}
