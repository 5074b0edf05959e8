//! The clock that slices are timed with: the time-stamp counter where the system itself keeps time by
//! it, which takes 10 ns to read, else CLOCK_MONOTONIC_RAW, which takes 22, or 250 without the vDSO.

#![allow(unsafe_code)] // Reading the counter is an instruction.

use std::sync::OnceLock;

use crate::clock::raw_ns;

/// Clocks of Linux that are read from the counter: then it runs at one rate on all CPUs.
#[cfg(target_arch = "x86_64")]
const BY_COUNTER: [&str; 3] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];

/// Whether slices are timed by the counter.
fn by_counter() -> bool {
    static BY: OnceLock<bool> = OnceLock::new();
    *BY.get_or_init(counter_keeps_time)
}

#[cfg(target_arch = "x86_64")]
fn counter_keeps_time() -> bool {
    use std::arch::x86_64::__cpuid;
    const INVARIANT: u32 = 1 << 8;
    let has = __cpuid(0x8000_0000).eax >= 0x8000_0007;
    let invariant = has && __cpuid(0x8000_0007).edx & INVARIANT != 0;
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    invariant && BY_COUNTER.contains(&source.trim())
}

#[cfg(not(target_arch = "x86_64"))]
fn counter_keeps_time() -> bool {
    false
}

/// Reads the time in ticks of an unknown length; see [`Scale`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks {
    by_counter: bool,
}

impl Ticks {
    pub(crate) fn new() -> Self {
        Self { by_counter: by_counter() }
    }

    #[inline]
    pub(crate) fn now(self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.by_counter {
            // The counter alone is read before loads ahead of it are done: of a pointer chase, some
            // microseconds too early.
            // SAFETY: every x86-64 has both instructions.
            return unsafe {
                std::arch::x86_64::_mm_lfence();
                std::arch::x86_64::_rdtsc()
            };
        }
        raw_ns()
    }

    /// Ticks that one reading takes, which a stretch between two readings has in it.
    pub(crate) fn overhead(self) -> u64 {
        static OVERHEAD: OnceLock<u64> = OnceLock::new();
        *OVERHEAD.get_or_init(|| {
            let apart = |_| {
                let before = self.now();
                self.now().saturating_sub(before)
            };
            (0..1000).map(apart).min().unwrap_or(0)
        })
    }

    /// About how many ticks these seconds have.
    pub(crate) fn in_seconds(self, seconds: f64) -> u64 {
        static PER_SECOND: OnceLock<f64> = OnceLock::new();
        let per_second = *PER_SECOND.get_or_init(|| {
            let from = Moment::read(self);
            std::thread::sleep(std::time::Duration::from_millis(2));
            1.0 / Scale::between(from, Moment::read(self)).tick_s
        });
        (seconds * per_second) as u64
    }
}

/// The same moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    tick: u64,
    raw_ns: u64,
}

impl Moment {
    /// The reading between two of the ticks that are nearest to each other.
    pub(crate) fn read(ticks: Ticks) -> Self {
        let reading = |_| {
            let before = ticks.now();
            let raw_ns = raw_ns();
            let took = ticks.now().saturating_sub(before);
            (took, Self { tick: before + took / 2, raw_ns })
        };
        (0..8).map(reading).min_by_key(|(took, _)| *took).map_or_else(|| unreachable!(), |m| m.1)
    }
}

impl Moment {
    /// By CLOCK_MONOTONIC_RAW.
    pub(crate) fn seconds_to(self, later: Self) -> f64 {
        later.raw_ns.saturating_sub(self.raw_ns) as f64 * 1e-9
    }
}

/// The length of a tick, held against CLOCK_MONOTONIC_RAW over the time of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) tick_s: f64,
}

impl Scale {
    pub(crate) fn between(from: Moment, to: Moment) -> Self {
        let ticks = to.tick.saturating_sub(from.tick).max(1);
        Self { tick_s: from.seconds_to(to) / ticks as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_as_long_as_the_raw_clock_says() {
        let ticks = Ticks::new();
        let (from, start) = (Moment::read(ticks), raw_ns());
        let wait = ticks.in_seconds(0.02);
        while ticks.now() - from.tick < wait {}
        let raw_s = (raw_ns() - start) as f64 * 1e-9;
        let scale = Scale::between(from, Moment::read(ticks));
        let by_ticks_s = (ticks.now() - from.tick) as f64 * scale.tick_s;
        assert!(raw_s > 0.018, "{raw_s}");
        assert!(by_ticks_s >= raw_s - 1e-4, "{by_ticks_s} {raw_s}");
    }
}
