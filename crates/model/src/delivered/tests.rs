//! Coverage of the interval with the rule that stops by it, on machines whose noise is known.

use super::*;
use crate::LOOKS;
use crate::testing::Random;

/// A machine: the time of a round as a multiple of the usual one, if its work is fixed. The inverse
/// is its work as a share of the usual. A stall adds that many rounds of time, or takes that much
/// of its time.
type Machine = dyn Fn(&mut Random, Fixed) -> Done;

fn slowed(factor: f64, fixed: Fixed) -> Done {
    match fixed {
        Fixed::Time => Done { work: 1.0 / factor, seconds: 1.0 },
        Fixed::Work => Done { work: 1.0, seconds: factor },
    }
}

fn stalled(share: f64, rounds: f64) -> impl Fn(&mut Random, Fixed) -> Done {
    move |random, fixed| {
        let noise = 1.0 + 0.01 * random.normal();
        let stall = if random.uniform() < share { rounds } else { 0.0 };
        match fixed {
            Fixed::Time => Done { work: noise * (1.0 - stall).max(0.005), seconds: 1.0 },
            Fixed::Work => Done { work: 1.0, seconds: noise + stall },
        }
    }
}

/// Returns the interval at the first look that is narrow enough, else at the last.
fn stopped(rounds: &[Done], fixed: Fixed, target: f64) -> [f64; 2] {
    let at = |n: usize| Figure::at(&rounds[..n], fixed);
    let narrow = |n: &usize| at(*n).half_width() <= target;
    let n = LOOKS.into_iter().find(narrow).unwrap_or(LOOKS[2]);
    at(n).ends
}

struct Figure {
    value: f64,
    ends: [f64; 2],
}

impl Figure {
    fn at(rounds: &[Done], fixed: Fixed) -> Self {
        let unit = Unit::BytePerSecond;
        Self { value: delivered(unit, rounds), ends: interval(unit, fixed, rounds).unwrap() }
    }

    fn half_width(&self) -> f64 {
        (self.ends[1] - self.ends[0]) / 2.0 / self.value
    }
}

/// Returns the share of runs whose interval holds all work over all time of a very long run.
fn coverage(fixed: Fixed, target: f64, machine: &Machine) -> f64 {
    const RUNS: usize = 2000;
    let mut random = Random(5);
    let long: Vec<Done> = (0..200_000).map(|_| machine(&mut random, fixed)).collect();
    let truth = delivered(Unit::BytePerSecond, &long);
    let holds = |_: &usize| {
        let rounds: Vec<Done> = (0..LOOKS[2]).map(|_| machine(&mut random, fixed)).collect();
        let [low, high] = stopped(&rounds, fixed, target);
        low <= truth && truth <= high
    };
    (0..RUNS).filter(holds).count() as f64 / RUNS as f64
}

const BOTH: [Fixed; 2] = [Fixed::Time, Fixed::Work];

/// Asserts a coverage of at least `least` for every target and kind of round.
#[track_caller]
fn expect_coverage(name: &str, least: f64, machine: &Machine) {
    for fixed in BOTH {
        for target in [0.005, 0.03, 0.05] {
            let share = coverage(fixed, target, machine);
            println!("{name}, {fixed:?}, target {target}: {share}");
            assert!(share >= least, "{name}, {fixed:?} fixed, target {target}: {share}");
        }
    }
}

#[test]
fn the_interval_holds_what_a_quiet_machine_delivers() {
    for noise in [0.003, 0.03] {
        let quiet = move |random: &mut Random, fixed| slowed(1.0 + noise * random.normal(), fixed);
        expect_coverage(&format!("noise of {noise}"), 0.95, &quiet);
    }
}

#[test]
fn the_interval_holds_what_is_delivered_with_heavy_tails() {
    for spread in [0.3, 0.7] {
        let lognormal =
            move |random: &mut Random, fixed| slowed((spread * random.normal()).exp(), fixed);
        expect_coverage(&format!("lognormal {spread}"), 0.93, &lognormal);
    }
    // The time of a round has a variance, and no third moment.
    let pareto = |random: &mut Random, fixed| {
        slowed(1.0 + 0.3 * ((1.0 - random.uniform()).powf(-1.0 / 2.5) - 1.0), fixed)
    };
    expect_coverage("Pareto 2.5", 0.93, &pareto);
}

#[test]
fn the_interval_holds_what_is_delivered_with_rare_stalls() {
    for share in [0.05, 0.1, 0.15, 0.2, 0.3] {
        for rounds in [0.25, 0.5, 0.8] {
            let name = format!("{share} of rounds stall for {rounds} of one");
            expect_coverage(&name, 0.93, &stalled(share, rounds));
        }
    }
}

/// No interval of 20 rounds can hold this: more than one run in ten meets no stall at all. Then
/// nothing shows how long stalls last.
#[test]
fn stalls_of_whole_rounds_are_held_in_most_runs() {
    for (share, rounds, least) in [(0.1, 1.0, 0.87), (0.2, 1.0, 0.93), (0.2, 3.0, 0.93)] {
        let name = format!("{share} of rounds stall for {rounds} of one");
        expect_coverage(&name, least, &stalled(share, rounds));
    }
}

#[test]
fn order_statistics_of_rounds_do_not_hold_it() {
    let machine = stalled(0.1, 0.5);
    let mut random = Random(5);
    let truth = 0.95;
    let holds = |_: &usize| {
        let rounds: Vec<f64> = (0..20).map(|_| machine(&mut random, Fixed::Time).rate()).collect();
        let [low, high] = crate::median_interval(&rounds).unwrap();
        low <= truth && truth <= high
    };
    let share = (0..2000).filter(holds).count() as f64 / 2000.0;
    assert!(share < 0.5, "{share}: the test above would show nothing");
}

#[test]
fn a_time_has_the_inverse_of_the_rate() {
    let rounds: Vec<Done> =
        (0..8).map(|i| Done { work: 100.0, seconds: 1.0 + 0.01 * f64::from(i) }).collect();
    let of = |unit| interval(unit, Fixed::Work, &rounds).unwrap();
    let ([low, high], [least, most]) = (of(Unit::OpPerSecond), of(Unit::Second));
    assert_eq!([least, most], [1.0 / high, 1.0 / low]);
    let value = delivered(Unit::Second, &rounds);
    assert!(least < value && value < most, "{least} {value} {most}");
}

#[test]
fn a_round_may_do_nothing_but_not_all_but_one() {
    let usual = Done { work: 1.0, seconds: 1.0 };
    let of = |rounds: &[Done]| interval(Unit::OpPerSecond, Fixed::Time, rounds);
    assert_eq!(of(&[usual; 2]), None);
    assert!(of(&[usual; 3]).is_some());
    let idle = Done { work: 0.0, seconds: 1.0 };
    assert_eq!(of(&[usual, idle, idle]), None);
    let [low, high] = of(&[usual, usual, usual, idle]).unwrap();
    assert!(low < 0.75 && 0.75 < high, "{low} {high}");
    assert_eq!(of(&[usual, usual, Done { work: f64::NAN, seconds: 1.0 }]), None);
}
