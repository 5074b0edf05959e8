//! Coverage of the interval with the rule that stops by it, on machines whose noise is known.

use super::*;
use crate::Trial;
use crate::testing::Random;

/// Windows of a round, and seconds from the start of one round of a configuration to its next.
/// Other configurations of its subsystem run in between.
const WINDOWS: usize = 60;
const SPACING_S: f64 = 3.0;
const ROUND_S: f64 = 0.1;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    values.sum::<f64>() / WINDOWS as f64
}

/// Rounds that differ by 3 %, and their windows by 5 %, both skewed.
fn lognormal(random: &mut Random, n: usize) -> Vec<f64> {
    let round = |random: &mut Random| {
        let level = 0.03 * random.normal();
        mean((0..WINDOWS).map(|_| (level + 0.05 * random.normal()).exp()))
    };
    (0..n).map(|_| round(random)).collect()
}

/// Windows that vary by 5 %, each similar to the one before.
fn autocorrelated(random: &mut Random, n: usize) -> Vec<f64> {
    const PHI: f64 = 0.8;
    let round = |random: &mut Random| {
        let mut x = random.normal();
        mean((0..WINDOWS).map(|_| {
            x = PHI * x + (1.0 - PHI * PHI).sqrt() * random.normal();
            1.0 + 0.05 * x
        }))
    };
    (0..n).map(|_| round(random)).collect()
}

/// A machine in one of two states, the upper one for that share of the time, each for a while.
fn two_states(random: &mut Random, n: usize, (upper, dwell_s): (f64, f64)) -> Vec<f64> {
    let flips = |is_upper: bool, seconds: f64| {
        // Stays are longer in the state that holds more often.
        let stay_s = 2.0 * dwell_s * if is_upper { upper } else { 1.0 - upper };
        1.0 - (-seconds / stay_s).exp()
    };
    let mut is_upper = random.uniform() < upper;
    let mut rounds = Vec::with_capacity(n);
    for _ in 0..n {
        let step = ROUND_S / WINDOWS as f64;
        rounds.push(mean((0..WINDOWS).map(|_| {
            is_upper ^= random.uniform() < flips(is_upper, step);
            (if is_upper { 1.0 } else { 0.55 }) * (1.0 + 0.03 * random.normal())
        })));
        // The state after the others' turns: of a chain with two states, exactly.
        let relaxed = 1.0 - (-SPACING_S / (2.0 * dwell_s * upper * (1.0 - upper))).exp();
        if random.uniform() < relaxed {
            is_upper = random.uniform() < upper;
        }
    }
    rounds
}

/// Returns the interval at the first look that is narrow enough, else at the last.
fn stopped(rounds: &[f64], target: f64) -> [f64; 2] {
    let at = |n: usize| Figure::from_rounds(&rounds[..n], n, true);
    let narrow = |n: &usize| at(*n).half_width().is_some_and(|half| half <= target);
    let n = LOOKS.into_iter().find(narrow).unwrap_or(LOOKS[2]);
    at(n).ci95.unwrap()
}

/// Returns the share of runs whose interval holds the median of very many rounds.
fn coverage(seed: u64, target: f64, rounds: impl Fn(&mut Random, usize) -> Vec<f64>) -> f64 {
    let mut random = Random(seed);
    let many: Vec<f64> = (0..1000).flat_map(|_| rounds(&mut random, LOOKS[2])).collect();
    let truth = median(&many).unwrap();
    let runs = 2000;
    let holds = |_: &usize| {
        let [low, high] = stopped(&rounds(&mut random, LOOKS[2]), target);
        low <= truth && truth <= high
    };
    (0..runs).filter(holds).count() as f64 / runs as f64
}

#[test]
fn a_trial_that_cannot_be_cut_is_one_round() {
    let values: Vec<f64> = (1..=12).map(f64::from).collect();
    let unit = Unit::BytePerSecond;
    let trials: Vec<Trial> = values.iter().map(|v| Trial::new(unit, *v, 1.0)).collect();
    let of = |cut, n, looks| summarise_trials(cut, unit, &trials[..n], looks).unwrap();
    let looks = [7, 8, 12].map(|n| of(Cut::Whole, n, true).typical.ci95);
    assert_eq!(looks, [None, Some([1.0, 8.0]), Some([2.0, 11.0])]);
    assert_eq!(of(Cut::Whole, 12, false).typical.ci95, Some([3.0, 10.0]), "a fixed number");
    for cut in [Cut::Whole, Cut::Single] {
        let delivered = |n, looks| of(cut, n, looks).delivered;
        assert_eq!((delivered(7, true).ci95, delivered(5, false).ci95), (None, None), "{cut:?}");
        assert!(delivered(8, true).ci95.is_some() && delivered(6, false).ci95.is_some());
    }
    let some = |n: usize| Figure::from_rounds(&values[..n], 12, true);
    let why = some(8).missing.unwrap();
    let said = "8 of 12 rounds have this figure, too few for a 95 % interval, which needs 9";
    assert_eq!(why, said);
    assert!(some(9).ci95.is_some() && some(8).ci95.is_none());
    let alone = |n| Summary::from_values(&values[..n]).unwrap();
    assert_eq!((alone(6).ci95(), alone(5).ci95()), (Some([1.0, 6.0]), None));
    let why = alone(5).delivered.missing.unwrap();
    assert_eq!(why, "5 values are too few for a 95 % interval, which needs 6 of a fixed number");
    // Each reason names the number that would do, and which rule asks for it.
    let why = |n, looks| of(Cut::Whole, n, looks).delivered.missing.unwrap();
    assert_eq!(
        why(3, false),
        "3 rounds are too few for a 95 % interval, which needs 6 of a fixed number"
    );
    assert_eq!(why(7, true), "7 rounds are too few for a 95 % interval, which needs 8");
}

#[test]
fn the_interval_holds_the_median_whenever_the_rule_stops() {
    for target in [0.005, 0.03, 0.05] {
        for (name, rounds) in [
            ("lognormal", lognormal as fn(&mut Random, usize) -> Vec<f64>),
            ("autocorrelated", autocorrelated),
        ] {
            let share = coverage(7, target, rounds);
            println!("{name}, target {target}: {share}");
            assert!(share >= 0.93, "{name}, target {target}: {share}");
        }
    }
}

#[test]
fn the_interval_holds_the_median_of_two_states_that_change_faster_than_rounds_come() {
    for upper in [0.1, 0.25, 0.5, 0.75, 0.9] {
        for dwell_s in [0.05, 0.5, 1.0] {
            let share = coverage(11, 0.03, |random, n| two_states(random, n, (upper, dwell_s)));
            println!("upper {upper}, dwell {dwell_s}: {share}");
            assert!(share >= 0.93, "upper state {upper} of the time, {dwell_s} s each: {share}");
        }
    }
    for upper in [0.1, 0.5, 0.9] {
        let share = coverage(11, 0.03, |random, n| two_states(random, n, (upper, 5.0)));
        println!("upper {upper}, dwell 5: {share}");
    }
}

/// Trials of one round each, with that rate and that much clean time.
fn rounds_of(rates: &[f64], clean_s: f64) -> Vec<Trial> {
    let round = |rate: &f64| Round {
        seconds: 0.1,
        delivered: 0.5 * rate,
        typical: Some(0.9 * rate),
        attainable: Some(*rate),
        clean_s,
        ..Round::default()
    };
    rates
        .iter()
        .map(|rate| Trial { value: *rate, rounds: vec![round(rate)], ..Trial::default() })
        .collect()
}

#[test]
fn time_that_ends_the_rounds_between_two_looks_is_the_last_look() {
    let values: Vec<f64> = (1..=20).map(f64::from).collect();
    let low = |n: usize| interval_of_rounds(&values[..n], n, true).map(|[low, _]| low);
    let ranks: Vec<_> = (7..=20).map(low).collect();
    let expected = [0, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6];
    let expected = expected.map(|rank| (rank > 0).then_some(f64::from(rank)));
    assert_eq!(ranks, expected);
}

#[test]
fn little_time_in_which_nothing_was_taken_supports_no_headline() {
    let trials = |clean_s| rounds_of(&[10.0; 8], clean_s);
    for cut in [Cut::Core, Cut::Bus] {
        let of =
            |clean_s| summarise_trials(cut, Unit::OpPerSecond, &trials(clean_s), true).unwrap();
        assert_eq!(of(0.0025).headline, cut.headline());
        let s = of(0.0024);
        assert_eq!(s.headline, cut.headline(), "it never becomes another statistic");
        assert!(s.value().is_nan() && s.delivered.value == Some(5.0), "{s:?}");
        assert_eq!((s.attainable.value, s.typical.value), (None, None));
        assert!(s.typical.missing.unwrap().starts_with("undisturbed time was too short"));
    }
}

/// Rounds in some of which a core was shared: the machine's rate is 10, that of half a core 6.
fn shared_in(shared: impl Fn(usize) -> bool) -> Vec<Trial> {
    let mut trials = rounds_of(&[10.0; 20], 0.1);
    for (i, round) in trials.iter_mut().map(|t| &mut t.rounds[0]).enumerate() {
        let width = if shared(i) { 7.0 } else { 11.6 + 0.01 * i as f64 };
        (round.issue_width, round.attainable) = (Some(width), Some(0.86 * width));
    }
    trials
}

#[test]
fn attainable_is_of_the_rounds_in_which_the_cores_were_not_shared() {
    let of = |cut, trials: &[Trial]| {
        summarise_trials(cut, Unit::OpPerSecond, trials, true).unwrap().attainable
    };
    let mostly = of(Cut::Core, &shared_in(|i| i % 2 == 0));
    let ([low, _], value) = (mostly.ci95.unwrap(), mostly.value.unwrap());
    assert!(value > 9.9 && low > 9.9, "{mostly:?}");
    let nearly_always = of(Cut::Core, &shared_in(|i| i % 5 > 0));
    // Too few for an interval: that of all rounds holds it.
    let ([low, high], value) = (nearly_always.ci95.unwrap(), nearly_always.value.unwrap());
    assert!(low < 6.1 && value > 9.9 && high >= value, "{nearly_always:?}");
    let few = of(Cut::Core, &shared_in(|i| i % 3 > 0)[..7]);
    assert!(few.value.unwrap() > 9.9 && few.ci95.is_none());
    // One reading that is too wide is not the width of an unshared core.
    let mut once = shared_in(|i| i % 2 == 0);
    once[3].rounds[0].issue_width = Some(13.0);
    assert!((of(Cut::Core, &once).value.unwrap() - value).abs() < 0.02 * value);
    // Without another state or without readings all rounds count.
    assert!((of(Cut::Core, &shared_in(|_| true)).value.unwrap() - 6.02).abs() < 1e-9);
    let mut unknown = shared_in(|i| i < 15);
    unknown.iter_mut().for_each(|t| t.rounds[0].issue_width = None);
    assert!((of(Cut::Core, &unknown).value.unwrap() - 6.02).abs() < 1e-9);
}

#[test]
fn rounds_that_do_not_count_make_no_interval_narrower() {
    // The ranks are those of the look, which counts all rounds.
    let ranks = |some: usize, of: usize| {
        let values: Vec<f64> = (1..=some).map(|v| v as f64).collect();
        interval_of_rounds(&values, of, true).map(|[low, _]| low)
    };
    assert_eq!(
        [ranks(8, 8), ranks(8, 12), ranks(9, 12), ranks(12, 12)],
        [Some(1.0), None, Some(1.0), Some(2.0)]
    );
    assert_eq!(
        [ranks(7, 20), ranks(8, 20), ranks(12, 20), ranks(20, 20)],
        [None, Some(1.0), Some(3.0), Some(6.0)]
    );
}

#[test]
fn the_highest_state_of_a_bus_is_that_of_the_rounds_which_saw_it_and_has_no_interval() {
    let rates: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 60.0 } else { 40.0 }).collect();
    let of = |cut, unit, rates: &[f64]| {
        summarise_trials(cut, unit, &rounds_of(rates, 0.1), true).unwrap().attainable
    };
    let bus = of(Cut::Bus, Unit::BytePerSecond, &rates);
    assert_eq!((bus.value, bus.ci95), (Some(60.0), None));
    assert!(bus.missing.unwrap().starts_with("10 of 20 rounds saw the highest state"));
    assert_eq!(of(Cut::Bus, Unit::Second, &rates).value, Some(40.0), "the shortest time");
    assert!(of(Cut::Core, Unit::OpPerSecond, &rates).ci95.is_some());
    assert_eq!(of(Cut::Bus, Unit::BytePerSecond, &rates[..2]).value, None);
}

/// Rounds of 100 ms on a CPU of which another process takes periodic bursts, from a random moment
/// on.
fn with_bursts_of_others(random: &mut Random, (period_s, burst_s): (f64, f64)) -> Vec<Trial> {
    let taken_until = |at: f64| {
        let periods = (at / period_s).floor();
        periods * burst_s + (at - periods * period_s).min(burst_s)
    };
    let mut left = || {
        let at = period_s * random.uniform();
        1.0 - (taken_until(at + ROUND_S) - taken_until(at)) / ROUND_S
    };
    let round = |left: f64| Round { seconds: ROUND_S, delivered: left, ..Round::default() };
    let trial = |left| Trial { value: left, rounds: vec![round(left)], ..Trial::default() };
    (0..LOOKS[2]).map(|_| trial(left())).collect()
}

#[test]
fn what_is_delivered_is_all_work_over_all_time() {
    let mut random = Random(5);
    let delivered = |trials: &[Trial]| {
        let s = summarise_trials(Cut::Core, Unit::OpPerSecond, trials, true).unwrap();
        let [low, high] = s.delivered.ci95.unwrap();
        let value = s.delivered.value.unwrap();
        assert!(low <= value && value <= high, "{value} in {low} to {high}");
        value
    };
    // The median of a round's share would be 0.80 for the longest period.
    for (period_s, burst_s) in [(0.004, 0.001), (0.04, 0.01), (0.08, 0.02)] {
        let runs =
            (0..200).map(|_| delivered(&with_bursts_of_others(&mut random, (period_s, burst_s))));
        let usual = median(&runs.collect::<Vec<_>>()).unwrap();
        assert!((usual - 0.75).abs() < 0.005, "period {period_s} s: {usual}");
    }
    // Seven rounds of an operation a second, and one in which it took three times as long.
    let mut slow = rounds_of(&[2.0; 8], 0.1);
    slow[0].rounds[0].delivered = 3.0;
    let s = summarise_trials(Cut::Bus, Unit::Second, &slow, true).unwrap();
    assert!((s.delivered.value.unwrap() - 8.0 / (7.0 + 1.0 / 3.0)).abs() < 1e-12, "{s:?}");
    // Without a time there is no figure.
    let mut timeless = rounds_of(&[2.0; 8], 0.1);
    timeless.iter_mut().for_each(|t| t.rounds[0].seconds = 0.0);
    let s = summarise_trials(Cut::Core, Unit::OpPerSecond, &timeless, true).unwrap();
    assert_eq!(s.delivered.value, None);
}

/// Equal rounds of a fixed work keep an interval, which allows for a stall that none of them had.
#[test]
fn equal_trials_of_single_operations_are_precise_from_9_on() {
    let half_width = |n| Cut::Single.half_width_of_equal(n);
    for (n, expected) in [(8, 0.106), (12, 0.074), (20, 0.046)] {
        assert!((half_width(n) - expected).abs() < 5e-4, "{n}: {}", half_width(n));
    }
    assert_eq!(Cut::Core.half_width_of_equal(8), 0.0);
    assert_eq!(Cut::Single.trials_for_precision(0.25), 9, "disk and network");
    assert_eq!(Cut::Whole.trials_for_precision(0.025), MIN_VALUES, "judged by their median");
}
