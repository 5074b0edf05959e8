//! Which of the figures changed: attainable is the machine, delivered the run's share of it.

use proofmark_model::{Cut, summarise_trials};

use super::*;
use crate::{judge, raw_of};

/// A round a trial: the machine at `speed` of its usual rate, of which the run got `share`.
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

/// CPU and memory points, with a change of their conditions, judged.
fn judged_run(speed: f64, share: f64, change: impl Fn(&mut proofmark_model::Trial)) -> Run {
    let points = [flops(1), flops(2), iops(1), iops(2), stream("triad", 1), stream("triad", 2)];
    let all = points.map(|m| each(rounds(m, speed, share), |_, t| change(t)));
    judge(&raw_of(&run(all.to_vec())))
}

fn quiet() -> Run {
    judged_run(1.0, 0.99, |_| ())
}

/// Others took this share of the CPU time.
fn thief(taken: f64) -> Run {
    judged_run(1.0, 1.0 - taken, move |t| t.conditions.other_cpu_s = Some(taken * t.seconds))
}

fn margin(p: &ComparedPoint) -> f64 {
    p.headline.as_ref().unwrap().margin
}

fn delivered(p: &ComparedPoint) -> &ComparedFigure {
    p.delivered.as_ref().unwrap()
}

#[test]
fn a_quota_takes_of_delivered_and_not_of_attainable() {
    let mut b = judged_run(1.0, 0.5, |t| t.conditions.throttled_s = Some(0.5 * t.seconds));
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
        assert!((delivered(p).ratio.median - 0.505).abs() < 0.01, "{p:?}");
        let kind = p.figure.unwrap().as_str();
        let said = format!(
            "^{kind}: no difference shown; delivered is 50 % lower: in B a CPU quota of 0.5 CPUs held"
        );
        expect_words(&p.workload, &p.reason, "", &said);
    }
    assert_eq!(kinds, [FigureKind::Attainable, FigureKind::Attainable, FigureKind::Typical]);
    assert!(c.fails() && c.too_little().is_none());
    let cpu = &c.subsystems[0];
    assert_eq!((cpu.slower, cpu.no_difference_shown), (4, 0));
    // The other way round delivered is faster, since A was limited.
    let back = compared(&b, &quiet());
    assert!(!back.fails() && back.points.iter().all(|p| p.change() == Faster));
    assert!(
        back.points[0].reason.contains("in A a CPU quota of 0.5 CPUs"),
        "{}",
        back.points[0].reason
    );
}

#[test]
fn rounds_too_short_to_show_a_quota_are_compared_as_what_it_leaves() {
    let mut b = judged_run(1.0, 0.95, |t| t.conditions.throttled_s = Some(0.5 * t.seconds));
    b.host = with_quota(b.host.clone(), 0.5);
    b = judge(&raw_of(&b));
    let p = &compared(&quiet(), &b).points[0];
    assert!((delivered(p).ratio.median - 0.505).abs() < 0.01, "{p:?}");
    assert_eq!(delivered(p).outcome, Slower);
}

#[test]
fn a_slower_machine_is_named_as_that() {
    let c = compared(&quiet(), &judged_run(0.7, 0.99, |_| ()));
    for p in &c.points {
        assert_eq!((p.outcome(), delivered(p).outcome), (Slower, Slower), "{p:?}");
        let kind = p.figure.unwrap().as_str();
        let said = format!(
            "^{kind} is 30 % lower (the machine), and delivered with it: in B ... 2.80 GHz"
        );
        expect_words(&p.workload, &p.reason, "", &said);
    }
    // What was taken as well explains the rest of delivered, and nothing of the machine.
    let both = judged_run(0.7, 0.5, |t| {
        t.conditions.steal_s = Some(0.5 * t.seconds);
        t.conditions.swapped_pages = Some(1000);
    });
    let p = &compared(&quiet(), &both).points[0];
    let (machine, share) = p.reason.split_once("; delivered is 65 % lower: ").unwrap();
    assert!(
        machine.contains("(the machine): in B")
            && machine.contains("2.80 GHz")
            && !machine.contains("hypervisor")
            && !machine.contains("swapped")
    );
    assert!(share.contains("in B the hypervisor took 50"), "{share}");
}

#[test]
fn a_thief_on_one_side_changes_delivered_alone() {
    let (calm, c) = (compared(&quiet(), &quiet()), compared(&quiet(), &thief(0.4)));
    for (p, still) in c.points.iter().zip(&calm.points) {
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, Slower), "{p:?}");
        assert_eq!(margin(p), margin(still), "it is no noise of the machine: {p:?}");
        let one = p.params.threads() == 1;
        assert!(!one || p.reason.contains("in B a competing process took 40"), "{}", p.reason);
    }
}

#[test]
fn what_others_took_on_both_sides_widens_the_margin_of_delivered_alone() {
    let (calm, c) = (compared(&quiet(), &quiet()), compared(&thief(0.3), &thief(0.45)));
    for (p, still) in c.points.iter().zip(&calm.points).filter(|(p, _)| p.params.threads() == 1) {
        assert_eq!(margin(p), margin(still), "{p:?}");
        assert!(delivered(p).margin > 0.29, "{p:?}");
        assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, NoDifferenceShown));
    }
    // As much as could hide a factor of 1.67 keeps delivered from being judged, and not the machine.
    let c = compared(&thief(0.4), &thief(0.5));
    let p = &c.points[0];
    assert_eq!((p.outcome(), delivered(p).outcome), (NoDifferenceShown, NotComparable), "{p:?}");
    assert!(p.judged() && delivered(p).resolution.is_none());
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
