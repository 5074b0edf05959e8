//! Tests that plant faults in one of two runs.

mod all_cpus;
mod causes;
mod figures;
mod instruction_sets;
mod judged;
mod left_out;
mod margins;
mod matching;
mod percentiles;
mod prices;
mod sentence;
mod several_runs;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, Comparison, CpuPairSeen, CpuPlacement,
    CpuQuota, Decision, Ending, FigureKind, Finding, Margin, MarginSource, Measurement, Number,
    Param, Probe, Round, Run, Severity, Subsystem, Unit, Verdict,
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

/// The run on a machine without neighbours, whose level hardly moves.
fn alone(run: Run) -> Run {
    Run { host: bare(run.host.clone()), ..run }
}

fn outcomes(c: &Comparison) -> Vec<Comparability> {
    c.points.iter().map(ComparedPoint::outcome).collect()
}

/// The compared result of one pair.
fn one(a: Measurement, b: Measurement) -> ComparedPoint {
    let c = compared(&alone(run(vec![a])), &alone(run(vec![b])));
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
    assert_eq!((cpu.no_difference_shown, cpu.slower, cpu.faster), (6, 0, 0));
}

#[test]
fn half_the_speed_under_a_quota_is_slower_with_the_cause() {
    let mut b = with(alone(healthy()), |_, m| {
        let factor = if m.better == Better::Higher { 0.5 } else { 2.0 };
        suspect(scaled(m, factor), "throttled", 0.5)
    });
    b.host.limits.cpu_quota =
        Probe::known(CpuQuota { cpus: Some(0.5), ..CpuQuota::default() }, "cpu.max");
    let c = compared(&alone(healthy()), &b);
    for p in &c.points {
        assert_eq!(p.outcome(), Slower, "{p:?}");
        assert!(p.reason.contains("in B throttled took 50 %") && p.fails(), "{}", p.reason);
    }
    assert_eq!(c.differences[0].what, "CPU quota");
    assert!(c.differences[0].b.contains("0.5"), "{:?}", c.differences);
    assert!(c.subsystems.iter().all(|s| s.slower > 0 && s.faster == 0), "{:?}", c.subsystems);
    // In the reverse order B is faster, since A was limited.
    let back = compared(&b, &alone(healthy()));
    assert!(outcomes(&back).iter().all(|o| *o == Faster));
    assert!(back.points[0].reason.contains("in A throttled"), "{}", back.points[0].reason);
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
            for r in ratios {
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
