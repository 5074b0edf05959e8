//! The clock that times slices: the CPU's counter if Linux keeps time by it, else
//! CLOCK_MONOTONIC_RAW. On x86-64 the counter takes 10 ns to read, the clock 22 ns, or 250 ns
//! without the vDSO.
//!
//! Slices need a counter that runs at one rate on all CPUs and never goes back. x86-64: the
//! time-stamp counter if CPUID calls it invariant. AArch64: the system counter, whose rate the
//! architecture fixes (Arm Architecture Reference Manual, "The Generic Timer").

#![allow(unsafe_code)] // Reading the counter is an instruction.

use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use crate::clock::raw_ns;

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

    /// Clocksources of Linux that read the time-stamp counter.
    pub(super) const CLOCKSOURCES: &[&str] = &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];

    /// True if the counter's rate does not change with the core's clock.
    pub(super) fn has_one_rate() -> bool {
        const INVARIANT: u32 = 1 << 8;
        let has = __cpuid(0x8000_0000).eax >= 0x8000_0007;
        has && __cpuid(0x8000_0007).edx & INVARIANT != 0
    }

    /// Ticks per second. Not every CPU reports them (leaf 0x15 of CPUID).
    pub(super) fn hz() -> Option<f64> {
        None
    }

    /// Reads the counter after all loads before it. Without the fence the reading after a pointer
    /// chase is some microseconds too early.
    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 CPU has both instructions.
        unsafe {
            _mm_lfence();
            _rdtsc()
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod counter {
    use std::arch::asm;

    /// The clocksource of Linux that reads the system counter.
    pub(super) const CLOCKSOURCES: &[&str] = &["arch_sys_counter"];

    /// True: the architecture requires one rate, whatever the core's clock.
    pub(super) fn has_one_rate() -> bool {
        true
    }

    /// Ticks per second as the firmware reports them; `None` if it left the register at 0.
    pub(super) fn hz() -> Option<f64> {
        let hz: u64;
        // SAFETY: reads a register and nothing else. Linux lets processes read it, or emulates that.
        unsafe {
            asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags));
        }
        (hz > 0).then_some(hz as f64)
    }

    /// Reads the counter after all loads before it: `dsb` waits for them, and `isb` keeps the core
    /// from reading the counter ahead of the `dsb`.
    #[inline]
    pub(super) fn read() -> u64 {
        let ticks: u64;
        // SAFETY: two barriers and a register. Linux lets processes read it, or emulates that where
        // it works around a faulty counter. Without `nomem` the compiler moves no access across it.
        unsafe {
            asm!(
                "dsb nshld",
                "isb",
                "mrs {}, cntvct_el0",
                out(reg) ticks,
                options(nostack, preserves_flags),
            );
        }
        ticks
    }
}

/// True if slices are timed by the counter.
fn by_counter() -> bool {
    static BY: OnceLock<bool> = OnceLock::new();
    *BY.get_or_init(|| {
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = std::fs::read_to_string(source).unwrap_or_default();
        counter::CLOCKSOURCES.contains(&source.trim()) && counter::has_one_rate()
    })
}

/// A clock that counts ticks. [`Scale`] gives their length.
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
        if self.by_counter { counter::read() } else { raw_ns() }
    }

    /// Ticks that one reading takes. The time between two readings contains one of these.
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

    /// The approximate number of ticks in these seconds.
    pub(crate) fn in_seconds(self, seconds: f64) -> u64 {
        static PER_SECOND: OnceLock<f64> = OnceLock::new();
        let per_second = *PER_SECOND.get_or_init(|| {
            let reported = if self.by_counter { counter::hz() } else { None };
            reported.unwrap_or_else(|| self.measured_per_second(Duration::from_millis(2)))
        });
        (seconds * per_second) as u64
    }

    /// Ticks per second by CLOCK_MONOTONIC_RAW, measured for that long.
    fn measured_per_second(self, duration: Duration) -> f64 {
        let from = Moment::read(self);
        thread::sleep(duration);
        1.0 / Scale::between(from, Moment::read(self)).tick_s
    }
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    tick: u64,
    raw_ns: u64,
}

impl Moment {
    /// Reads both clocks. Of eight readings it takes the one whose surrounding ticks are closest.
    pub(crate) fn read(ticks: Ticks) -> Self {
        let reading = |_| {
            let before = ticks.now();
            let raw_ns = raw_ns();
            let took = ticks.now().saturating_sub(before);
            (took, Self { tick: before + took / 2, raw_ns })
        };
        (0..8).map(reading).min_by_key(|(took, _)| *took).map_or_else(|| unreachable!(), |m| m.1)
    }

    /// The time of a tick, in seconds on CLOCK_MONOTONIC_RAW.
    pub(crate) fn raw_seconds_at(self, tick: u64, scale: Scale) -> f64 {
        let ticks = tick as i128 - i128::from(self.tick);
        self.raw_ns as f64 * 1e-9 + ticks as f64 * scale.tick_s
    }

    /// Seconds from this moment to a later one, by CLOCK_MONOTONIC_RAW.
    pub(crate) fn seconds_to(self, later: Self) -> f64 {
        later.raw_ns.saturating_sub(self.raw_ns) as f64 * 1e-9
    }
}

/// The length of a tick by CLOCK_MONOTONIC_RAW, measured over a trial.
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

    #[test]
    fn a_tick_has_its_time_on_the_raw_clock() {
        let (moment, scale) =
            (Moment { tick: 1000, raw_ns: 5_000_000_000 }, Scale { tick_s: 1e-3 });
        assert_eq!([0, 1000, 3000].map(|tick| moment.raw_seconds_at(tick, scale)), [4.0, 5.0, 7.0]);
    }

    #[test]
    fn the_ticks_of_a_second_are_those_of_the_raw_clock() {
        let ticks = Ticks::new();
        let measured = ticks.measured_per_second(Duration::from_millis(20));
        let ratio = ticks.in_seconds(1.0) as f64 / measured;
        assert!((ratio - 1.0).abs() < 0.01, "{ratio} of {measured} ticks per second");
    }

    #[test]
    fn the_counter_never_goes_back_and_has_the_rate_that_it_reports() {
        let ticks = Ticks { by_counter: true };
        if counter::has_one_rate() {
            let readings: Vec<u64> = (0..10_000).map(|_| ticks.now()).collect();
            assert!(readings.is_sorted());
            assert!(readings.first() < readings.last(), "it stands still");
        }
        // x86-64 reports no rate.
        if let Some(hz) = counter::hz() {
            let measured = ticks.measured_per_second(Duration::from_millis(20));
            assert!((hz / measured - 1.0).abs() < 0.01, "{hz} Hz reported, {measured} measured");
        }
    }
}
