//! Tests that plant faults in one of two runs.

mod causes;
mod figures;
mod judged;
mod matching;
mod percentiles;
mod sentence;

use proofmark_model::{
    Better, Comparability, ComparedPoint, Comparison, CpuPlacement, CpuQuota, Decision, Ending,
    FigureKind, Finding, Measurement, Number, Param, Probe, Round, Run, Severity, Unit, Verdict,
};
use proptest::prelude::*;

use super::*;
use crate::testing::*;
use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower, Undecided};

/// A run with these results on the healthy machine.
fn run(measurements: Vec<Measurement>) -> Run {
    crate::testing::run(host(), measurements)
}

/// Twelve results of all four subsystems.
fn healthy() -> Run {
    let mut all = vec![flops(1), flops(2), iops(1), iops(2), linpack(500, 1), linpack(500, 2)];
    all.extend([stream("triad", 1), stream("triad", 2), sweep("read", 1, 1 << 20)]);
    all.extend([latency(1 << 20, 5e-9), rand_read(1), tcp(1, "loopback")]);
    run(all)
}

/// The same result with every value multiplied by a factor.
fn scaled(mut m: Measurement, factor: f64) -> Measurement {
    for t in &mut m.trials {
        t.value *= factor;
    }
    if let Some(s) = &mut m.summary {
        proofmark_model::testing::rescale(s, factor);
    }
    m
}

fn with(mut run: Run, change: impl Fn(usize, Measurement) -> Measurement) -> Run {
    let all = std::mem::take(&mut run.measurements);
    run.measurements = all.into_iter().enumerate().map(|(i, m)| change(i, m)).collect();
    run
}

fn compared(a: &Run, b: &Run) -> Comparison {
    compare(Named::new('A', "a", a), Named::new('B', "b", b), Options::default())
}

fn outcomes(c: &Comparison) -> Vec<Comparability> {
    c.points.iter().map(ComparedPoint::outcome).collect()
}

/// The compared result of one pair.
fn one(a: Measurement, b: Measurement) -> ComparedPoint {
    let c = compared(&run(vec![a]), &run(vec![b]));
    assert_eq!(c.points.len(), 1, "{:?}", c.points);
    c.points[0].clone()
}

/// Asserts the outcome of one pair, and words of its reason.
#[track_caller]
fn expect(a: Measurement, b: Measurement, outcome: Comparability, words: &str) {
    let p = one(a, b);
    assert_eq!(p.outcome(), outcome, "{p:?}");
    expect_words(&p.workload, &p.reason, "", words);
}

fn found(mut m: Measurement, check: &'static str, severity: Severity, share: f64) -> Measurement {
    let message = format!("{check} took {:.0} %", share * 100.0);
    m.findings.push(Finding::new(check, severity, message, "").with("share", share));
    m.verdict = Verdict::from_findings(&m.findings);
    m
}

/// A result that is suspect by a finding of that check.
fn suspect(m: Measurement, check: &'static str, share: f64) -> Measurement {
    found(m, check, Severity::Suspect, share)
}

/// The usual result at `factor` times its rate.
fn at(factor: f64) -> Measurement {
    scaled(flops(1), factor)
}

#[test]
fn a_run_and_itself_do_not_differ() {
    let c = compared(&healthy(), &healthy());
    assert_eq!(c.points.len(), 12);
    assert!(outcomes(&c).iter().all(|o| *o == NoDifferenceShown));
    assert!(c.differences.is_empty(), "{:?}", c.differences);
    for p in &c.points {
        assert!(
            (p.headline.as_ref().unwrap().ratio.median - 1.0).abs() < 1e-9 && !p.fails(),
            "{p:?}"
        );
    }
    let cpu = &c.subsystems[0];
    assert_eq!((cpu.no_difference_shown, cpu.speed.as_ref().unwrap().median), (6, 1.0));
}

#[test]
fn a_margin_of_half_means_below_half_the_speed() {
    let half = Options { margin: Some(0.5) };
    let a = run(vec![at(1.0)]);
    for (factor, expected) in
        [(0.52, NoDifferenceShown), (0.48, Slower), (1.9, NoDifferenceShown), (2.1, Faster)]
    {
        let b = run(vec![at(factor)]);
        let c = compare(Named::new('A', "a", &a), Named::new('B', "b", &b), half);
        assert_eq!(c.points[0].outcome(), expected, "{factor}: {:?}", c.points[0]);
    }
}

#[test]
fn three_percent_are_within_the_margin_and_a_requested_margin_shows_them() {
    let b = with(healthy(), |_, m| scaled(m, 0.97));
    let (a, strict) = (healthy(), Options { margin: Some(0.01) });
    let c = compared(&a, &b);
    assert!(outcomes(&c).iter().all(|o| *o == NoDifferenceShown), "{c:?}");
    assert!(c.points[0].reason.contains("within the margin"), "{}", c.points[0].reason);
    let c = compare(Named::new('A', "a", &a), Named::new('B', "b", &b), strict);
    for p in &c.points {
        let expected = match p.better {
            Better::Higher => Slower,
            Better::Lower => Faster,
        };
        assert_eq!((p.outcome(), p.headline.as_ref().unwrap().margin), (expected, 0.01), "{p:?}");
    }
}

#[test]
fn half_the_speed_under_a_quota_is_slower_with_the_cause() {
    let mut b = with(healthy(), |_, m| {
        let factor = if m.better == Better::Higher { 0.5 } else { 2.0 };
        suspect(scaled(m, factor), "throttled", 0.5)
    });
    b.host.limits.cpu_quota =
        Probe::known(CpuQuota { cpus: Some(0.5), ..CpuQuota::default() }, "cpu.max");
    let c = compared(&healthy(), &b);
    for p in &c.points {
        assert_eq!(p.outcome(), Slower, "{p:?}");
        assert!(p.reason.contains("in B throttled took 50 %") && p.fails(), "{}", p.reason);
    }
    assert_eq!(c.differences[0].what, "CPU quota");
    assert!(c.differences[0].b.contains("0.5"), "{:?}", c.differences);
    assert!(c.subsystems.iter().all(|s| (s.speed.as_ref().unwrap().median - 0.5).abs() < 0.01));
    // In the reverse order B is faster, since A was limited.
    let back = compared(&b, &healthy());
    assert!(outcomes(&back).iter().all(|o| *o == Faster));
    assert!(back.points[0].reason.contains("in A throttled"), "{}", back.points[0].reason);
}

#[test]
fn half_of_the_points_that_lost_a_part_are_not_taken_for_noise() {
    type Lost = fn(usize, &Measurement) -> bool;
    let two_threads: Lost = |_, m| m.params.threads() == 2;
    let sweeps = || (0..10).flat_map(|i| [1, 2].map(|t| sweep("read", t, 4096 << i))).collect();
    for (name, all, lost, factor, check) in [
        ("under a quota", healthy(), two_threads, 0.7, Some("throttled")),
        // The largest spread that counts as noise.
        ("nothing hides a factor of two", healthy(), |i, _| i % 2 == 0, 0.5, None),
        // No finding, and trials that vary far less.
        ("a thread count", run(sweeps()), two_threads, 0.7, None),
        ("other halves, of as many threads", run(sweeps()), |i, _| i % 4 < 2, 0.7, None),
    ] {
        let b = with(all.clone(), |i, m| match (lost(i, &m), check) {
            (true, Some(check)) => suspect(scaled(m, factor), check, 0.5),
            (true, None) => scaled(m, factor),
            (false, _) => m,
        });
        for (i, p) in compared(&all, &b).points.iter().enumerate() {
            let m = &all.measurements[i];
            let enough = p.workload.starts_with("cpu") || p.workload == "memory.sweep";
            if enough || check.is_some() {
                assert_eq!(p.outcome() == Slower, lost(i, m), "{name}: {p:?}");
            }
        }
    }
}

#[test]
fn an_unexplained_difference_is_reported_with_the_facts_that_differ() {
    expect(at(1.0), at(0.7), Slower, "no finding and no fact");
    let mut b = run(vec![at(0.7)]);
    b.host.os.kernel = Probe::known("Linux 7.1".into(), "uname");
    let c = compared(&run(vec![flops(1)]), &b);
    assert!(c.points[0].reason.contains("kernel unknown in A, Linux 7.1 in B"), "{c:?}");
    let placed = |name: &str, m: Measurement| {
        let mut run = run(vec![m]);
        run.cpu_placements =
            vec![CpuPlacement { name: name.into(), share: 1.0, ..CpuPlacement::default() }];
        run
    };
    let slow = scaled(stream("triad", 2), 0.5);
    let c = compared(&placed("near (84 ns)", stream("triad", 2)), &placed("SMT siblings", slow));
    let says = "vCPU placement near (84 ns) 100.0 % in A, SMT siblings 100.0 % in B";
    assert!(c.points[0].reason.contains(says), "{}", c.points[0].reason);
    let clocked = each_condition(at(0.7), |_, c| c.clock_hz = Some(2.8e9));
    expect(at(1.0), clocked, Slower, "in B the cores ran at 2.80 GHz, in A at 4.00 GHz");
    expect(suspect(at(1.0), "in_cache", 0.2), at(0.7), Slower, "A itself is suspect: in_cache");
}

#[test]
fn a_cause_on_both_sides_explains_nothing_unless_one_has_far_more() {
    let stolen = |factor, share| suspect(at(factor), "steal", share);
    expect(stolen(1.0, 0.05), stolen(0.7, 0.06), Slower, "no finding");
    expect(stolen(1.0, 0.05), stolen(0.7, 0.3), Slower, "in B steal took 30 %");
    // A finding that trials differ is no cause if there is another.
    let fell = suspect(at(0.7), "falling_rate", 0.3);
    expect(at(1.0), fell.clone(), Slower, "^in B falling_rate took 30 %$");
    expect(at(1.0), suspect(fell.clone(), "steal", 0.3), Slower, "^in B steal took 30 %$");
    // The evidence counts, not its severity in either run.
    let noted = |m, check| found(m, check, Severity::Note, 0.3);
    expect(at(1.0), noted(fell, "steal"), Slower, "^in B steal took 30 %$");
    let lower = suspect(at(0.7), "clock_drop", 0.3);
    expect(noted(at(1.0), "clock_drop"), lower, Slower, "^no finding");
}

#[test]
fn time_taken_on_both_sides_widens_the_margin() {
    let taken = |factor, share| suspect(at(factor), "other_cpu", share);
    expect(taken(1.0, 0.3), taken(0.75, 0.3), NoDifferenceShown, "");
    expect(taken(1.0, 0.3), taken(0.5, 0.3), Slower, "");
    expect(at(1.0), taken(0.7, 0.4), Slower, "");
    // If taken time could hide a factor of more than 1.5, "no difference" is not shown.
    // The same if it is a note: the trials include that time even within the interval.
    let noted = |factor, share| found(at(factor), "other_cpu", Severity::Note, share);
    expect(noted(1.0, 0.3), noted(0.75, 0.3), NoDifferenceShown, "");
    let both = "^both were disturbed: other programs took at least 40.0 %";
    expect(taken(1.0, 0.4), taken(0.7, 0.4), NotComparable, both);
    for (share, factor) in [(0.4, "1.67$"), (0.5, "2.00$"), (0.75, "4.00$")] {
        let hides = format!("enough to hide a factor of {factor}");
        expect(taken(1.0, share), taken(0.7, share), NotComparable, &hides);
    }
    assert_eq!(one(taken(1.0, 0.4), taken(0.7, 0.4)).headline.unwrap().resolution, None);
    expect(taken(1.0, 0.4), taken(0.2, 0.4), Slower, "");
}

#[test]
fn noise_between_runs_is_no_difference() {
    // Runs whose results are each shifted by up to 15 %, as two runs of a busy machine are.
    let noise = [0.0, 0.12, -0.1, 0.05, -0.15, 0.08, -0.03, 0.15, -0.07, 0.02, 0.1, -0.12];
    let points = || (0..12).map(|i| sweep("read", 1, 4096 << i)).collect::<Vec<_>>();
    let b = with(run(points()), |i, m| scaled(m, 1.0 + noise[i]));
    let c = compared(&run(points()), &b);
    assert!(outcomes(&c).iter().all(|o| *o == NoDifferenceShown), "{c:?}");
    // Less of the same noise, and a common fall of 30 %: the spread is about the fall.
    let b = with(run(points()), |i, m| scaled(m, 0.7 * (1.0 + 0.4 * noise[i])));
    let c = compared(&run(points()), &b);
    assert!(outcomes(&c).iter().all(|o| *o == Slower), "{c:?}");
}

#[test]
fn a_wide_interval_widens_the_margin() {
    let wide = |factor: f64| {
        let mut m = at(factor);
        let s = m.summary.as_mut().unwrap();
        proofmark_model::testing::restate(s, s.value(), Some([s.value() * 0.85, s.value() * 1.15]));
        m
    };
    expect(wide(1.0), wide(0.5), Slower, "");
    expect(wide(1.0), wide(0.8), NoDifferenceShown, "");
    expect(at(1.0), at(0.8), Slower, "");
}

#[test]
fn less_is_better_for_a_time() {
    let [short, long] = [5e-9, 1e-8].map(|s| latency(1 << 20, s));
    let p = one(short.clone(), long.clone());
    assert_eq!(p.outcome(), Slower);
    assert!((p.headline.unwrap().ratio.median - 2.0).abs() < 0.01, "the ratio stays B / A");
    expect(long, short, Faster, "");
}

#[test]
fn results_that_cannot_be_compared_give_the_reason_and_missing_ones_fail() {
    let not = |a: Measurement, b: Measurement, words: &str, fails: bool| {
        let p = one(a, b);
        assert_eq!(p.outcome(), NotComparable, "{p:?}");
        assert!(p.reason.contains(words) && p.headline.is_none(), "{p:?}");
        assert_eq!(p.fails(), fails, "{p:?}");
    };
    let invalid = || found(flops(1), "page_cache", Severity::Invalid, 0.9);
    not(flops(1), invalid(), "B is invalid: page_cache took 90 %", true);
    not(invalid(), flops(1), "A is invalid", false);
    not(invalid(), invalid(), "A is invalid", false);
    let mut crashed = flops(1);
    (crashed.trials, crashed.summary) = (Vec::new(), None);
    crashed.ending = Ending::Crashed { signal: Some("SIGILL".into()), detail: "gone".into() };
    not(flops(1), crashed.clone(), "B has no result: the worker was killed by SIGILL", true);
    not(crashed, flops(1), "A has no result", false);
    let mut other = flops(1);
    other.unit = Unit::OpPerSecond;
    not(flops(1), other, "A is in FLOP/s, B in op/s", false);
    let mut zero = flops(1);
    zero.trials[3].value = 0.0;
    not(flops(1), zero, "zero or negative", false);
}

#[test]
fn figures_of_different_methods_are_not_compared() {
    let (a, mut b) = (run(vec![flops(1)]), run(vec![scaled(flops(1), 0.5)]));
    assert_eq!(compared(&a, &b).points[0].outcome(), Slower);
    b.workloads.get_mut("cpu.flops").unwrap().method += 1;
    let p = &compared(&a, &b).points[0];
    assert_eq!(p.outcome(), NotComparable);
    assert!(p.reason.contains("method 2 of cpu.flops, B by method 3"), "{}", p.reason);
    assert_eq!(
        compared(&a, &b).decision(),
        Decision::Undecided,
        "a baseline of another method is no baseline"
    );
}

#[test]
fn settings_that_differ_are_named_where_both_are_known() {
    let with = |settings: &[(&str, Option<&str>)]| {
        let mut run = run(vec![flops(1)]);
        let probe = |value: Option<&str>| match value {
            Some(value) => Probe::known(value.to_owned(), "a file"),
            None => Probe::missing("no such file"),
        };
        run.host.settings = settings.iter().map(|(n, v)| ((*n).to_owned(), probe(*v))).collect();
        run
    };
    let a = [("governor", Some("powersave")), ("turbo", Some("on")), ("KSM", Some("0"))];
    let b = [("governor", Some("performance")), ("turbo", None), ("KSM", Some("0"))];
    let c = compared(&with(&a), &with(&b));
    let found: Vec<_> =
        c.differences.iter().map(|d| [&d.what, &d.a, &d.b].map(String::as_str)).collect();
    assert_eq!(found, [["governor", "powersave", "performance"]]);
    let slower = {
        let mut run = with(&b);
        run.measurements = vec![scaled(flops(1), 0.8)];
        compared(&with(&a), &run)
    };
    assert!(slower.points[0].reason.contains("governor"), "{}", slower.points[0].reason);
}

#[test]
fn limits_of_a_process_and_settings_of_networks_are_listed_and_are_no_cause_of_a_slow_cpu() {
    let with = |value: &str, by: f64| {
        let mut run = run(vec![scaled(flops(1), by)]);
        let names = ["MTU", "TCP receive buffer", "TCP send buffer", "open files limit"];
        let probe = |name: &str| (name.to_owned(), Probe::known(value.to_owned(), "a file"));
        run.host.settings = names.map(probe).into();
        run
    };
    let c = compared(&with("1500", 1.0), &with("9000", 0.8));
    let found: Vec<&str> = c.differences.iter().map(|d| d.what.as_str()).collect();
    assert_eq!(found, ["MTU", "TCP receive buffer", "TCP send buffer", "open files limit"]);
    let reason = &c.points[0].reason;
    assert!(!found.iter().any(|name| reason.contains(name)), "{reason}");
}

#[test]
fn an_import_without_trials_has_a_ratio_of_medians_and_no_more() {
    let mut m = flops(1);
    m.trials.clear();
    let mut b = run(vec![m]);
    b.imported = Some("sysbench 1.0".into());
    let c = compared(&run(vec![flops(1)]), &b);
    assert_eq!(outcomes(&c), [NotComparable]);
    assert!(c.points[0].reason.contains("10 trials in A and only a figure in B"), "{c:?}");
    assert!((c.points[0].headline.as_ref().unwrap().ratio.median - 1.0).abs() < 1e-3);
    let by = c.differences.iter().find(|d| d.what == "measured by").unwrap();
    assert_eq!((by.a.as_str(), by.b.as_str()), ("proofmark", "sysbench 1.0"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_the_files_hold_the_comparison_is_whole(
        text in any::<String>(),
        values in prop::collection::vec(wild(), 1..9),
        share in wild(), target in wild(), clock in wild(), count in any::<u64>(),
        margin in proptest::option::of(0.0..1.0_f64),
    ) {
        let mut next = values.iter().copied().cycle();
        let mut b = healthy();
        for (i, m) in b.measurements.iter_mut().enumerate() {
            let mut value = || next.next().unwrap_or(0.0);
            for t in &mut m.trials {
                (t.value, t.conditions.clock_hz) = (value(), Some(clock));
                if i % 2 == 0 {
                    let (typical, attainable) = (Some(value()), Some(value()));
                    t.rounds = vec![Round { delivered: value(), typical, attainable, ..Round::default() }; 2];
                }
            }
            if let Some(s) = &mut m.summary {
                s.trials.n = count;
                s.delivered.derived = (i % 4 == 0).then(|| text.clone());
                s.headline = [FigureKind::Attainable, FigureKind::Typical, FigureKind::Delivered][i % 3];
                proofmark_model::testing::restate(s, value(), Some([value(), value()]));
            }
            m.params.0.insert(text.clone(), Param::Int(count));
            m.params.0.insert("threads".into(), Param::Int(count.wrapping_add(i as u64 % 2)));
            m.findings.push(Finding::new(text.clone(), Severity::Suspect, text.clone(), "").with("share", share));
            m.findings.push(Finding::new("steal", Severity::Suspect, text.clone(), "").with("share", share));
            m.verification = None;
        }
        b.plan.policy.target = target;
        b.host.cpu.model_name = Probe::known(text.clone(), "x");
        b.host.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(share), ..CpuQuota::default() }, "x");
        let mut a = b.clone();
        for m in &mut a.measurements {
            m.trials = flops(1).trials;
        }
        let options = Options { margin };
        for (x, y) in [(&a, &b), (&b, &a), (&b, &b), (&healthy(), &b)] {
            let c = compare(Named::new('A', &text, x), Named::new('B', "b", y), options);
            let delivered = || c.points.iter().filter_map(|p| p.delivered.as_ref());
            prop_assert!(delivered().all(|d| d.margin.is_finite()));
            let ratios = c.points.iter().filter_map(|p| Some(&p.headline.as_ref()?.ratio));
            let ratios = ratios.chain(delivered().map(|d| &d.ratio));
            let speeds = c.subsystems.iter().filter_map(|s| s.speed.as_ref());
            for r in ratios.chain(speeds) {
                let ends = r.ci95.unwrap_or([r.median; 2]);
                prop_assert!(r.median > 0.0 && r.median.is_finite() && ends[0] > 0.0 && ends[1].is_finite());
                prop_assert!(ends[0] <= r.median && r.median <= ends[1]);
            }
            prop_assert!(c.points.iter().all(|p| p.headline.as_ref().is_none_or(|h| h.margin.is_finite())));
            prop_assert!(c.points.iter().all(|p| !p.reason.is_empty() && clean(&p.reason) == p.reason));
            prop_assert!(c.points.len() <= x.measurements.len() + y.measurements.len());
        }
    }
}
