//! Tests of results that the time limit of a run left out.

use proofmark_model::{LeftOut, key};

use super::*;

/// The run without the results at these places, which its time limit left out of its plan.
fn without(mut run: Run, places: &[usize]) -> Run {
    run.plan.policy.budget_s = Some(45.0);
    for place in places.iter().rev() {
        let m = run.measurements.remove(*place);
        run.plan.points.retain(|p| *p != m.point());
        run.plan.left_out.insert(0, m.point());
    }
    run
}

/// The run in which no time was left for the first result of its plan.
fn short_of_time(run: Run) -> Run {
    let mut run = with(run, |i, mut m| {
        if i == 0 {
            (m.trials, m.summary, m.verdict) = (Vec::new(), None, Verdict::NotRun);
            m.ending = Ending::LeftOut { needs_s: 12.0 };
        }
        m
    });
    run.plan.policy.budget_s = Some(45.0);
    run
}

#[test]
fn what_the_plan_left_out_for_its_time_limit_is_not_gone() {
    let c = compared(&healthy(), &without(healthy(), &[0, 3]));
    let left: Vec<_> = c.points.iter().filter(|p| p.is_left_out()).collect();
    assert_eq!(left.len(), 2, "{c:?}");
    for p in left {
        assert_eq!((p.left_out, p.gone(), p.fails()), (Some(LeftOut::Plan), false, false));
        assert_eq!(p.reason, "left out in B for its time limit of 45 s");
        assert!(!p.not_comparable() && !p.judged());
    }
    assert_eq!((c.subsystems[0].not_measured, c.subsystems[0].gone), (2, 0));
    assert_eq!((c.subsystems[0].not_comparable, c.decision()), (0, Decision::Met));
    assert!(
        c.sentence.ends_with("2 of 12 results are left out: 2 not measured."),
        "{}",
        c.sentence
    );
    // In the other direction A has no such result to lose.
    let back = compared(&without(healthy(), &[0, 3]), &healthy());
    assert!(back.points.iter().all(|p| p.left_out.is_none()), "{back:?}");
    let reason = "only in B: A left it out for its time limit of 45 s";
    assert_eq!(back.points.iter().filter(|p| p.reason == reason).count(), 2, "{back:?}");
    // Others that are missing are gone all the same.
    let mut both = without(healthy(), &[0]);
    both.measurements.remove(0);
    let c = compared(&healthy(), &both);
    assert_eq!((c.subsystems[0].not_measured, c.subsystems[0].gone), (1, 1));
    assert_eq!(c.decision(), Decision::Missed);
}

#[test]
fn more_than_half_left_out_is_too_little_to_judge() {
    let c = compared(&healthy(), &without(healthy(), &[0, 1, 2, 3, 4, 5, 6]));
    let why = c.too_little().unwrap();
    assert!(why.starts_with("only 5 of 12 results"), "{why}");
    assert!(why.ends_with("the time limit of B left out 7"), "{why}");
    assert_eq!(c.decision(), Decision::Undecided);
}

#[test]
fn what_had_no_time_during_the_run_is_undecided_since_a_slowdown_may_be_why() {
    let c = compared(&healthy(), &short_of_time(healthy()));
    let p = &c.points[0];
    assert_eq!((p.left_out, p.gone(), p.fails()), (Some(LeftOut::Run), false, false));
    let reason = "left out in B for its time limit of 45 s, which left no time for it (about 12 s)";
    assert_eq!((p.reason.as_str(), c.decision()), (reason, Decision::Undecided));
    assert_eq!((c.subsystems[0].not_measured, c.subsystems[0].gone), (1, 0));
}

#[test]
fn sizes_that_the_machine_set_and_fewer_iterations_are_recognised() {
    let mut larger = without(healthy(), &[6]);
    let point = &mut larger.plan.left_out[0];
    let size = point.params.get(key::ARRAY_SIZE).unwrap();
    point.params = point.params.clone().with(key::ARRAY_SIZE, 2 * size);
    let c = compared(&healthy(), &larger);
    assert_eq!(c.points[6].left_out, Some(LeftOut::Plan), "{:?}", c.points[6]);
    let of = |iterations: u64| {
        let mut m = flops(1);
        m.params = m.params.with(key::ITERATIONS, iterations);
        let mut run = run(vec![m.clone()]);
        run.plan.points = vec![m.point()];
        run
    };
    let (whole, mut part) = (of(1_000_000_000), of(100_000_000));
    assert!(compared(&whole, &part).points[0].gone(), "without a time limit");
    part.plan.policy.budget_s = Some(45.0);
    assert!(compared(&whole, &part).points[0].gone(), "the user's own number");
    let line = |to: &str| {
        let message = format!(
            "for the budget of 45 s: iterations of cpu.flops 1000000000 -> {to}, iterations of \
             cpu.iops 1000000000 -> 100000000: less work than published"
        );
        Finding::new("plan.budget", Severity::Note, message, "")
    };
    part.findings = vec![line("1000000000")];
    assert!(compared(&whole, &part).points[0].gone(), "another number");
    part.findings = vec![line("100000000")];
    let p = compared(&whole, &part).points[0].clone();
    assert_eq!((p.left_out, p.gone()), (Some(LeftOut::Plan), false), "{p:?}");
    assert!(p.reason.contains("measured 100\u{202f}000\u{202f}000 iterations"), "{}", p.reason);
}

#[test]
fn sizes_that_the_user_chose_are_not_those_that_the_time_limit_left_out() {
    let of = |gib: u64| with_param(stream("triad", 1), "array_size", gib << 30);
    let a = run(vec![flops(1), of(4)]);
    for measured in [vec![1], vec![1, 3]] {
        let all = [flops(1)].into_iter().chain(measured.iter().map(|gib| of(*gib)));
        let mut b = run(all.collect());
        b.plan.policy.budget_s = Some(45.0);
        b.plan.left_out = vec![of(2).point()];
        let c = compared(&a, &b);
        let p = &c.points[1];
        assert_eq!((p.left_out, p.gone(), p.reason.as_str()), (None, true, "only in A"), "{p:?}");
        assert_eq!(c.decision(), Decision::Missed);
    }
    // Two sizes of A cannot both be the one that the machine of B set.
    let two = run(vec![flops(1), of(4), of(8)]);
    let mut b = run(vec![flops(1)]);
    b.plan.policy.budget_s = Some(45.0);
    b.plan.left_out = vec![of(2).point()];
    assert!(compared(&two, &b).points[1..].iter().all(|p| p.left_out.is_none() && p.gone()));
    b.plan.left_out = vec![of(4).point()];
    let c = compared(&two, &b);
    assert_eq!([1, 2].map(|i| c.points[i].left_out), [Some(LeftOut::Plan), None], "{c:?}");
}

#[test]
fn an_invalid_result_that_the_other_run_left_out_counts_as_invalid() {
    let invalid = with(healthy(), |i, m| match i {
        0 => found(m, "page_cache", Severity::Invalid, 0.9),
        _ => m,
    });
    for b in [without(healthy(), &[0]), short_of_time(healthy())] {
        let c = compared(&invalid, &b);
        assert_eq!((c.points[0].left_out, c.subsystems[0].not_measured), (None, 0));
        assert!(c.sentence.ends_with("1 of 12 results is left out: 1 invalid."), "{}", c.sentence);
        assert!(!c.points[0].fails() && !c.points[0].reason.starts_with("left out"), "{c:?}");
    }
}
