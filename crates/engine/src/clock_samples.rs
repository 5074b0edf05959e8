//! The core's clock while a load runs, read between its parts.
//!
//! A core lowers its clock for wide vectors, the more the denser they and the loads beside
//! them come, and raises it again some microseconds after the last (measured on Granite
//! Rapids: 3.4 GHz under 512-bit multiply-adds alone, 3.1 with the loads of a matrix product
//! from the first cache, 2.9 from the second; 3.6 from 1 to 80 us after them, with a halt of
//! 1.5 us between). So a chain of dependent adds is run in the first half microsecond after a
//! part of the load; one part earlier it is run once, untimed, so that its code is at hand.

use crate::chain::{self, PER_STEP};
use crate::clock::monotonic;
use crate::statistics::median;

/// Steps of the two chains of a reading. What reading the time takes is in both, and their
/// difference is without it, if the short one is longer than what runs beside it.
const STEPS: [u64; 2] = [3, 19];

/// Readings are a millisecond apart at least, a thousandth of the run if that is more.
const APART_S: f64 = 1e-3;
const APART_SHARE: f64 = 1e-3;

/// Parts after which the time is looked at.
const PARTS: u32 = 16;

/// Room for readings: a run of a day has fewer.
const MOST: usize = 1 << 14;

/// A reading, and the time since the one before.
#[derive(Debug, Clone, Copy)]
struct Sample {
    hz: f64,
    seconds: f64,
}

/// One thread's readings of its core's clock in one run of its load.
#[derive(Debug)]
pub struct ClockSamples {
    start: f64,
    last: f64,
    /// Parts until the time is looked at, or the clock read.
    parts: u32,
    /// Whether the chain's code is at hand.
    ready: bool,
    samples: Vec<Sample>,
}

impl Default for ClockSamples {
    fn default() -> Self {
        // Written to, so that no page is made while a load is timed.
        let mut samples = vec![Sample { hz: 1.0, seconds: 1.0 }; MOST];
        samples.clear();
        let mut new = Self { start: 0.0, last: 0.0, parts: 1, ready: false, samples };
        new.begin();
        new
    }
}

impl ClockSamples {
    /// Forgets the readings, at the start of a run.
    pub fn begin(&mut self) {
        self.samples.clear();
        (self.parts, self.ready) = (1, false);
        self.start = monotonic();
        self.last = self.start;
    }

    /// Called after each part of the load, of some microseconds or more. Reads the clock if
    /// it is time to, which takes a microsecond a millisecond and no memory.
    #[inline]
    pub fn tick(&mut self) {
        self.parts -= 1;
        if self.parts == 0 {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        self.parts = PARTS;
        if self.ready {
            self.ready = false;
            let hz = clock_now();
            let now = monotonic();
            if let Some(hz) = hz {
                self.samples.push(Sample { hz, seconds: now - self.last });
            }
            self.last = now;
            return;
        }
        let now = monotonic();
        let apart = APART_S.max(APART_SHARE * (now - self.start));
        let due = self.samples.is_empty() || now - self.last >= apart;
        if due && self.samples.len() < MOST {
            std::hint::black_box(clock_now());
            (self.ready, self.parts) = (true, 1);
        }
    }

    /// The clock over the run, and its standard error as a share of it. Readings far from the
    /// median were interrupted and do not count.
    pub fn mean(&self) -> Option<(f64, f64)> {
        let readings: Vec<f64> = self.samples.iter().map(|s| s.hz).collect();
        let middle = median(&readings)?;
        let near = |s: &&Sample| (0.6 * middle..1.5 * middle).contains(&s.hz);
        let (mut seconds, mut cycles) = (0.0, 0.0);
        for s in self.samples.iter().filter(near) {
            seconds += s.seconds;
            cycles += s.hz * s.seconds;
        }
        let mean = cycles / seconds;
        let square = |s: &Sample| (s.seconds / seconds).powi(2) * (s.hz / mean - 1.0).powi(2);
        let error = self.samples.iter().filter(near).map(square).sum::<f64>().sqrt();
        mean.is_finite().then_some((mean, error))
    }
}

/// The clock of the calling thread's core just now.
fn clock_now() -> Option<f64> {
    if !chain::AVAILABLE {
        return None;
    }
    std::hint::black_box(chain::adds(1)); // Into the first cache.
    let start = monotonic();
    std::hint::black_box(chain::adds(STEPS[0]));
    let between = monotonic();
    std::hint::black_box(chain::adds(STEPS[1]));
    let end = monotonic();
    let seconds = (end - between) - (between - start);
    (seconds > 0.0).then(|| ((STEPS[1] - STEPS[0]) * PER_STEP) as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: &[(f64, f64)]) -> ClockSamples {
        let samples = of.iter().map(|(hz, seconds)| Sample { hz: *hz, seconds: *seconds });
        ClockSamples { samples: samples.collect(), ..ClockSamples::default() }
    }

    #[test]
    fn the_mean_is_over_time_and_without_what_was_interrupted() {
        assert!(samples(&[]).mean().is_none());
        let s = samples(&[(3e9, 0.001), (3e9, 0.002), (2.9e9, 0.003), (1e9, 0.5), (9e9, 0.5)]);
        let (mean, error) = s.mean().unwrap();
        assert!((mean - 2.95e9).abs() < 1.0, "{mean}");
        // 50 MHz of 2950 from the mean, with weights 1/6, 2/6, 3/6.
        assert!((error - 14.0_f64.sqrt() / 6.0 * 50.0 / 2950.0).abs() < 1e-9, "{error}");
    }

    #[test]
    fn readings_are_a_millisecond_apart_and_tell_the_clock() {
        let Some(plain) = chain::read_clock(200e-6, 50) else {
            eprintln!("skipped: no chains on this architecture");
            return;
        };
        let mut clock = ClockSamples::default();
        clock.begin();
        let start = monotonic();
        while monotonic() - start < 0.05 {
            clock.tick();
        }
        let seconds = monotonic() - start;
        let most = (seconds / APART_S) as usize + 1;
        assert!((2..=most).contains(&clock.samples.len()), "{}", clock.samples.len());
        // A clock may step, and other work may slow it.
        let (mean, _) = clock.mean().unwrap();
        assert!((0.7..1.2).contains(&(mean / plain.by_adds)), "{mean} {plain:?}");
        clock.begin();
        assert!(clock.mean().is_none());
    }
}
