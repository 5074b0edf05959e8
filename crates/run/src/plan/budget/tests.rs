use proofmark_model::{PlannedReference, key};

use super::*;
use proofmark_model::Params;

fn point(workload: &str, parameter: &str, value: u64) -> Point {
    let params = Params::default()
        .with(key::THREADS, 1)
        .with_named(parameter, value)
        .with(key::ISA, "sse2")
        .with(key::MATRIX_BLOCK, 64);
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
    let hpl = PlannedReference { point: 1, runs: 3, run_s: 1.0, second: false };
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

/// The plan within that budget, and the budgets that hold what it lacks.
fn limited(asked: &Planned, budget_s: f64) -> Planned {
    let plan_within = |budget_s| {
        let mut planned = asked.clone();
        shrink(&mut planned, budget_s, &|_| ());
        planned
    };
    plan_with_advice(asked, budget_s, &plan_within)
}

fn shrunk(budget_s: f64) -> (Planned, Vec<String>) {
    let planned = limited(&planned(), budget_s);
    let lines = lines(&planned);
    (planned, lines)
}

/// What a budget does, without the line that names the sufficient one, which comes last.
fn lines(planned: &Planned) -> Vec<String> {
    let mut lines: Vec<String> = planned.findings.iter().map(|f| f.message.clone()).collect();
    let all = lines.pop_if(|line| line.starts_with(ALL));
    let reduces = !lines.is_empty() || !planned.plan.left_out.is_empty();
    assert_eq!(all.is_some(), reduces, "{lines:?}");
    lines
}

/// The titles of what a budget leaves out.
fn left_out(planned: &Planned) -> String {
    let line = describe(planned).unwrap_or_default();
    line.split_once(": ").map_or_else(String::new, |(_, names)| names.to_owned())
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
    let (planned, _) = shrunk(least_s(&planned().plan) - 1080.0 - solve_s / 2.0);
    let plan = &planned.plan;
    assert_eq!(left_out(&planned), "LINPACK, 1 CPU, n 20\u{202f}000");
    assert_eq!(plan.points, self::planned().plan.points[1..]);
    assert_eq!(plan.references["hpl"][0].point, 0);
    assert_eq!([plan.series[0].point, plan.series[1].point], [2, 3]);
    let reasons: Vec<_> = planned.tools.missing.iter().map(|(p, n)| (*p, n.why.as_str())).collect();
    assert_eq!(reasons, [(1, "clock")]);
}

#[test]
fn a_plan_that_nothing_makes_fit_says_its_least_time() {
    let (planned, lines) = shrunk(25.0);
    assert_eq!(planned.plan.series[0].for_s, 10.0);
    assert!(planned.plan.points.contains(&point("cpu.linpack", "n", 100)), "the smallest stays");
    assert!(!lines.iter().any(|line| line.contains("even so")), "{lines:?}");
    let (planned, lines) = shrunk(1e-3);
    let least = format!("even so the plan takes about {}", format_seconds(least_s(&planned.plan)));
    assert!(lines.iter().any(|line| line.ends_with(&least)), "{lines:?}");
    assert_eq!(planned.plan.points.len(), 1);
}

/// A small solve and three clocks, which are measured in rounds, without tools and series.
fn trials_and_rounds() -> Planned {
    let mut planned = planned();
    planned.plan.series.clear();
    planned.plan.points.remove(0);
    planned.plan.references.clear();
    planned.plan.policy = Policy::default();
    planned
}

/// The plan within that budget, and what it does without.
fn within(budget_s: f64, asked: Planned) -> (Planned, Vec<String>) {
    let planned = limited(&asked, budget_s);
    let of = format!("for the budget of {}: ", format_seconds(budget_s));
    let lines = lines(&planned).iter().map(|f| f.strip_prefix(&of).unwrap().to_owned()).collect();
    (planned, lines)
}

#[test]
fn trials_go_first_and_come_back() {
    let asked = trials_and_rounds();
    let all_s = least_s(&asked.plan);
    let (planned, lines) = within(all_s - 0.1, trials_and_rounds());
    let policy = &planned.plan.policy;
    assert!((4..8).contains(&policy.min_trials) && policy.max_trials == 20, "{policy:?}");
    let few =
        format!("as few as {} trials per result without rounds instead of 8", policy.min_trials);
    assert_eq!((lines, planned.plan.points.len()), (vec![few], asked.plan.points.len()));
    // Where something large goes, all of them stay.
    let mut planned = trials_and_rounds();
    planned.plan.points.insert(0, point("cpu.linpack", "n", 20_000));
    let (planned, lines) = within(all_s + 0.1, planned);
    assert_eq!(planned.plan.policy.min_trials, 8);
    assert_eq!(
        (lines.len(), left_out(&planned)),
        (0, "LINPACK, 1 CPU, n 20\u{202f}000".to_owned())
    );
}

#[test]
fn numbers_of_trials_of_their_own_go_as_well() {
    let own = [("cpu.linpack".to_owned(), 10), ("cpu.clock".to_owned(), 10)];
    let mut planned = trials_and_rounds();
    planned.plan.policy.trials_of = BTreeMap::from(own);
    let (planned, lines) = within(0.1, planned);
    let policy = &planned.plan.policy;
    assert_eq!(Vec::from_iter(policy.trials_of.values().copied()), [8, 3], "of a clock 8 rounds");
    assert_eq!(policy.min_trials, 8, "which are those of none");
    let last = lines[lines.len() - 2].as_str();
    assert_eq!(last, "3 trials instead of 10 of cpu.linpack, 8 trials instead of 10 of cpu.clock");
}

#[test]
fn a_load_with_fewer_trials_of_its_own_is_named() {
    let all_s = least_s(&trials_and_rounds().plan);
    let mut planned = trials_and_rounds();
    planned.plan.points.push(point("cpu.hash", "x", 1));
    planned.plan.points.push(point("disk.fsync", "x", 1));
    planned.plan.policy.trials_of = BTreeMap::from([("cpu.linpack".to_owned(), 3)]);
    let asked_s = least_s(&planned.plan);
    let (planned, lines) = within(asked_s - 0.1, planned);
    let least = planned.plan.policy.min_trials;
    assert!(least < 8 && all_s > 0.0, "{least}");
    let few =
        format!("as few as {least} trials per result without rounds instead of 8 (cpu.linpack: 3)");
    assert_eq!(lines, [few]);
}

#[test]
fn rounds_become_shorter_and_never_fewer_than_8() {
    let clocks = |min_trials| {
        let mut planned = trials_and_rounds();
        planned.plan.points.remove(0);
        planned.plan.policy.min_trials = min_trials;
        planned
    };
    let (shorter, lines) = within(2.0, clocks(8));
    let policy = &shorter.plan.policy;
    let round_s = policy.trial_s_for("cpu.clock");
    assert!((0.04..0.06).contains(&round_s) && policy.min_trials == 8, "{policy:?}");
    assert_eq!(lines, [format!("rounds 100.0 ms -> {}", format_seconds(round_s))]);
    assert!((1.5..=2.0).contains(&least_s(&shorter.plan)));
    // Of more than 8 the others go first.
    let (fewer, lines) = within(4.0, clocks(12));
    let policy = &fewer.plan.policy;
    assert!((8..12).contains(&policy.min_trials) && policy.trial_s == 0.1, "{policy:?}");
    let few = format!("as few as {} rounds per result instead of 12", policy.min_trials);
    assert_eq!(lines, [few]);
    // More than that is left out.
    let (least, _) = within(1.0, clocks(8));
    let policy = &least.plan.policy;
    assert_eq!((policy.min_trials, policy.trial_s_for("cpu.clock")), (8, 0.02));
    assert!(least_s(&least.plan) <= 1.0 && left_out(&least).starts_with("Core clock"));
}

#[test]
fn all_workloads_whose_own_trials_become_shorter_are_named_or_counted() {
    let ids = ["disk.fsync", "network.tcp.rtt", "network.tcp.stream", "network.udp.stream"];
    let mut planned = trials_and_rounds();
    planned.plan.points = ids.map(|id| point(id, "x", 1)).into();
    planned.plan.policy.trial_s_of = ids.map(|id| (id.to_owned(), 10.0)).into();
    let (_, lines) = within(0.5, planned);
    let named =
        |line: &String| line.contains("of disk.fsync, network.tcp.rtt and 2 others 10 s ->");
    assert!(lines.iter().any(named), "{lines:?}");
}

#[test]
fn rounds_become_shorter_than_other_trials_and_fixed_amounts_stay() {
    let with = |first: Point| {
        let mut planned = trials_and_rounds();
        planned.plan.policy.trial_s = 1.0;
        planned.plan.points[0] = first;
        within(0.5, planned)
    };
    let (_, lines) = with(point("cpu.linpack", "n", 100));
    assert_eq!(lines[0], "rounds 1.0 s -> 20.00 ms", "a solve is as long as it is");
    let (planned, lines) = with(point("network.tcp.rtt", "x", 1));
    let policy = &planned.plan.policy;
    assert_eq!(["cpu.clock", "network.tcp.rtt"].map(|id| policy.trial_s_for(id)), [0.02, 0.2]);
    assert_eq!(lines[0], "rounds 1.0 s -> 20.00 ms; trials 1.0 s -> 200.0 ms");
    // Half a second is enough for a trial of 10 s, as those of iperf.
    let mut long = trials_and_rounds();
    long.plan.policy.trial_s = 10.0;
    long.plan.points[0] = point("network.tcp.rtt", "x", 1);
    let (planned, _) = within(0.5, long);
    assert_eq!(planned.plan.policy.trial_s_for("network.tcp.rtt"), 0.5);
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

/// A solve with a tool that takes a minute, and some clocks.
#[test]
fn a_budget_that_is_named_for_a_tool_holds_it_and_no_shorter_one_does() {
    let mut asked = trials_and_rounds();
    let hpl = PlannedReference { point: 0, runs: 8, run_s: 7.5, second: false };
    asked.plan.references = BTreeMap::from([("slow".to_owned(), vec![hpl])]);
    asked.plan.points.extend((4..12).map(|n| point("cpu.clock", "x", n)));
    for are_named in [true, false] {
        asked.tools.are_named = are_named;
        let planned = limited(&asked, 20.0);
        let why = &planned.tools.missing[&0].why;
        let named = why.split_once("--budget ").unwrap_or_else(|| panic!("{why}")).1;
        let named_s: f64 = match named.strip_suffix(" takes it").unwrap() {
            minutes if minutes.ends_with('m') => {
                60.0 * minutes.trim_end_matches('m').parse::<f64>().unwrap()
            }
            seconds => seconds.trim_end_matches('s').parse().unwrap(),
        };
        let has_tool = |budget_s| limited(&asked, budget_s).plan.references.contains_key("slow");
        assert!(has_tool(named_s) && !has_tool(named_s - 10.0), "{are_named}: {named}");
        let line = format!(
            "reference tools left out, unless time remains: slow at 1 configuration: --budget {named}"
        );
        assert!(lines(&planned).iter().any(|l| l.ends_with(&line)), "{:?}", planned.findings);
    }
}

#[test]
fn tools_that_ran_in_the_end_are_no_longer_left_out() {
    let line = "for the budget of 20 s: reference tools left out, unless time remains: fio at 2 \
                configurations: --budget 34m takes them";
    let mut findings = vec![Finding::new(BUDGET, Severity::Note, line, ADVICE)];
    correct_tools_left_out(&mut findings, &BTreeMap::from([("fio".to_owned(), 1)]));
    let now = "for the budget of 20 s: reference tools left out: fio at 1 configuration";
    assert_eq!(findings[0].message, now);
    correct_tools_left_out(&mut findings, &BTreeMap::new());
    assert!(findings.is_empty());
}

#[test]
fn a_tool_that_comes_back_has_kept_its_program() {
    let mut asked = trials_and_rounds();
    // It is out at first, and in again once it was estimated for shorter trials.
    let hpl = PlannedReference { point: 1, runs: 3, run_s: 10.0, second: false };
    asked.plan.references = BTreeMap::from([("hpl".to_owned(), vec![hpl])]);
    asked.plan.points.insert(0, point("cpu.linpack", "n", 20_000));
    asked.tools.are_named = true;
    asked.tools.installed.insert("hpl".to_owned(), crate::testing::installed());
    let mut kept = 0;
    for budget_s in (3..40).step_by(4) {
        let planned = limited(&asked, f64::from(budget_s));
        let [planned, found] = [
            planned.plan.references.keys().collect::<Vec<_>>(),
            planned.tools.installed.keys().collect::<Vec<_>>(),
        ];
        assert_eq!(planned, found, "{budget_s} s");
        kept += planned.len();
    }
    assert!(kept > 0, "it never came back");
}
