//! Tests of results that could be judged, and of those that could not.

use proofmark_model::{Level, Series, testing};

use super::*;

/// The result with only `n` trials, too few for the median of one run to have an interval.
fn few(mut m: Measurement, n: usize) -> Measurement {
    m.trials.truncate(n);
    let s = m.summary.as_mut().unwrap();
    proofmark_model::testing::restate(s, s.value(), None);
    m
}

#[test]
fn the_resolution_is_the_smallest_slowdown_that_shows() {
    for p in compared(&healthy(), &healthy()).points {
        let h = p.headline.as_ref().unwrap();
        let (m, r) = (h.margin, h.resolution.unwrap());
        assert!(r >= 1.0 - 1.0 / (1.0 + m) && r < 1.2 * m, "{m} {r}");
    }
    let wide = |f: f64| with(alone(healthy()), |_, m| scaled(m, f));
    let c = compared(&alone(healthy()), &wide(1.0));
    let smallest = c.points[0].headline.as_ref().unwrap().resolution.unwrap();
    let just = |f: f64| compared(&alone(healthy()), &wide(f)).points[0].outcome();
    assert_eq!(just(1.0 - 0.9 * smallest), NoDifferenceShown);
    assert_eq!(just(1.0 - 1.1 * smallest), Slower);
}

/// The same result as a series with that many levels.
fn over_time(mut m: Measurement, levels: usize) -> Measurement {
    let level = Level { from_s: 0.0, until_s: 5.0, trials: 5, median: 1.0, ci95: None };
    let levels = vec![level; levels];
    m.series = Some(Series { levels, ..testing::series(testing::moment(0), 10) });
    m
}

#[test]
fn a_series_is_another_configuration_than_its_trials() {
    let both = run(vec![over_time(scaled(flops(1), 0.5), 1), flops(1)]);
    let c = compared(&both, &run(vec![flops(1)]));
    let outcomes: Vec<_> = c.points.iter().map(|p| (p.outcome(), p.name.as_str())).collect();
    let gone = (NotComparable, "1 CPU, avx2+fma, over time");
    assert_eq!(outcomes, [gone, (NoDifferenceShown, "1 CPU")]);
    let series = || over_time(flops(1), 1);
    assert_eq!(one(series(), series()).outcome(), NoDifferenceShown);
    for (m, n, side) in [(2, 1, "A"), (1, 3, "B")] {
        let p = one(over_time(flops(1), m), over_time(flops(1), n));
        assert_eq!((p.outcome(), p.gone()), (NotComparable, false));
        assert!(p.reason.contains(&format!("{side} has several levels")), "{}", p.reason);
    }
}

#[test]
fn a_check_that_could_judge_too_little_fails() {
    let too_little = |a: &Run, b: &Run| compared(a, b).too_little();
    assert_eq!(too_little(&healthy(), &healthy()), None);
    let seven = with(healthy(), |i, m| if i < 7 { few(m, 1) } else { m });
    assert!(too_little(&healthy(), &seven).unwrap().starts_with("only 5 of 12 results"));
    assert_eq!(compared(&healthy(), &seven).decision(), Decision::Undecided);
    let six = with(healthy(), |i, m| if i < 6 { few(m, 1) } else { m });
    let c = compared(&healthy(), &six);
    assert!(c.too_little().is_none() && c.decision() == Decision::Met);
    assert_eq!((c.subsystems[0].not_comparable, c.subsystems[0].gone), (6, 0));
    assert!(too_little(&run(Vec::new()), &healthy()).unwrap().contains("no usable result"));
    let none = with(healthy(), |_, m| found(m, "page_cache", Severity::Invalid, 0.9));
    assert_eq!(compared(&none, &healthy()).decision(), Decision::Undecided);
}

#[test]
fn of_few_trials_all_must_lie_apart() {
    let three = |factor| few(at(factor), 3);
    for (factor, outcome) in [(0.5, Slower), (2.0, Faster)] {
        let apart = "^no trial of one run lies within the other's range";
        expect(three(1.0), three(factor), outcome, apart);
        let ratio = one(three(1.0), three(factor)).headline.unwrap().ratio;
        assert!(ratio.ci95.is_none() && (ratio.median - factor).abs() < 0.01, "{ratio:?}");
    }
    let same = "the range of so few trials contains 1";
    expect(three(1.0), three(1.0), NoDifferenceShown, same);
    assert!(one(three(1.0), three(1.0)).headline.unwrap().resolution.is_some());
    let mut one_up = three(0.5);
    one_up.trials[1].value *= 2.0;
    expect(three(1.0), one_up, NoDifferenceShown, "");
    let too_few = "3 trials in A and 2 trials in B are too few";
    expect(three(1.0), few(at(0.5), 2), NotComparable, too_few);
    assert!(!one(three(1.0), few(at(0.5), 2)).gone());
}

#[test]
fn what_others_made_slower_is_undecided_and_what_the_machine_did_fails() {
    let with_check = |check: &'static str, factor| suspect(at(factor), check, 0.5);
    let decided = |b: Measurement| {
        let c = compared(&run(vec![at(1.0)]), &run(vec![b]));
        let p = &c.points[0];
        assert_eq!((p.change(), p.is_worse()), (Slower, true), "{p:?}");
        assert_eq!(p.fails(), p.disturbances.is_empty(), "{p:?}");
        (c.decision(), p.disturbances.clone())
    };
    let disturbed = (Decision::Undecided, vec!["other_cpu".to_owned()]);
    assert_eq!(decided(with_check("other_cpu", 0.5)), disturbed);
    // It does not explain as much, or is a limit of the machine, or its clock fell as well.
    let fails = (Decision::Missed, Vec::new());
    assert_eq!(decided(with_check("other_cpu", 0.1)), fails);
    assert_eq!(decided(with_check("throttled", 0.5)), fails);
    let clocked = each_condition(with_check("other_cpu", 0.3), |_, c| c.clock_hz = Some(2.4e9));
    assert_eq!(decided(clocked), fails);
    // One that fails decides.
    let a = run(vec![at(1.0), iops(1)]);
    let b = run(vec![with_check("other_cpu", 0.5), scaled(iops(1), 0.5)]);
    assert_eq!(compared(&a, &b).decision(), Decision::Missed);
}
