//! A sample of a series: slices one right after the other, until its time is over.
//!
//! A sample is made of slices so that one taken while the machine is slow, be it by a factor of
//! five, still ends near its time. Its time is that of its slices and of what held the machine up
//! between them: a CPU quota may well hold the process back between two slices, and a user would
//! wait then, too. What is left out is our own work between them, checking results and reading
//! counters: the usual time between two slices. For the CPU that is well below a
//! hundredth of a slice; memory that was written is checked and a file flushed and read back, which
//! may take as long as the slice, and a quota or a volume may save up something meanwhile.

use std::collections::VecDeque;

use super::{Amount, Work, scaled};
use crate::clock::monotonic;
use crate::merge::merge;
use crate::protocol::Reply;
use proofmark_model::{Trial, median};

/// Gaps between slices that are remembered, to know the usual one.
const GAPS: usize = 65;

/// A gap of so many times the usual one, and longer by so many seconds, is no work of ours: less may
/// be a thread of ours that waits for its turn to say what comes next, which no user does.
const UNUSUAL: f64 = 3.0;
const UNUSUAL_S: f64 = 5e-3;

/// After a pause of so many seconds the cores are no longer as the load left them.
const PAUSE_S: f64 = 0.02;

/// Slices this much longer or shorter than they should be are made to fit, by so much at once.
const UNFIT: f64 = 1.3;
const MOST_FITTED: f64 = 2.0;

#[derive(Debug, Default)]
pub(super) struct Slices {
    /// Iterations of each thread in one; 0 until there was one.
    iterations: u64,
    /// Seconds between the end of one and the start of the next, of the last of them.
    gaps: VecDeque<f64>,
    ended: Option<f64>,
}

impl Slices {
    /// Takes in a gap; how much of it was not our own doing, in seconds.
    fn held_up(&mut self, gap: f64) -> f64 {
        self.gaps.push_back(gap);
        if self.gaps.len() > GAPS {
            self.gaps.pop_front();
        }
        let usual = median(self.gaps.make_contiguous()).unwrap_or(gap);
        if gap > UNUSUAL * usual && gap > usual + UNUSUAL_S { gap - usual } else { 0.0 }
    }

    /// Makes the next slices as long as they should be, if these were not.
    fn fit(&mut self, took_s: f64, slice_s: f64) {
        let factor = slice_s / took_s;
        if !(1.0 / UNFIT..=UNFIT).contains(&factor) {
            let factor = factor.clamp(1.0 / MOST_FITTED, MOST_FITTED);
            self.iterations = scaled(self.iterations, 1.0, factor);
        }
    }
}

impl Work {
    /// Takes slices of about `slice_s` for `span_s`; one in any case. Where the amount of work
    /// is fixed, a slice is that amount, and the sample may take longer.
    pub(super) fn span(&mut self, slice_s: f64, span_s: f64) -> Result<Trial, Reply> {
        if self.slices.iterations == 0 && self.setup.amount() == Amount::Calibrated {
            self.calibrate()?;
            let goal = slice_s.min(span_s);
            self.slices.iterations = scaled(self.filling, self.trial_s * super::MARGIN, goal);
        }
        let begun = monotonic();
        let mut sample = self.slice(true)?;
        for taken in 1.. {
            let elapsed = monotonic() - begun;
            let mean_s = elapsed / f64::from(taken);
            // The end that is nearest to the time that was asked for.
            if elapsed + 0.5 * mean_s >= span_s {
                self.slices.fit(mean_s, slice_s);
                break;
            }
            merge(self.unit, &mut sample, self.slice(false)?);
        }
        Ok(sample)
    }

    /// One slice. What held the machine up since the one before is part of its time, unless it
    /// is the `first` of its sample: then the run had its say meanwhile.
    fn slice(&mut self, first: bool) -> Result<Trial, Reply> {
        let shares = self.shares(self.slices.iterations);
        self.setup.begin_trial()?;
        let mut trial = if first || self.setup.amount() == Amount::Whole {
            let rested = self.slices.ended.is_none_or(|ended| monotonic() - ended > PAUSE_S);
            self.team.trial(&shares, if rested { self.ahead() } else { 0 })?
        } else {
            self.team.next_slice(&shares)?
        };
        let (from, seconds) = (trial.from, trial.known.seconds);
        let gap = self.slices.ended.filter(|_| !first).map(|ended| (from - ended).max(0.0));
        self.slices.ended = Some(from + seconds);
        trial.known.seconds += gap.map_or(0.0, |gap| self.slices.held_up(gap));
        self.account_for(trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_time_between_slices_is_left_out_and_that_of_others_is_not() {
        let mut slices = Slices::default();
        for gap in [4e-4, 5e-4, 4e-4, 6e-4, 9e-4] {
            assert_eq!(slices.held_up(gap), 0.0);
        }
        let held = slices.held_up(0.05);
        assert!((held - 0.0495).abs() < 1e-4, "{held}");
        assert_eq!(slices.held_up(0.0045), 0.0, "a little more is ours");
        for _ in 0..2 * GAPS {
            slices.held_up(0.02);
        }
        assert_eq!(slices.held_up(0.021), 0.0, "what has become usual is ours");
    }

    #[test]
    fn slices_are_made_to_fit_by_and_by() {
        let mut slices = Slices { iterations: 1000, ..Slices::default() };
        slices.fit(0.11, 0.1);
        assert_eq!(slices.iterations, 1000, "near enough");
        slices.fit(0.2, 0.1);
        assert_eq!(slices.iterations, 500);
        slices.fit(0.01, 0.1);
        assert_eq!(slices.iterations, 1000, "twice as many at most");
        slices.fit(1.0, 0.1);
        assert_eq!(slices.iterations, 500);
    }
}
