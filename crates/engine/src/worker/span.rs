//! A sample of a series: parts one right after the other, until its time is over.
//!
//! Because of its parts a sample ends near its time even on a machine that is slow by a factor of
//! five. Its time is that of its parts and of what stopped the machine between them. A CPU quota
//! may hold the process there, and a user would wait then, too. The time of proofmark's own work,
//! checking results and reading counters, is left out: it is the usual time between two parts. For
//! the CPU it is well below a hundredth of a part. Checking written memory, or flushing and reading
//! back a file, may take as long as the part. A quota or a volume may save up credit meanwhile.

use std::collections::VecDeque;

use super::{Amount, Work, lengthened, scaled};
use crate::clock::raw_seconds;
use crate::merge::merge;
use crate::protocol::Reply;
use proofmark_model::{Trial, median};

/// Number of pauses between parts from which the usual one is taken.
const PAUSES: usize = 65;

/// A pause counts if it is this many times the usual one, and longer by this many seconds. A
/// shorter one may be a thread of proofmark that waits for a CPU before it gives the next order.
/// Users have no such wait.
const UNUSUAL: f64 = 3.0;
const UNUSUAL_S: f64 = 5e-3;

/// Seconds without work after which the cores are no longer in the state in which the load left
/// them.
const COLD_S: f64 = 0.02;

/// Parts that are longer or shorter by this factor are resized, by at most the second factor at
/// once.
const UNFIT: f64 = 1.3;
const MAX_FITTED: f64 = 2.0;

#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Iterations of each thread in a part; 0 until there was one.
    iterations: u64,
    /// The last pauses: seconds from the end of a part to the start of the next.
    pauses: VecDeque<f64>,
    ended: Option<f64>,
}

impl Parts {
    /// Records a pause and returns the seconds of it that proofmark did not cause.
    fn held_up(&mut self, pause: f64) -> f64 {
        self.pauses.push_back(pause);
        if self.pauses.len() > PAUSES {
            self.pauses.pop_front();
        }
        let usual = median(self.pauses.make_contiguous()).unwrap_or(pause);
        if pause > UNUSUAL * usual && pause > usual + UNUSUAL_S { pause - usual } else { 0.0 }
    }

    /// Resizes the next parts if these were too long or too short.
    fn fit(&mut self, took_s: f64, part_s: f64) {
        let factor = part_s / took_s;
        if !(1.0 / UNFIT..=UNFIT).contains(&factor) {
            let factor = factor.clamp(1.0 / MAX_FITTED, MAX_FITTED);
            self.iterations = scaled(self.iterations, 1.0, factor);
        }
    }
}

impl Work {
    /// Takes parts of about `part_s` seconds for `span_s` seconds, at least one. If the amount of
    /// work is fixed, a part is that amount, and the sample may take longer.
    pub(super) fn span(&mut self, part_s: f64, span_s: f64) -> Result<Trial, Reply> {
        if self.parts.iterations == 0 && self.setup.amount() == Amount::Calibrated {
            self.calibrate()?;
            let goal = part_s.min(span_s);
            self.parts.iterations = scaled(self.filling, self.trial_s * super::MARGIN, goal);
            self.lengthen(goal)?;
        }
        let begun = raw_seconds();
        let mut sample = self.part(true)?;
        for taken in 1.. {
            let elapsed = raw_seconds() - begun;
            let mean_s = elapsed / f64::from(taken);
            // Ends at the part whose end is nearest to the requested time.
            if elapsed + 0.5 * mean_s >= span_s {
                self.parts.fit(mean_s, part_s);
                break;
            }
            merge(self.unit, &mut sample, self.part(false)?);
        }
        self.latencies.join();
        Ok(sample)
    }

    /// Lengthens parts until one is not far too short. These parts do not count.
    fn lengthen(&mut self, goal: f64) -> Result<(), Reply> {
        for _ in 0..super::MAX_REPEATS {
            let shares = self.shares(self.parts.iterations);
            let before = self.latencies.len();
            let took_s = self.trial(&shares, 0)?.seconds;
            self.latencies.truncate(before);
            if took_s >= super::TOO_SHORT * goal {
                break;
            }
            self.parts.iterations = lengthened(self.parts.iterations, took_s, goal);
        }
        Ok(())
    }

    /// Takes one part. If something stopped the machine since the part before, that time counts,
    /// except for the `first` part of a sample: the run worked meanwhile.
    fn part(&mut self, first: bool) -> Result<Trial, Reply> {
        let shares = self.shares(self.parts.iterations);
        self.setup.begin_trial()?;
        let mut trial = if first || self.setup.amount() == Amount::Whole {
            let rested = self.parts.ended.is_none_or(|ended| raw_seconds() - ended > COLD_S);
            self.executor.trial(&shares, if rested { self.ahead() } else { 0 })?
        } else {
            self.executor.next_part(&shares)?
        };
        let (from, seconds) = (trial.from, trial.known.seconds);
        let pause = self.parts.ended.filter(|_| !first).map(|ended| (from - ended).max(0.0));
        self.parts.ended = Some(from + seconds);
        trial.known.seconds += pause.map_or(0.0, |pause| self.parts.held_up(pause));
        self.account_for(trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_time_between_parts_is_left_out_and_that_of_others_is_not() {
        let mut parts = Parts::default();
        for pause in [4e-4, 5e-4, 4e-4, 6e-4, 9e-4] {
            assert_eq!(parts.held_up(pause), 0.0);
        }
        let held = parts.held_up(0.05);
        assert!((held - 0.0495).abs() < 1e-4, "{held}");
        assert_eq!(parts.held_up(0.0045), 0.0, "a little more is ours");
        for _ in 0..2 * PAUSES {
            parts.held_up(0.02);
        }
        assert_eq!(parts.held_up(0.021), 0.0, "what has become usual is ours");
    }

    #[test]
    fn parts_are_made_to_fit_by_and_by() {
        let mut parts = Parts { iterations: 1000, ..Parts::default() };
        parts.fit(0.11, 0.1);
        assert_eq!(parts.iterations, 1000, "near enough");
        parts.fit(0.2, 0.1);
        assert_eq!(parts.iterations, 500);
        parts.fit(0.01, 0.1);
        assert_eq!(parts.iterations, 1000, "twice as many at most");
        parts.fit(1.0, 0.1);
        assert_eq!(parts.iterations, 500);
    }
}
