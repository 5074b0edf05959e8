//! The core's clock while a load runs, read between its parts.
//!
//! A core lowers its clock for wide vectors, the more the denser they and the loads with
//! them come, and raises it again some microseconds after the last. Measured on one Granite
//! Rapids: 3.4 GHz under 512-bit multiply-adds alone, 3.1 with the loads of a matrix product
//! from the first cache, 2.9 from the second; 3.6 from 1 to 80 us after them, with a halt of
//! 1.5 us between. So a chain of dependent adds is run in the first half microsecond after a
//! part of the load; one part earlier it is run once, untimed, so that its code is at hand.

use std::sync::OnceLock;

use crate::chain::{self, PER_STEP};
use crate::clock::{nanos, precision};
use proofmark_model::median;

/// Steps of the two chains of a reading. What reading the time takes is in both, and their
/// difference is without it, if the short one is longer than what runs with it.
const STEPS: [u64; 2] = [3, 19];

/// Readings are a millisecond apart at least, a thousandth of the run if that is more.
const APART_NS: i64 = 1_000_000;
const APART_SHARE: i64 = 1000;

/// Parts after which the time is looked at.
const PARTS: u32 = 16;

/// Room for readings: a run of a day has fewer.
const MOST: usize = 1 << 14;

/// Fewer readings give no clock.
const LEAST: usize = 3;

/// A clock that takes longer to read cannot time some hundred nanoseconds.
const OVERHEAD_S: f64 = 100e-9;

/// Nor can one whose least step between two readings is more than so many times what a
/// reading takes: it ticks coarsely.
const STEP: f64 = 1.5;

/// Believed shares of the plain clock: no core halves its clock for wide vectors, or raises it.
pub(crate) const BELIEVED: std::ops::Range<f64> = 0.5..1.05;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    hz: f64,
    seconds: f64,
}

/// One thread's readings of its core's clock in one run of its load.
#[derive(Debug)]
pub struct ClockSamples {
    start: i64,
    last: i64,
    /// Parts until the time is looked at, or the clock read.
    parts: u32,
    ready: bool,
    fine: bool,
    samples: Vec<Sample>,
}

impl Default for ClockSamples {
    /// Takes 256 KiB.
    fn default() -> Self {
        static FINE: OnceLock<bool> = OnceLock::new();
        let fine = *FINE.get_or_init(|| {
            let p = precision();
            let resolved = p.resolution_s.is_some_and(|r| r <= STEP * p.overhead_s);
            resolved && p.overhead_s <= OVERHEAD_S
        });
        // Written to, so that no page is made while a load is timed.
        let mut samples = vec![Sample { hz: 1.0, seconds: 1.0 }; MOST];
        samples.clear();
        Self { start: 0, last: 0, parts: 1, ready: false, fine, samples }
    }
}

impl ClockSamples {
    /// Forgets the readings, at the start of a run.
    pub fn begin(&mut self) {
        self.samples.clear();
        (self.parts, self.ready) = (1, false);
        self.start = nanos();
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
            let hz = clock_now(STEPS);
            let now = nanos();
            if let Some(hz) = hz {
                self.samples.push(Sample { hz, seconds: (now - self.last) as f64 * 1e-9 });
            }
            self.last = now;
            return;
        }
        let now = nanos();
        let apart = APART_NS.max((now - self.start) / APART_SHARE);
        let due = self.samples.is_empty() || now - self.last >= apart;
        if due && self.fine && self.samples.len() < MOST {
            std::hint::black_box(clock_now([1, 1]));
            (self.ready, self.parts) = (true, 1);
        }
    }

    /// With these readings, each with the seconds since the one before.
    #[cfg(test)]
    pub(crate) fn of(readings: &[(f64, f64)]) -> Self {
        let samples = readings.iter().map(|(hz, seconds)| Sample { hz: *hz, seconds: *seconds });
        Self { samples: samples.collect(), ..Self::default() }
    }

    /// The clock over the run, weighted by time, and its standard deviation as a share of it.
    /// Readings far from the plain clock do not count; of three neighbours the middle one does,
    /// since an interrupted one is alone. `None` if few are left.
    pub fn mean(&self, plain: f64) -> Option<(f64, f64)> {
        let believed: Vec<Sample> =
            self.samples.iter().filter(|s| BELIEVED.contains(&(s.hz / plain))).copied().collect();
        if believed.len() < LEAST.max(self.samples.len().div_ceil(2)) {
            return None;
        }
        let (mut seconds, mut cycles, mut squares) = (0.0, 0.0, 0.0);
        for (i, s) in believed.iter().enumerate() {
            let from = i.saturating_sub(1).min(believed.len() - LEAST);
            let near: Vec<f64> = believed.iter().skip(from).take(LEAST).map(|s| s.hz).collect();
            let hz = median(&near)?;
            seconds += s.seconds;
            cycles += hz * s.seconds;
            squares += hz * hz * s.seconds;
        }
        let mean = cycles / seconds;
        let deviation = (squares / seconds - mean * mean).max(0.0).sqrt();
        mean.is_finite().then_some((mean, deviation / mean))
    }
}

/// The clock of the calling thread's core just now, by chains of so many steps.
#[inline(never)] // Its code is at hand when it is called again.
fn clock_now([short, long]: [u64; 2]) -> Option<f64> {
    std::hint::black_box(chain::adds(1)); // Into the first cache.
    let start = nanos();
    std::hint::black_box(chain::adds(short));
    let between = nanos();
    std::hint::black_box(chain::adds(long));
    let end = nanos();
    let nanos = (end - between) - (between - start);
    (nanos > 0).then(|| ((long - short) * PER_STEP) as f64 * 1e9 / nanos as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::raw_seconds;

    fn mean(of: &[(f64, f64)]) -> Option<(f64, f64)> {
        ClockSamples::of(of).mean(3.6e9)
    }

    #[test]
    fn the_mean_is_over_time() {
        let of = |s| mean(&[(2.9e9, 1.0), (2.9e9, 1.0), (3.1e9, s), (3.1e9, s)]).unwrap();
        let (hz, deviation) = of(1.0);
        assert!((hz - 3.0e9).abs() < 1.0, "{hz}");
        assert!((deviation - 0.1 / 3.0).abs() < 1e-6, "{deviation}");
        assert!((of(4.0).0 - 3.06e9).abs() < 1.0, "{}", of(4.0).0);
        assert_eq!(mean(&[(2.9e9, 1.0); 2]), None, "too few");
    }

    #[test]
    fn what_was_interrupted_does_not_count_and_a_clock_that_changed_does() {
        // Half the clock in one reading, and nonsense in another.
        let steady = [(3e9, 1.0), (3e9, 1.0), (2e9, 1.0), (3e9, 1.0), (3e10, 1.0), (3e9, 1.0)];
        assert!((mean(&steady).unwrap().0 - 3e9).abs() < 1.0);
        let changed: Vec<_> = (0..8).map(|i| (if i < 4 { 3.6e9 } else { 1.9e9 }, 1.0)).collect();
        assert!((mean(&changed).unwrap().0 - 2.75e9).abs() < 1.0);
        // Most readings fell into halts: nothing is known.
        assert_eq!(mean(&[(0.5e9, 1.0), (0.5e9, 1.0), (0.5e9, 1.0), (3e9, 1.0), (3e9, 1.0)]), None);
    }

    #[test]
    fn readings_are_a_millisecond_apart_and_tell_the_clock() {
        let mut clock = ClockSamples::default();
        if !clock.fine {
            proofmark_testing::skip("no fine clock");
            return;
        }
        let plain = chain::read_clock(200e-6, 50).by_adds;
        clock.begin();
        let start = raw_seconds();
        while clock.samples.len() < 10 {
            assert!(raw_seconds() - start < 10.0, "{:?}", clock.samples);
            std::hint::black_box(chain::adds(100));
            clock.tick();
        }
        let apart = clock.samples.iter().skip(1).all(|s| s.seconds >= APART_NS as f64 * 1e-9);
        assert!(apart, "{:?}", clock.samples);
        // A clock may step, and other work may slow it.
        let (hz, _) = clock.mean(plain).unwrap();
        assert!((0.7..1.05).contains(&(hz / plain)), "{hz} {plain}");
        clock.begin();
        assert_eq!(clock.mean(plain), None);
    }
}
