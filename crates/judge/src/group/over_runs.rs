//! The values of one result in several runs: one level with an interval, or two states.
//!
//! An interval of one run holds for its own minute. Here each run is one value, whatever its own
//! interval is (Kalibera and Jones, ISMM'13: repeat at the level that varies). From
//! [`MIN_VALUES`] runs on the interval is that of the median by order statistics. Fewer runs get
//! that of Student on the logarithms, which assumes their shape and always contains the median.

use proofmark_model::{
    MIN_VALUES, MISSES, OverRuns, RunLevel, RunState, Successive, Timestamp, median,
    median_interval, student,
};

use crate::statistics::{mean, squared_deviations};

/// Fewest runs of which two states are told from chance, and fewest of one state.
const FEWEST: usize = 6;
const FEWEST_OF_STATE: usize = 2;
/// The gap between two states is at least so many times the largest other one, and so many standard
/// deviations of the runs about their states. Of 6 to 40 runs of one normal, exponential or uniform
/// distribution, at most 1.5 % look like two states (`chance_looks_like_two_states_rarely`).
const GAPS: f64 = 2.0;
const DEVIATIONS: f64 = 10.0;

/// Takes values together, each with the place of its run. A gap below `least`, a share, is none.
/// `None` for fewer than two values above zero.
pub(crate) fn over_runs(values: &[(usize, f64)], least: f64) -> Option<OverRuns> {
    let mut sorted: Vec<(usize, f64)> =
        values.iter().copied().filter(|(_, v)| v.is_finite() && *v > 0.0).collect();
    if sorted.len() < 2 {
        return None;
    }
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let logs: Vec<f64> = sorted.iter().map(|(_, v)| v.ln()).collect();
    if let Some(at) = split(&logs, least.ln_1p()) {
        let state = |of: &[(usize, f64)]| {
            let mut places: Vec<usize> = of.iter().map(|(place, _)| *place).collect();
            places.sort_unstable();
            Some(RunState {
                median: median_of(of)?,
                runs: of.len() as u64,
                share: of.len() as f64 / sorted.len() as f64,
                places,
            })
        };
        let (low, high) = sorted.split_at(at);
        return Some(OverRuns::Two { states: [state(low)?, state(high)?] });
    }
    let only: Vec<f64> = sorted.iter().map(|(_, v)| *v).collect();
    let middle = median(&only)?;
    Some(OverRuns::One(RunLevel {
        median: middle,
        ci95: median_interval(&only).or_else(|| by_student(&logs, middle)),
        runs: only.len() as u64,
        deviation: deviation(&logs).exp_m1(),
        successive: None,
    }))
}

/// Largest time between the starts of two runs that share a level.
const SOON_S: f64 = 900.0;

/// The deviation of one run by the differences between runs that followed each other soon (von Neumann
/// et al., *The mean square successive difference*, 1941). Each value comes with its start.
pub(crate) fn successive(values: &[(Timestamp, f64)]) -> Option<Successive> {
    let mut in_order = values.to_vec();
    in_order.retain(|(_, v)| v.is_finite() && *v > 0.0);
    in_order.sort_by_key(|(start, _)| *start);
    let apart_s = |two: &[(Timestamp, f64)]| two[1].0.since(two[0].0);
    let soon = in_order.windows(2).filter(|two| apart_s(two) <= SOON_S);
    let steps: Vec<f64> = soon.clone().map(|two| (two[1].1 / two[0].1).ln()).collect();
    let squares: f64 = steps.iter().map(|step| step * step).sum();
    let deviation = (squares / (2.0 * steps.len() as f64)).sqrt().exp_m1();
    let (pairs, seconds) = (steps.len() as u64, soon.map(apart_s).sum());
    (pairs > 1).then_some(Successive { deviation, pairs, seconds })
}

fn median_of(values: &[(usize, f64)]) -> Option<f64> {
    median(&values.iter().map(|(_, v)| *v).collect::<Vec<_>>())
}

/// The interval of Student for 3 to 5 values, extended to the median.
fn by_student(logs: &[f64], middle: f64) -> Option<[f64; 2]> {
    if !(3..MIN_VALUES).contains(&logs.len()) {
        return None;
    }
    let n = logs.len() as f64;
    let half = student(MISSES, n - 1.0) * deviation(logs) / n.sqrt();
    let mean = mean(logs);
    Some([(mean - half).exp().min(middle), (mean + half).exp().max(middle)])
}

/// Sample standard deviation of two or more values.
fn deviation(values: &[f64]) -> f64 {
    (squared_deviations(values) / (values.len() as f64 - 1.0)).sqrt()
}

/// Returns the number of the lower values, if sorted values are in two states.
fn split(logs: &[f64], least: f64) -> Option<usize> {
    let n = logs.len();
    if n < FEWEST {
        return None;
    }
    let gaps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let widest = (0..gaps.len()).max_by(|a, b| gaps[*a].total_cmp(&gaps[*b]))?;
    let at = widest + 1;
    if at < FEWEST_OF_STATE || n - at < FEWEST_OF_STATE || gaps[widest] < least {
        return None;
    }
    let others = gaps.iter().enumerate().filter(|(i, _)| *i != widest).map(|(_, gap)| *gap);
    let next = others.fold(0.0, f64::max);
    let about = ((squared_deviations(&logs[..at]) + squared_deviations(&logs[at..]))
        / (n as f64 - 2.0))
        .sqrt();
    (gaps[widest] > GAPS * next && gaps[widest] > DEVIATIONS * about).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{normal, xorshift};

    fn of(values: &[f64]) -> Option<OverRuns> {
        over_runs(&values.iter().copied().enumerate().collect::<Vec<_>>(), 0.02)
    }

    fn one(values: &[f64]) -> RunLevel {
        match of(values) {
            Some(OverRuns::One(level)) => level,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn few_runs_have_students_interval_and_two_have_none() {
        assert_eq!(of(&[5.0]), None);
        assert_eq!(of(&[0.0, f64::NAN, 5.0]), None);
        assert_eq!(one(&[4.0, 5.0]).ci95, None);
        // Logarithms 0, 0.1, 0.2: mean 0.1, deviation 0.1, t = 4.303; the quantile is to 5 %.
        let three: Vec<f64> = [0.0_f64, 0.1, 0.2].iter().map(|v| v.exp()).collect();
        let level = one(&three);
        let [low, high] = level.ci95.unwrap();
        let half = 4.303 * 0.1 / 3.0_f64.sqrt();
        for seen in [0.1 - low.ln(), high.ln() - 0.1] {
            assert!((seen / half - 1.0).abs() < 0.05, "{seen} {half}");
        }
        assert!((level.deviation - 0.1_f64.exp_m1()).abs() < 1e-9);
        assert!((level.median - 0.1_f64.exp()).abs() < 1e-9);
        // The mean of the logarithms is far below this median.
        let skewed = one(&[1e-9, 1.0, 1.0]);
        let [low, high] = skewed.ci95.unwrap();
        assert!(low <= skewed.median && skewed.median <= high);
    }

    #[test]
    fn a_level_that_moves_slowly_is_not_in_the_successive_deviation() {
        let every = |seconds: i64, values: &[f64]| {
            let starts = (0..).map(|i| Timestamp::from_millis(1000 * seconds * i).unwrap());
            successive(&starts.zip(values.iter().copied()).collect::<Vec<_>>())
        };
        let drift: Vec<f64> = (0..20).map(|i| (0.02 * f64::from(i)).exp()).collect();
        // Steps of 0.02 each; the deviation of 20 values in a row is 0.118.
        let found = every(100, &drift).unwrap();
        assert!((found.deviation - (0.02 / 2.0_f64.sqrt()).exp_m1()).abs() < 1e-9);
        assert_eq!((found.pairs, found.seconds), (19, 1900.0));
        assert!(one(&drift).deviation > 0.11);
        // Runs of different days have different levels.
        assert_eq!(every(86_400, &drift), None);
        assert_eq!(every(100, &[1.0, 1.1]), None);
    }

    #[test]
    fn six_runs_have_the_interval_of_the_median() {
        let level = one(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]);
        assert_eq!(level.ci95, Some([1.0, 6.0]));
        assert!((level.median - 3.5).abs() < 1e-12);
    }

    #[test]
    fn two_states_have_no_common_interval() {
        let near_and_far = [80.0, 46.0, 81.0, 79.5, 46.3, 80.2, 45.8];
        let Some(OverRuns::Two { states: [low, high] }) = of(&near_and_far) else {
            panic!("one level");
        };
        assert_eq!((low.median, low.runs, low.places), (46.0, 3, vec![1, 4, 6]));
        assert_eq!((high.runs, high.places), (4, vec![0, 2, 3, 5]));
        assert!((low.share - 3.0 / 7.0).abs() < 1e-12);
        // One run alone is no state, and a difference within the tolerance is none.
        one(&[80.0, 46.0, 81.0, 79.5, 80.1, 80.2, 79.9]);
        one(&[100.0, 101.0, 100.01, 101.01, 100.02, 101.02]);
        // A level that moves slowly is not two.
        one(&(0..20).map(|i| 80.0 - f64::from(i)).collect::<Vec<_>>());
        // Runs that never vary.
        assert_eq!(one(&[5.0; 8]).ci95, Some([5.0, 5.0]));
        assert!(matches!(of(&[5.0, 5.0, 5.0, 9.0, 9.0, 9.0]), Some(OverRuns::Two { .. })));
    }

    type Draw<'a> = &'a dyn Fn(&mut dyn FnMut() -> f64) -> f64;

    #[test]
    fn chance_looks_like_two_states_rarely() {
        let mut random = xorshift();
        let shapes: [(&str, Draw); 3] = [
            ("normal", &|r| normal(&mut || r())),
            ("exponential", &|r| -(1.0 - r()).ln()),
            ("uniform", &|r| r()),
        ];
        for (name, draw) in shapes {
            for n in [6, 8, 12, 20, 40] {
                let runs = 2000;
                let looks_like_two = |_: &i32| {
                    let values: Vec<f64> =
                        (0..n).map(|_| (0.1 * draw(&mut random)).exp()).collect();
                    matches!(of(&values), Some(OverRuns::Two { .. }))
                };
                let two = (0..runs).filter(looks_like_two).count();
                assert!(two <= runs as usize / 66, "{name} {n}: {two} of {runs}");
            }
        }
    }

    #[test]
    fn the_intervals_hold_the_median_of_equal_runs() {
        let mut random = xorshift();
        for n in [3, 4, 5, 6, 8, 12] {
            let runs = 2000;
            let holds = |_: &i32| {
                let values: Vec<f64> = (0..n).map(|_| (0.05 * normal(&mut random)).exp()).collect();
                match of(&values) {
                    Some(OverRuns::One(level)) => {
                        level.ci95.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)
                    }
                    _ => true,
                }
            };
            let held = (0..runs).filter(holds).count() as f64 / f64::from(runs);
            assert!(held >= 0.94, "{n}: {held}");
        }
    }
}
