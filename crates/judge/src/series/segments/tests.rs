//! Tests with simulated series with known levels.

use super::*;
use crate::testing::*;

/// `n` values of `noise` around 100 with the change of `shape` in percent.
fn series(n: usize, shape: impl Fn(usize) -> f64, mut noise: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|i| 100.0 + shape(i) + noise()).collect()
}

/// Number of 200 series of one level in which a change is found.
fn wrong(n: usize, shape: impl Fn(usize) -> f64, mut noise: impl FnMut() -> f64) -> usize {
    (0..200).filter(|_| !cuts(&series(n, &shape, &mut noise)).is_empty()).count()
}

const FEW: usize = 10;

#[test]
fn noise_of_any_shape_is_no_change() {
    let mut random = xorshift();
    let flat = |_| 0.0;
    for sd in [0.1, 2.0, 10.0] {
        let found = wrong(200, flat, || sd * normal(&mut random));
        assert!(found < FEW, "white, sd {sd} %: {found}");
    }
    for n in [10, 30, 60] {
        let found = wrong(n, flat, || 3.0 * normal(&mut random));
        assert!(found < FEW, "white, {n} trials: {found}");
    }
    // Slow-downs below a best rate, a few of them large.
    let found = wrong(200, flat, || 2.0 * random().ln());
    assert!(found < FEW, "skewed: {found}");
    // Two states that change from trial to trial.
    let found = wrong(200, flat, || if random() < 0.5 { -30.0 } else { random() });
    assert!(found < FEW, "two states: {found}");
    let found = wrong(200, flat, || if random() < 0.1 { -50.0 } else { 0.5 * normal(&mut random) });
    assert!(found < FEW, "outliers: {found}");
}

#[test]
fn noise_that_lasts_is_seldom_a_change() {
    let mut random = xorshift();
    for sd in [0.3, 2.0] {
        let mut last = 0.0;
        let found = wrong(
            300,
            |_| 0.0,
            || {
                last = 0.5 * last + sd * normal(&mut random);
                last
            },
        );
        assert!(found < FEW, "sd {sd}: {found}");
    }
}

#[test]
fn a_slow_drift_is_no_change() {
    let mut random = xorshift();
    for percent in [-3.0, 1.0] {
        for sd in [0.02, 0.3, 1.0] {
            let drift = |i: usize| percent * i as f64 / 300.0;
            let found = wrong(300, drift, || sd * normal(&mut random));
            assert!(found < FEW, "{percent} % with sd {sd}: {found}");
        }
    }
}

#[test]
fn one_wild_trial_is_no_change() {
    let mut random = xorshift();
    for at in [0, 7, 150, 199] {
        for wild in [-60.0, 40.0] {
            let shape = |i: usize| if i == at { wild } else { 0.0 };
            let found = wrong(200, shape, || 0.5 * normal(&mut random));
            assert!(found < FEW, "{wild} at {at}: {found}");
        }
    }
}

/// Number of 50 series in which all changes, and no more, are found within `off` trials.
fn right(n: usize, shape: &dyn Fn(usize) -> f64, truth: &[usize], off: usize, sd: f64) -> usize {
    let mut random = xorshift();
    (0..50)
        .filter(|_| {
            let found = cuts(&series(n, shape, || sd * normal(&mut random)));
            found.len() == truth.len()
                && found.iter().zip(truth).all(|(f, t)| f.abs_diff(*t) <= off)
        })
        .count()
}

#[test]
fn steps_above_the_noise_are_found_where_they_are() {
    let step = |at: usize, by: f64| move |i: usize| if i >= at { by } else { 0.0 };
    assert!(right(300, &step(150, 2.0), &[150], 2, 0.5) >= 48);
    assert!(right(300, &step(40, -2.0), &[40], 4, 1.0) >= 40);
    assert!(right(600, &step(590, -20.0), &[590], 1, 1.0) >= 48);
    let quota =
        |from: usize, to: usize| move |i: usize| if (from..to).contains(&i) { -50.0 } else { 0.0 };
    assert_eq!(right(600, &quota(200, 400), &[200, 400], 1, 1.0), 50);
    assert_eq!(right(30, &quota(10, 20), &[10, 20], 1, 2.0), 50);
    assert!(right(300, &quota(100, 106), &[100, 106], 1, 1.0) >= 48, "a dip of six trials");
    let stairs = |i: usize| -3.0 * (i / 100) as f64;
    assert!(right(500, &stairs, &[100, 200, 300, 400], 2, 0.5) >= 45);
    let largest = |i: usize| if i > 3000 { -2.0 } else { 0.0 };
    let mut random = xorshift();
    assert_eq!(cuts(&series(4096, largest, || 0.5 * normal(&mut random))).len(), 1);
    // On top of a drift.
    let both = |i: usize| 2.0 * i as f64 / 300.0 - if i >= 100 { 5.0 } else { 0.0 };
    assert!(right(300, &both, &[100], 1, 0.3) >= 48);
}

#[test]
fn a_trial_between_two_levels_is_no_level() {
    let shape = |i: usize| match i {
        0..15 => 0.0,
        15 => -25.0,
        _ => -50.0,
    };
    assert_eq!(right(30, &shape, &[15], 1, 1.0), 50);
}

#[test]
fn few_equal_or_impossible_values_have_no_change() {
    assert!(cuts(&[]).is_empty() && cuts(&[1.0; 9]).is_empty() && cuts(&[7.0; 500]).is_empty());
    let mut odd = vec![1.0; 50];
    odd[3] = f64::NAN;
    assert!(cuts(&odd).is_empty());
    let two: Vec<f64> = (0..60).map(|i| if i < 30 { 1.0 } else { 2.0 }).collect();
    assert_eq!(cuts(&two), [30], "without any noise");
    assert!(cuts(&vec![0.0; 40]).is_empty());
}
