//! Tests of the figures that changed: attainable is that of the machine, delivered the run's share
//! of it.

use proofmark_model::{CpuQuota, Cut, QuotaTrial, format_factor, summarise_trials};

use super::*;
use crate::{judge, raw_of};

/// One round per trial: the machine at `speed` of its usual rate, of which the run got `share`.
fn rounds(m: Measurement, speed: f64, share: f64) -> Measurement {
    let cut = if m.subsystem == Subsystem::Memory { Cut::Bus } else { Cut::Core };
    let times = m.better == Better::Lower;
    let mut m = each(m, |_, t| {
        let at = |share: f64| if times { t.value / share } else { t.value * share };
        t.rounds = vec![Round {
            seconds: 0.1,
            delivered: at(speed * share),
            typical: Some(at(speed * 0.98)),
            attainable: Some(at(speed)),
            clean_s: 0.05,
            ..Round::default()
        }];
        t.value = at(speed * share);
        t.work = t.value * t.seconds;
        t.conditions.clock_hz = Some(4e9 * speed);
    });
    m.summary = summarise_trials(cut, m.unit, &m.trials, false);
    m
}

/// CPU and memory results, with a change of their trials, judged.
fn judged_run(speed: f64, share: f64, change: impl Fn(&mut proofmark_model::Trial)) -> Run {
    let points = [flops(1), flops(2), iops(1), iops(2), stream("triad", 1), stream("triad", 2)];
    let all = points.map(|m| each(rounds(m, speed, share), |_, t| change(t)));
    judge(&raw_of(&run(all.to_vec())))
}

fn quiet() -> Run {
    judged_run(1.0, 0.99, |_| ())
}

/// A run of which others took this share of the CPU time.
fn with_taken_time(taken: f64) -> Run {
    judged_run(1.0, 1.0 - taken, move |t| t.conditions.other_cpu_s = Some(taken * t.seconds))
}

fn margin(p: &ComparedPoint) -> f64 {
    p.headline.as_ref().unwrap().margin
}

fn delivered(p: &ComparedPoint) -> &ComparedFigure {
    p.delivered.as_ref().unwrap()
}

/// Two whole periods, of which the thread had half.
fn half_of_two_periods() -> QuotaTrial {
    let quota = CpuQuota { cpus: Some(0.5), period_s: Some(0.1), burst_s: None };
    QuotaTrial {
        before: quota,
        after: quota,
        refills_ahead: 2,
        throttled_ahead: 1,
        cpus: 1.0,
        timed_s: 0.2,
        window_s: 0.2,
        own_cpu_s: Some(0.1),
        ..QuotaTrial::default()
    }
}

#[test]
fn a_quota_lowers_delivered_and_not_attainable() {
    let mut b = judged_run(1.0, 0.5, |t| {
        t.conditions.throttled_s = Some(0.5 * t.seconds);
        t.quota = Some(half_of_two_periods());
    });
    b.host = with_quota(b.host.clone(), 0.5);
    b = judge(&raw_of(&b));
    assert!(b.measurements.iter().all(|m| m.verdict == Verdict::Valid), "windows leave it out");
    let c = compared(&quiet(), &b);
    let mut kinds = Vec::new();
    for p in c.points.iter().filter(|p| p.params.threads() == 1) {
        kinds.push(p.figure.unwrap());
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, Slower), "{p:?}");
        assert_eq!((p.change(), p.fails()), (Slower, true));
        assert!((p.headline.as_ref().unwrap().ratio.median - 1.0).abs() < 1e-3, "{p:?}");
        assert!((delivered(p).ratio.median - 0.495).abs() < 0.01, "{p:?}");
        let kind = p.figure.unwrap().as_str();
        let text = format!(
            "^{kind}: no difference shown; delivered is 50.5 % lower: in B a CPU quota of 0.5 CPUs throttled"
        );
        // Delivered contains that time.
        assert!(!p.reason.contains("leaves that time out"), "{}", p.reason);
        expect_words(&p.workload, &p.reason, "", &text);
    }
    assert_eq!(kinds, [FigureKind::Attainable, FigureKind::Attainable, FigureKind::Typical]);
    assert!(c.decision() == Decision::Missed && c.too_little().is_none());
    let cpu = &c.subsystems[0];
    assert_eq!((cpu.slower, cpu.no_difference_shown), (4, 0));
    // In the reverse order delivered is faster, since A was limited.
    let back = compared(&b, &quiet());
    assert!(back.decision() == Decision::Met && back.points.iter().all(|p| p.change() == Faster));
    assert!(
        back.points[0].reason.contains("in A a CPU quota of 0.5 CPUs"),
        "{}",
        back.points[0].reason
    );
}

#[test]
fn rounds_too_short_to_show_a_quota_are_compared_by_the_derived_figure() {
    let mut b = judged_run(1.0, 0.95, |t| {
        t.conditions.throttled_s = Some(0.5 * t.seconds);
        t.quota = Some(half_of_two_periods());
    });
    b.host = with_quota(b.host.clone(), 0.5);
    b = judge(&raw_of(&b));
    let p = &compared(&quiet(), &b).points[0];
    assert!((delivered(p).ratio.median - 0.495).abs() < 0.01, "{p:?}");
    assert_eq!(delivered(p).outcome, Slower);
}

#[test]
fn a_slower_machine_is_named_as_that() {
    let c = compared(&alone(quiet()), &alone(judged_run(0.7, 0.99, |_| ())));
    for p in &c.points {
        assert_eq!((p.outcome(), delivered(p).outcome), (Slower, Slower), "{p:?}");
        let kind = p.figure.unwrap().as_str();
        let text = format!(
            "^{kind} is 30.0 % lower (the machine), and delivered with it: in B ... 2.80 GHz"
        );
        expect_words(&p.workload, &p.reason, "", &text);
    }
    // Taken time explains the rest of delivered, but nothing of the machine.
    let both = judged_run(0.7, 0.5, |t| {
        t.conditions.steal_s = Some(0.5 * t.seconds);
        t.conditions.swapped_pages = Some(1000);
    });
    let p = &compared(&quiet(), &both).points[0];
    let parts = p.reason.split_once("; delivered is 64.6 % lower: ");
    let (machine, share) = parts.unwrap_or_else(|| panic!("{}", p.reason));
    assert!(
        machine.contains("(the machine): in B")
            && machine.contains("2.80 GHz")
            && !machine.contains("hypervisor")
            && !machine.contains("swapped")
    );
    assert!(share.contains("in B the hypervisor took 50"), "{share}");
}

#[test]
fn taken_time_on_one_side_changes_delivered_alone() {
    let [a, taken] = [quiet(), with_taken_time(0.4)].map(alone);
    let (calm, c) = (compared(&a, &a), compared(&a, &taken));
    for (p, still) in c.points.iter().zip(&calm.points) {
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, Slower), "{p:?}");
        assert_eq!(margin(p), margin(still), "it is no noise of the machine: {p:?}");
        let one = p.params.threads() == 1;
        assert!(!one || p.reason.contains("in B a competing process took 40"), "{}", p.reason);
    }
}

#[test]
fn time_taken_on_both_sides_widens_the_margin_of_delivered_alone() {
    let (calm, c) =
        (compared(&quiet(), &quiet()), compared(&with_taken_time(0.3), &with_taken_time(0.45)));
    for (p, still) in c.points.iter().zip(&calm.points).filter(|(p, _)| p.params.threads() == 1) {
        assert_eq!(margin(p), margin(still), "{p:?}");
        assert!(delivered(p).margin > 0.29, "{p:?}");
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, NoDifferenceShown));
    }
    // Taken time that could hide a factor of 1.67 keeps delivered from being judged, but not the
    // machine.
    let c = compared(&with_taken_time(0.4), &with_taken_time(0.5));
    let p = &c.points[0];
    assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, NotComparable), "{p:?}");
    assert!(delivered(p).resolution.is_none());
    // So the whole result is not judged: delivered may be slower.
    assert!(
        !p.judged() && p.not_comparable() && p.reason.contains("delivered: both were disturbed")
    );
    let memory = &c.subsystems[1];
    assert_eq!((memory.not_comparable, memory.no_difference_shown), (1, 1));
    assert!(
        c.sentence.ends_with("3 of 6 results are left out: 3 not comparable."),
        "{}",
        c.sentence
    );
    let alone = |run: Run| Run { measurements: run.measurements[..1].to_vec(), ..run };
    let c = compared(&alone(with_taken_time(0.4)), &alone(with_taken_time(0.5)));
    assert_eq!((c.subsystems[0].not_comparable, c.subsystems[0].resolution), (1, None));
    assert_eq!(c.decision(), Decision::Undecided);
    let text = "No result counts in CPU; 1 of 1 result is left out: 1 not comparable.";
    assert_eq!(c.sentence, text);
}

#[test]
fn a_figure_that_one_side_has_not_is_not_compared() {
    let one = |m: Measurement| run(vec![m]);
    let fell_back = |mut m: Measurement| {
        m.trials.iter_mut().flat_map(|t| &mut t.rounds).for_each(|r| r.clean_s = 1e-4);
        m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        m
    };
    let whole = || rounds(flops(1), 1.0, 0.9);
    let kind = |a: Measurement, b: Measurement| {
        let c = compared(&one(a), &one(b));
        (c.points[0].figure, c.points[0].delivered.is_some())
    };
    assert_eq!(kind(whole(), whole()), (Some(FigureKind::Attainable), true));
    assert_eq!(kind(whole(), fell_back(whole())), (Some(FigureKind::Delivered), false));
    assert_eq!(kind(whole(), flops(1)), (Some(FigureKind::Delivered), false));
    assert_eq!(kind(flops(1), flops(1)), (Some(FigureKind::Delivered), false));
}

/// A result whose rounds have the seconds and the rates that `rounds_of` gives.
pub(super) fn uneven(rounds_of: impl Fn(usize) -> [f64; 2]) -> Measurement {
    let mut m = rounds(flops(1), 1.0, 0.9);
    for (i, t) in m.trials.iter_mut().enumerate() {
        let [seconds, rate] = rounds_of(i);
        for r in &mut t.rounds {
            (r.seconds, r.clean_s) = (seconds, 1e-4);
            (r.delivered, r.typical, r.attainable) = (rate, None, None);
        }
        (t.value, t.seconds, t.work) = (rate, seconds, rate * seconds);
    }
    m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
    m
}

#[test]
fn figures_that_contradict_their_rounds_are_undecided_and_both_are_reported() {
    let steady = || uneven(|i| [0.1, 10e9 + 1e7 * i as f64]);
    // Slightly faster in every round but one, which took most of the time.
    let stalled = || uneven(|i| if i == 3 { [2.0, 1e9] } else { [0.1, 10.6e9 + 1e7 * i as f64] });
    for (a, b, back) in [(steady(), stalled(), false), (stalled(), steady(), true)] {
        let c = compared(&run(vec![a]), &run(vec![b]));
        let p = &c.points[0];
        assert_eq!((p.figure, p.outcome()), (Some(FigureKind::Delivered), Undecided), "{p:?}");
        assert!(!p.judged() && !p.fails() && p.undecided() && !p.not_comparable());
        let headline = p.headline.as_ref().unwrap();
        let figure = |n: &Option<Number>| n.as_ref().unwrap().summary.delivered.value.unwrap();
        assert!((headline.value - figure(&p.b) / figure(&p.a)).abs() < 1e-9, "{headline:?}");
        assert_eq!(headline.value < 0.5, !back, "{headline:?}");
        let pairs = format_factor(headline.ratio.median);
        let text = format!("^the ratio of the figures is {}, ", format_factor(headline.value));
        expect_words(&p.workload, &p.reason, "", &text);
        assert!(
            p.reason.contains(&format!("median ratio over all pairs of rounds {pairs} (")),
            "{}",
            p.reason
        );
        let cpu = &c.subsystems[0];
        assert_eq!((cpu.undecided, cpu.not_comparable, cpu.slower), (1, 0, 0));
        assert!(c.too_little().is_some(), "it was not judged");
    }
}

/// Rounds of an equal machine that delivered these shares of it: the first took `seconds`.
fn shared(seconds: f64, first: f64, others: f64) -> Measurement {
    let mut m = rounds(flops(1), 1.0, 0.9);
    for (i, t) in m.trials.iter_mut().enumerate() {
        let (seconds, share) = if i == 0 { (seconds, first) } else { (0.1, others) };
        for r in &mut t.rounds {
            (r.seconds, r.delivered) = (seconds, share * (1.0 + 1e-3 * i as f64) * 10e9);
        }
        (t.seconds, t.value) = (seconds, t.rounds[0].delivered);
        t.work = t.value * seconds;
    }
    m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
    m
}

#[test]
fn two_estimates_on_one_side_of_the_margin_decide() {
    // All rounds deliver half; one that took long delivers still less, or nearly all.
    let (whole, less) = (|| shared(0.1, 0.9, 0.9), || shared(1.0, 0.2, 0.45));
    for (a, b, expected) in [(whole(), less(), Slower), (less(), whole(), Faster)] {
        let c = compared(&run(vec![a]), &run(vec![b]));
        let p = &c.points[0];
        assert!(delivered(p).is_contradicted(), "{p:?}");
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, expected), "{p:?}");
        assert_eq!((p.change(), p.undecided()), (expected, false));
        let cpu = &c.subsystems[0];
        assert_eq!((cpu.undecided, cpu.slower + cpu.faster, cpu.no_difference_shown), (0, 1, 0));
    }
    // On the other side, or within the margin, the figure leads to another conclusion.
    for (seconds, first) in [(3.0, 3.0), (2.0, 0.99)] {
        let c = compared(&run(vec![whole()]), &run(vec![shared(seconds, first, 0.45)]));
        let p = &c.points[0];
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, Undecided), "{p:?}");
        let begins = "attainable: no difference shown; delivered: the ratio of the figures is ";
        assert!(p.reason.starts_with(begins), "{}", p.reason);
        assert!(p.undecided() && !p.judged() && delivered(p).resolution.is_some(), "{p:?}");
        assert_eq!(p.deciding().map(|(kind, _)| kind), Some(FigureKind::Delivered));
        let cpu = &c.subsystems[0];
        assert_eq!((cpu.undecided, cpu.no_difference_shown), (1, 0));
        assert_eq!((c.decision(), cpu.resolution), (Decision::Undecided, None));
        assert!(c.sentence.starts_with("Whether A or B is faster is undecided in CPU"), "{c:?}");
    }
    // Both within the margin: no doubt that no difference is shown.
    let near =
        |seconds, first| compared(&run(vec![whole()]), &run(vec![shared(seconds, first, 0.9)]));
    let c = near(0.5, 0.88);
    assert!(delivered(&c.points[0]).is_contradicted(), "{:?}", c.points[0]);
    assert_eq!(c.points[0].change(), NoDifferenceShown, "{:?}", c.points[0]);
}

#[test]
fn a_result_counts_by_both_figures() {
    let of = |headline, delivered: Option<Comparability>| {
        let mut p = one(rounds(flops(1), 1.0, 0.9), rounds(flops(1), 1.0, 0.9));
        p.headline.as_mut().unwrap().outcome = headline;
        let figure = p.delivered.take().unwrap();
        p.delivered = delivered.map(|outcome| ComparedFigure { outcome, ..figure });
        p.change()
    };
    // What is not known outweighs what is better: it may be slower.
    let all = [Slower, Undecided, NotComparable, Faster, NoDifferenceShown];
    for (i, first) in all.into_iter().enumerate() {
        assert_eq!(of(first, None), first);
        for second in all.into_iter().skip(i) {
            assert_eq!((of(first, Some(second)), of(second, Some(first))), (first, first));
        }
    }
}

#[test]
fn each_figure_has_its_smallest_detectable_slowdown() {
    // Others took a third of both, so that delivered has a wider margin than the machine.
    let (a, b) = (with_taken_time(0.3), |share| {
        judged_run(1.0, share, |t| {
            t.conditions.other_cpu_s = Some(0.3 * t.seconds);
        })
    });
    let (a, b) = (alone(a), |share| alone(b(share)));
    let c = compared(&a, &b(0.7));
    let cpu = &c.subsystems[0];
    assert!(cpu.delivered_resolution.unwrap() > 5.0 * cpu.resolution.unwrap(), "{cpu:?}");
    let delivered = delivered(&c.points[0]).resolution.unwrap();
    assert!((0.3..0.4).contains(&delivered), "{delivered}");
    // A smaller fall of delivered is not detected, and a larger one is.
    let outcome = |share| compared(&a, &b(0.7 * share)).points[0].change();
    assert_eq!(outcome(1.0 - 0.9 * delivered), NoDifferenceShown);
    assert_eq!(outcome(1.0 - 1.1 * delivered), Slower);
}

#[test]
fn the_ratio_is_that_of_the_figures() {
    // Two states: most rounds of one run and few of the other are in the faster one.
    let state = |fast: usize| uneven(move |i| [0.1, if i < fast { 20e9 } else { 10e9 }]);
    let n = flops(1).trials.len();
    let p = one(state(1), state(n - 1));
    let headline = p.headline.as_ref().unwrap();
    let [a, b] = [&p.a, &p.b].map(|n| n.as_ref().unwrap().summary.delivered.value.unwrap());
    assert!((headline.value - b / a).abs() < 1e-9 && b > 1.5 * a, "{p:?}");
    assert_ne!(headline.value, headline.ratio.median);
}

#[test]
fn rounds_of_a_shared_core_are_in_neither_the_figure_nor_its_ratio() {
    let whole = |shared: usize| {
        let mut m = rounds(flops(1), 1.0, 0.9);
        for (i, r) in m.trials.iter_mut().flat_map(|t| &mut t.rounds).enumerate() {
            r.issue_width = Some(if i < shared { 3.0 } else { 6.0 });
            if i < shared {
                r.attainable = r.attainable.map(|v| 0.6 * v);
            }
        }
        m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        m
    };
    let n = whole(0).all_rounds().count();
    let p = one(whole(0), whole(n - 3));
    let headline = p.headline.as_ref().unwrap();
    assert_eq!((p.figure, p.outcome()), (Some(FigureKind::Attainable), NoDifferenceShown), "{p:?}");
    assert!((headline.value - 1.0).abs() < 0.01 && (headline.ratio.median - 1.0).abs() < 0.01);
}

#[test]
fn of_a_time_less_is_better_and_it_is_called_a_latency() {
    let time = |share: f64| rounds(latency(1 << 20, 5e-9), 1.0, share);
    let p = one(time(0.4), time(0.95));
    assert_eq!((p.outcome(), p.change()), (NoDifferenceShown, Faster), "{p:?}");
    assert!(p.reason.contains("delivered latency is 57.9 % lower (better): "), "{}", p.reason);
    let p = one(time(0.95), time(0.4));
    assert_eq!(p.change(), Slower);
    assert!(p.reason.contains("delivered latency is 137.5 % higher (worse): "), "{}", p.reason);
}

#[test]
fn a_faster_machine_that_delivers_less_is_slower_first() {
    let p = one(
        super::sentence::undisturbed(1.0, [0.9; 2]),
        super::sentence::undisturbed(1.5, [0.3; 2]),
    );
    assert_eq!((p.outcome(), p.change()), (Faster, Slower));
    assert!(p.reason.starts_with("delivered is 50.0 % lower: "), "{}", p.reason);
    assert!(p.reason.contains("; attainable is 50.0 % higher (the machine): "), "{}", p.reason);
}

#[test]
fn complete_solves_are_compared_by_the_figure_of_the_first_screen() {
    let solves = |factor: f64| {
        let mut m = linpack(500, 2);
        for (i, t) in m.trials.iter_mut().enumerate() {
            t.value *= factor;
            // Half of all solves take twice the time.
            t.value /= if i % 2 == 0 { 1.0 } else { 2.0 };
            t.seconds = t.work / t.value;
        }
        m.summary = proofmark_model::summarise_trials(
            proofmark_model::Cut::Whole,
            m.unit,
            &m.trials,
            false,
        );
        m
    };
    let (a, b) = (solves(1.0), solves(0.5));
    let s = a.summary.clone().unwrap();
    assert_ne!(s.delivered.value, s.typical.value);
    assert_eq!(s.headline, FigureKind::Delivered);
    let p = one(a, b);
    assert_eq!((p.figure, p.delivered.is_none()), (Some(FigureKind::Delivered), true));
}
