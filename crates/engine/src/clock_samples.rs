//! The core's clock and issue width (NOPs per cycle) while a load runs, read between its parts.
//!
//! A core lowers its clock for wide vectors, the more the denser they and the loads with
//! them come, and raises it again some microseconds after the last. Measured on one Granite
//! Rapids: 3.4 GHz under 512-bit multiply-adds alone, 3.1 with the loads of a matrix product
//! from the first cache, 2.9 from the second; 3.6 from 1 to 80 us after them, with a halt of
//! 1.5 us between. So a chain of dependent instructions is run in the first half microsecond after a
//! part of the load; one part earlier it is run once, untimed, so that its code is at hand.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::chain::{self, Chain};
use crate::clock::{nanos, precision};
use proofmark_model::median;

/// Cycles of the short and the long run of a reading. Both hold what reading the time takes, and
/// their difference does not, if the short one is longer than what overlaps with it.
const CYCLES: [u64; 2] = [192, 1152];

/// Steps of NOPs, short and long: together a quarter of a microsecond, after the next part.
const NOPS: [u64; 2] = [16, 96];

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

/// What comes after the next part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A look at the time.
    Look,
    Clock,
    Nops,
}

/// One thread's readings of its core's clock in one run of its load.
#[derive(Debug)]
pub struct ClockSamples {
    start: i64,
    last: i64,
    /// Parts until the time is looked at, or the clock read.
    parts: u32,
    next: Next,
    fine: bool,
    samples: Vec<Sample>,
    /// Steps of NOPs per second.
    nops: Vec<f64>,
}

impl Default for ClockSamples {
    /// Takes 384 KiB.
    fn default() -> Self {
        // A bad moment does not decide for the whole process.
        static FINE: AtomicBool = AtomicBool::new(false);
        let fine = FINE.load(Ordering::Relaxed) || is_fine();
        FINE.store(fine, Ordering::Relaxed);
        // Written to, so that no page is made while a load is timed.
        let mut samples = vec![Sample { hz: 1.0, seconds: 1.0 }; MOST];
        samples.clear();
        let mut nops = vec![1.0; MOST];
        nops.clear();
        Self { start: 0, last: 0, parts: 1, next: Next::Look, fine, samples, nops }
    }
}

impl ClockSamples {
    /// Forgets the readings, at the start of a run.
    pub fn begin(&mut self) {
        self.samples.clear();
        self.nops.clear();
        (self.parts, self.next) = (1, Next::Look);
        self.start = nanos();
        self.last = self.start;
    }

    /// Called after each part of the load, of some microseconds or more. Reads the clock if
    /// it is time to, which takes one to two microseconds a millisecond and no memory.
    #[inline]
    pub fn tick(&mut self) {
        self.parts -= 1;
        if self.parts == 0 {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        (self.parts, self.next) = match self.next {
            Next::Look if self.is_due() => {
                std::hint::black_box(clock_now([1, 1]));
                chain::nops(1);
                (1, Next::Clock)
            }
            Next::Look => (PARTS, Next::Look),
            Next::Clock => {
                let hz = clock_now(CYCLES.map(|cycles| Chain::First.steps(cycles)));
                let now = nanos();
                if let Some(hz) = hz {
                    self.samples.push(Sample { hz, seconds: (now - self.last) as f64 * 1e-9 });
                }
                self.last = now;
                (1, Next::Nops)
            }
            Next::Nops => {
                self.nops.extend(per_second(NOPS, chain::nops));
                (PARTS, Next::Look)
            }
        };
    }

    fn is_due(&self) -> bool {
        let now = nanos();
        let apart = APART_NS.max((now - self.start) / APART_SHARE);
        let due = self.samples.is_empty() || now - self.last >= apart;
        due && self.fine && self.samples.len() < MOST
    }

    /// With these readings, each with the seconds since the one before.
    #[cfg(test)]
    pub(crate) fn of(readings: &[(f64, f64)]) -> Self {
        let samples = readings.iter().map(|(hz, seconds)| Sample { hz: *hz, seconds: *seconds });
        Self { samples: samples.collect(), ..Self::default() }
    }

    /// NOPs that the core issued per cycle, by the medians of both readings. `None` if there are few.
    pub fn issue_width(&self) -> Option<f64> {
        let hz: Vec<f64> = self.samples.iter().map(|s| s.hz).collect();
        let steps_s = median(&self.nops).filter(|_| self.nops.len() >= LEAST)?;
        Some(steps_s * chain::PER_STEP as f64 / median(&hz)?)
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

/// Whether the system's clock can time some hundred nanoseconds.
fn is_fine() -> bool {
    let p = precision();
    let resolved = p.resolution_s.is_some_and(|r| r <= STEP * p.overhead_s);
    resolved && p.overhead_s <= OVERHEAD_S
}

/// The clock of the calling thread's core just now, by chains of so many steps.
#[inline(never)] // Its code is at hand when it is called again.
fn clock_now(steps: [u64; 2]) -> Option<f64> {
    let run = |steps| {
        std::hint::black_box(Chain::First.run(1, steps));
    };
    run(1); // Into the first cache.
    Some(per_second(steps, run)? * Chain::First.cycles() as f64)
}

/// Steps a second, of a short run and a long one, whose difference is without the reading of the time.
fn per_second([short, long]: [u64; 2], run: impl Fn(u64)) -> Option<f64> {
    let start = nanos();
    run(short);
    let between = nanos();
    run(long);
    let end = nanos();
    let nanos = (end - between) - (between - start);
    (nanos > 0).then(|| (long - short) as f64 * 1e9 / nanos as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proofmark_testing::{DEADLINE, skip, wait_until};

    use super::*;

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
            return skip("no fine clock");
        }
        let plain_hz = || crate::chain::read_clock(200e-6, 50).hz();
        // A clock may step from one reading to the next, and other work may disturb any of them.
        wait_until("a clock and an issue width that a core can have", || {
            let plain = plain_hz();
            clock.begin();
            let begun = Instant::now();
            while clock.samples.len() < 10 {
                assert!(begun.elapsed() < DEADLINE, "{:?}", clock.samples);
                std::hint::black_box(Chain::First.run(1, 33));
                clock.tick();
            }
            let apart = clock.samples.iter().skip(1).all(|s| s.seconds >= APART_NS as f64 * 1e-9);
            assert!(apart, "{:?}", clock.samples);
            let share = clock.mean(plain).map(|(hz, _)| hz / plain);
            let is_one = share.is_some_and(|share| (0.7..1.05).contains(&share));
            let has_width = clock.issue_width().is_some_and(|w| (0.5..16.0).contains(&w));
            if is_one && has_width {
                Ok(())
            } else {
                Err(format!("{share:?} of {plain}: {clock:?}"))
            }
        });
        clock.begin();
        assert_eq!((clock.mean(plain_hz()), clock.issue_width()), (None, None));
    }
}
