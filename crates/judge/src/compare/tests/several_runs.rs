//! Several runs of a side, and the means of subsystems.

use proofmark_model::{Timestamp, check_id};

use super::*;

/// Alternating runs of one machine: B has each result at `factor`, with noise of its own.
fn sides(results: &[Measurement], factor: f64, noise: f64) -> [Several; 2] {
    [0, 1].map(|side| {
        let runs = (0..5_usize).map(|i| {
            let noisy = |(k, m): (usize, &Measurement)| {
                let own = 1.0 + noise * (((7 * i + 3 * k + 2 * side) % 5) as f64 - 2.0) / 2.0;
                scaled(m.clone(), if side == 1 { factor * own } else { own })
            };
            let mut one = run(results.iter().enumerate().map(noisy).collect());
            one.host.os.host_name = Probe::known("one".to_owned(), "test");
            one.started = Timestamp::from_millis(60_000 * (2 * i + side) as i64).unwrap();
            one
        });
        Several::new(runs.collect()).unwrap()
    })
}

fn compared([a, b]: &[Several; 2]) -> Comparison {
    compare(Named::several('A', "a", a), Named::several('B', "b", b), Options::default())
}

fn mean(c: &Comparison, subsystem: Subsystem) -> Option<&ComparedPoint> {
    c.points.iter().find(|p| p.mean_of.is_some() && p.subsystem == subsystem)
}

#[test]
fn a_mean_shows_what_no_result_does() {
    let all: Vec<Measurement> = (1..=12).map(flops).collect();
    let c = compared(&sides(&all, 0.93, 0.06));
    assert!(c.points.iter().filter(|p| p.mean_of.is_none()).all(|p| !p.change().differs()));
    let p = mean(&c, Subsystem::Cpu).unwrap();
    assert_eq!((p.mean_of, p.change(), p.fails()), (Some(12), Slower, true), "{p:?}");
    assert!(p.reason.contains("the geometric mean of the results"), "{}", p.reason);
    assert_eq!(c.decision(), Decision::Missed);
    assert!(c.sentence.contains("by the mean of all results, B has 0.93 of A's CPU"));
    assert!(c.between_runs.contains("A: 5 runs; B: 5 runs"), "{}", c.between_runs);
    // Equal machines.
    let c = compared(&sides(&all, 1.0, 0.06));
    assert_eq!(mean(&c, Subsystem::Cpu).unwrap().change(), NoDifferenceShown);
    assert_eq!(c.decision(), Decision::Met);
    // Two single runs have no mean: how they vary is not known.
    let [a, b] = sides(&all, 0.93, 0.06);
    let c = super::compared(&a.runs()[0], &b.runs()[0]);
    assert!(mean(&c, Subsystem::Cpu).is_none() && c.between_runs.contains("is not known"));
}

#[test]
fn a_result_that_others_disturbed_is_not_in_the_mean() {
    let all: Vec<Measurement> = (1..=6).map(flops).collect();
    let [a, b] = sides(&all, 0.93, 0.01);
    let disturbed = b.runs().iter().map(|run| {
        with(run.clone(), |k, m| match k {
            0..4 => suspect(scaled(m, 0.5), check_id::OTHER_CPU, 0.5),
            _ => m,
        })
    });
    let b = Several::new(disturbed.collect()).unwrap();
    let c = compared(&[a, b]);
    let p = mean(&c, Subsystem::Cpu).unwrap();
    assert_eq!(p.mean_of, Some(2));
    assert!((p.headline.as_ref().unwrap().value - 0.93).abs() < 0.02, "{p:?}");
}

#[test]
fn wild_runs_show_nothing() {
    let usual = sides(&[flops(1)], 1.0, 0.01);
    let wild = usual[1].runs().iter().enumerate().map(|(i, run)| {
        with(run.clone(), |_, m| scaled(m, if i % 2 == 0 { 1e150 } else { 1e-150 }))
    });
    let c = compared(&[usual[0].clone(), Several::new(wild.collect()).unwrap()]);
    for p in c.points.iter().filter(|p| p.headline.is_some()) {
        let [low, high] = p.headline.as_ref().unwrap().ratio.ci95.unwrap();
        assert!(!p.change().differs() && low < 1.0 && high > 1.0, "{p:?}");
    }
}
