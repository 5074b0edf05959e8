//! Gaps in the work of threads: time in which a thread was off its CPU, as its own readings of the
//! clock show it. The slices of a trial show those of threads that work. A thread that only loads
//! the machine records its own.

use crate::clock::raw_seconds;

/// The definition of a gap: a step that takes this many times the usual time, and this many seconds
/// more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GapRule {
    pub(crate) factor: f64,
    pub(crate) more_s: f64,
}

impl GapRule {
    /// The times of slices on cores vary little.
    pub(crate) const ON_CORES: Self = Self { factor: 1.5, more_s: 0.0 };
    /// Threads that share a bus may slow a slice of the same configuration to half its speed.
    pub(crate) const ON_A_BUS: Self = Self { factor: 3.0, more_s: 1e-4 };

    pub(crate) fn is_gap(self, took: f64, usual: f64) -> bool {
        took > self.factor * usual && took > usual + self.more_s
    }
}

/// Maximum number of gaps that are recorded. Later ones become part of the last.
const MAX_GAPS: usize = 4096;

/// The gaps of a thread that loads the machine, in seconds on the clock of trials. The shortest
/// step so far is the usual one.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The last reading.
    last_s: f64,
    /// Seconds of the shortest step; `None` before the first reading.
    shortest_s: Option<f64>,
    all: Vec<(f64, f64)>,
}

impl Gaps {
    /// Begins now. Nothing shows whether a thread worked until its first reading, so that is a gap.
    pub fn begin() -> Self {
        Self { last_s: raw_seconds(), shortest_s: None, all: Vec::with_capacity(MAX_GAPS) }
    }

    /// Reads the clock of trials, in seconds. A thread calls it after each step of its load.
    #[inline]
    pub fn read_clock(&mut self) -> f64 {
        let now = raw_seconds();
        self.step_ended(now);
        now
    }

    /// Ends the last step, unless the thread records none.
    pub(crate) fn end(&mut self) {
        if self.shortest_s.is_some() {
            self.read_clock();
        }
    }

    #[inline]
    fn step_ended(&mut self, now: f64) {
        let took = now - self.last_s;
        match self.shortest_s {
            None => {
                self.add(self.last_s, now);
                self.shortest_s = Some(f64::INFINITY);
            }
            // The step did its work, too.
            Some(usual) if GapRule::ON_A_BUS.is_gap(took, usual) => {
                self.add(self.last_s, now - usual);
            }
            Some(shortest) => self.shortest_s = Some(shortest.min(took)),
        }
        self.last_s = now;
    }

    #[cold]
    fn add(&mut self, from: f64, to: f64) {
        if self.all.len() < MAX_GAPS {
            self.all.push((from, to));
        } else if let Some(last) = self.all.last_mut() {
            last.1 = to;
        }
    }

    /// Start and end of each gap, in order.
    pub(crate) fn all(&self) -> &[(f64, f64)] {
        &self.all
    }

    /// Seconds of gaps between these times.
    pub(crate) fn seconds_between(&self, from: f64, to: f64) -> f64 {
        self.all.iter().map(|(a, b)| (b.min(to) - a.max(from)).max(0.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gaps of a thread that began at 0 and whose steps took this long.
    fn of_steps(steps: &[f64]) -> Gaps {
        let (mut gaps, mut now) = (Gaps::default(), 0.0);
        for took in steps {
            now += took;
            gaps.step_ended(now);
        }
        gaps
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn a_step_far_longer_than_the_shortest_is_a_gap() {
        let step = 4e-5;
        // Slower steps are those of a shared bus; the first one is unknown.
        let gaps = of_steps(&[step, step, 2.5 * step, step, 4e-3, step, 1.3e-4, step]);
        assert_eq!(gaps.all().len(), 2, "{gaps:?}");
        assert_eq!(gaps.all()[0], (0.0, step));
        let (from, to) = gaps.all()[1];
        near(from, 5.5 * step);
        near(to, 5.5 * step + 4e-3 - step);
        near(gaps.seconds_between(0.0, 1.0), 4e-3);
        near(gaps.seconds_between(from + 1e-3, from + 1.5e-3), 5e-4);
        assert_eq!(gaps.seconds_between(to, 1.0), 0.0);
    }

    #[test]
    fn a_thread_that_was_away_from_the_start_has_a_gap() {
        let gaps = of_steps(&[0.05, 4e-5, 4e-5]);
        assert_eq!(gaps.all(), [(0.0, 0.05)]);
    }

    #[test]
    fn the_number_of_gaps_is_limited_and_none_is_lost() {
        let steps: Vec<f64> = (0..3 * MAX_GAPS).map(|i| [1e-5, 1e-3][i % 2]).collect();
        let gaps = of_steps(&steps);
        assert_eq!(gaps.all().len(), MAX_GAPS);
        let all: f64 = steps.iter().sum();
        near(gaps.all()[MAX_GAPS - 1].1, all - 1e-5);
    }

    #[test]
    fn a_thread_that_never_reads_the_clock_has_none() {
        let mut gaps = Gaps::begin();
        gaps.end();
        assert!(gaps.all().is_empty());
        gaps.read_clock();
        gaps.end();
        assert!(!gaps.all().is_empty());
    }
}
