//! Tests of margins: what is noise, and what is a difference.

use super::sentence::undisturbed;
use super::*;

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
        let all = alone(all);
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
    let fallen = with(alone(run(points())), |i, m| scaled(m, 0.7 * (1.0 + 0.4 * noise[i])));
    let c = compared(&alone(run(points())), &fallen);
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
fn a_stall_that_no_round_had_does_not_widen_the_margin() {
    // The interval of what was delivered allows for one, on its slow side.
    let (a, b) = (undisturbed(1.0, [1.0; 2]), undisturbed(1.0, [0.8; 2]));
    let half = a.summary.as_ref().unwrap().delivered.half_width().unwrap();
    assert!(half > 0.05, "{half}");
    let c = compared(&alone(run(vec![a])), &alone(run(vec![b])));
    let p = &c.points[0];
    let delivered = p.delivered.as_ref().unwrap();
    assert_eq!((p.outcome(), delivered.outcome), (NoDifferenceShown, Slower), "{p:?}");
    assert!(delivered.margin < 0.05, "{delivered:?}");
}

#[test]
fn two_runs_of_a_virtual_machine_may_differ_by_more() {
    // 14 % of the CPU, 42 % of memory; a quarter of that without a hypervisor, and at least 4 %.
    let slower = |factor: f64| {
        let of = |factor| vec![at(factor), scaled(stream("triad", 1), factor)];
        let outcomes_of = |machine: fn(Run) -> Run| {
            outcomes(&compared(&machine(run(of(1.0))), &machine(run(of(factor)))))
        };
        [outcomes_of(|run| run), outcomes_of(alone)]
    };
    assert_eq!(slower(0.9), [[NoDifferenceShown; 2], [Slower, NoDifferenceShown]]);
    assert_eq!(slower(0.82), [[Slower, NoDifferenceShown], [Slower; 2]]);
    assert_eq!(slower(0.6), [[Slower, NoDifferenceShown], [Slower; 2]]);
    assert_eq!(slower(0.55), [[Slower; 2]; 2]);
    // A complete solve by several threads waits for the slowest.
    let solve = |factor: f64| {
        let [a, b] = [1.0, factor].map(|f| run(vec![scaled(linpack(500, 2), f)]));
        compared(&a, &b).points[0].outcome()
    };
    assert_eq!([0.6, 0.55].map(solve), [NoDifferenceShown, Slower]);
}

#[test]
fn a_margin_that_was_given_is_called_that() {
    let (a, b) = (alone(run(vec![at(1.0)])), alone(run(vec![at(0.97)])));
    let why = |margin| {
        let options = Options { margin };
        compare(Named::new('A', "a", &a), Named::new('B', "b", &b), options).points[0]
            .reason
            .clone()
    };
    let derived = "the whole interval is below 1, but within the margin of 4.0 % (a ratio of 0.960): \
                   two runs of one machine differ as much";
    assert_eq!(why(None), derived);
    let given = "the whole interval is below 1, but within the margin of 10.0 % (a ratio of 0.900) that \
                 was given";
    assert_eq!(why(Some(0.1)), given);
}
