//! All work over all time: a ratio of two sums over rounds, with an interval that also holds where
//! some rounds stall.
//!
//! The interval is that of the jackknife with Student's distribution, of the ratio's logarithm.
//! Rounds without a stall do not show the stalls of a longer run. So the end on the slow side is
//! that of the rounds and one more. That one is as slow as the slowest round, and no faster than
//! [`Fixed::rate_after_stall`]. `delivered/tests.rs` simulates the interval together with the rule
//! that stops by it.

use crate::{MISSES, Unit, median, student};

#[cfg(test)]
mod tests;

/// The work of one round or of several, in units of work, and its time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Done {
    pub(crate) work: f64,
    pub(crate) seconds: f64,
}

impl Done {
    fn rate(self) -> f64 {
        self.work / self.seconds
    }
}

/// The quantity that is the same in all rounds. It decides how a stall shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixed {
    /// The time is fixed: a stall costs work.
    Time,
    /// The work is fixed: a stall costs time.
    Work,
}

impl Fixed {
    /// Returns the rate of a round with a stall, as a share of the usual rate. The stall takes
    /// three quarters of a fixed time, or adds two thirds to the time of a fixed work. With less,
    /// the interval too often misses stalls of most of a round that hit 10 to 15 % of rounds. With
    /// more, 20 quiet rounds could not reach a target of 5 %.
    fn rate_after_stall(self) -> f64 {
        match self {
            Self::Time => 0.25,
            Self::Work => 0.6,
        }
    }

    /// Returns a usual round with another rate.
    fn round(self, usual: Done, rate: f64) -> Done {
        match self {
            Self::Time => Done { work: usual.seconds * rate, ..usual },
            Self::Work => Done { seconds: usual.work / rate, ..usual },
        }
    }
}

/// Returns all work over all time, in the unit of the values; not a number without rounds.
pub(crate) fn delivered(unit: Unit, rounds: &[Done]) -> f64 {
    let all = sum(rounds);
    unit.value(all.work, all.seconds)
}

/// Returns the 95 % interval of [`delivered`], which holds the value. `None` for fewer than three
/// rounds, or if all but one did nothing.
pub(crate) fn interval(unit: Unit, fixed: Fixed, rounds: &[Done]) -> Option<[f64; 2]> {
    let usual = |of: fn(&Done) -> f64| median(&rounds.iter().map(of).collect::<Vec<_>>());
    let usual = Done { work: usual(|r| r.work)?, seconds: usual(|r| r.seconds)? };
    let slowest = rounds.iter().map(|r| r.rate()).fold(f64::INFINITY, f64::min);
    let unseen = fixed.round(usual, slowest.min(usual.rate() * fixed.rate_after_stall()));
    let [low, high] = jackknife(rounds)?;
    let [lower, _] = jackknife(&[rounds, &[unseen]].concat())?;
    let all = sum(rounds).rate();
    let ends = [low.min(lower).min(all), high.max(all)];
    Some(match unit {
        Unit::Second => [1.0 / ends[1], 1.0 / ends[0]],
        _ => ends,
    })
}

/// Returns the slow end of the interval of so many equal rounds of a fixed work, as a share of the
/// figure. It is below 1, since a longer run may stall.
pub(crate) fn slow_end_of_equal(rounds: usize) -> f64 {
    let equal = vec![Done { work: 1.0, seconds: 1.0 }; rounds];
    interval(Unit::OpPerSecond, Fixed::Work, &equal).map_or(0.0, |[low, _]| low)
}

fn sum(rounds: &[Done]) -> Done {
    rounds.iter().fold(Done { work: 0.0, seconds: 0.0 }, |all, r| Done {
        work: all.work + r.work,
        seconds: all.seconds + r.seconds,
    })
}

/// Returns the interval of the rate by the jackknife (Miller, *The jackknife: a review*, 1974).
fn jackknife(rounds: &[Done]) -> Option<[f64; 2]> {
    let n = rounds.len() as f64;
    if n < 3.0 || !rounds.iter().all(|r| r.work >= 0.0 && r.seconds > 0.0) {
        return None;
    }
    let all = sum(rounds);
    let without = |r: &Done| ((all.work - r.work) / (all.seconds - r.seconds)).ln();
    let pseudo = |r: &Done| n * all.rate().ln() - (n - 1.0) * without(r);
    let values: Vec<f64> = rounds.iter().map(pseudo).collect();
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student(MISSES, n - 1.0) * (variance / n).sqrt();
    let ends = [(mean - half).exp(), (mean + half).exp()];
    ends.iter().all(|end| end.is_finite() && *end > 0.0).then_some(ends)
}
