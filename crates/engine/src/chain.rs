//! The core clock, measured: chains of dependent instructions of known latency.
//!
//! Two chains of different instructions are run. One counts register adds of one cycle; the other,
//! multiplies of three cycles (x86-64: Intel since Nehalem, AMD since Zen, with 32-bit operands,
//! which Zen 1 multiplies in 3 cycles and 64-bit ones in 4; uops.info, Agner Fog's instruction
//! tables) or exclusive ORs of one cycle (AArch64). No shortcut of a core serves both, so a clock
//! that both agree on is a clock. Adds of an immediate will not do: cores since Golden Cove fold
//! several of them into one while renaming, and the "clock" reads five times too fast.

#![allow(unsafe_code)] // The chains are inline assembly: a compiler would fold them.

use crate::clock::{overhead_s, raw_seconds};

/// Instructions in one step of either chain.
pub const PER_STEP: u64 = 64;

#[cfg(target_arch = "x86_64")]
const SECOND_CYCLES: f64 = 3.0;
#[cfg(target_arch = "aarch64")]
const SECOND_CYCLES: f64 = 1.0;

/// Clock of the calling thread's core, in Hz, by two chains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// By the chain of adds.
    pub by_adds: f64,
    /// By the second chain.
    pub by_second: f64,
}

impl Reading {
    /// How far apart the two chains are, as a share of the first.
    pub fn disagreement(&self) -> f64 {
        (self.by_second / self.by_adds - 1.0).abs()
    }
}

/// Reads the clock: each chain `rounds` times for about `slice_s` seconds, in turn, and the fastest
/// of each counts, since an interruption can only slow a chain down.
pub fn read_clock(slice_s: f64, rounds: u32) -> Reading {
    // 3 GHz is near enough to size a slice.
    let steps = ((slice_s * 3e9 / PER_STEP as f64) as u64).max(16);
    let second_steps = ((steps as f64 / SECOND_CYCLES) as u64).max(16);
    let mut reading = Reading { by_adds: 0.0, by_second: 0.0 };
    for _ in 0..rounds.max(1) {
        reading.by_adds = reading.by_adds.max(clock_by(steps, 1.0, adds));
        reading.by_second = reading.by_second.max(clock_by(second_steps, SECOND_CYCLES, second));
    }
    reading
}

/// Cycles a second, less the clock's own cost: a slow clock would make a core look slower.
pub(crate) fn rate(chain: impl FnOnce() -> Option<f64>) -> Option<f64> {
    let start = raw_seconds();
    let cycles = chain()?;
    let seconds = raw_seconds() - start;
    Some(cycles / (seconds - overhead_s()).max(seconds / 2.0))
}

/// Clock by one chain, which takes `cycles` an instruction.
fn clock_by(steps: u64, cycles: f64, chain: fn(u64) -> u64) -> f64 {
    let timed = || {
        std::hint::black_box(chain(steps));
        Some((steps * PER_STEP) as f64 * cycles)
    };
    rate(timed).unwrap_or(0.0)
}

#[cfg(target_arch = "x86_64")]
macro_rules! again {
    () => {
        "dec {n}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! again {
    () => {
        "subs {n}, {n}, #1\nb.ne 2b"
    };
}

/// A function that runs an instruction `steps * 64` times, each on the result of the one before.
macro_rules! chain {
    ($name:ident, $start:literal, $operand:literal, $instruction:literal) => {
        #[doc = concat!("Runs `", $instruction, "`, where x begins as ", $start, " and y is ",
            $operand, ", `steps * 64` times, each after the other, and returns x.")]
        #[inline(never)]
        pub fn $name(steps: u64) -> u64 {
            let mut x: u64 = $start;
            if steps == 0 {
                return x;
            }
            // SAFETY: registers only; the loop ends because `n` counts down from a positive number.
            unsafe {
                std::arch::asm!(
                    ".p2align 6",
                    "2:",
                    ".rept 64",
                    $instruction,
                    ".endr",
                    again!(),
                    x = inout(reg) x,
                    y = in(reg) $operand as u64,
                    n = inout(reg) steps => _,
                    options(nomem, nostack),
                );
            }
            x
        }
    };
}

/// Runs an instruction that does nothing `steps * 64` times, as many a cycle as the core can issue:
/// about half as many while another hardware thread of the core works.
#[inline(never)]
pub fn nothing(steps: u64) {
    if steps == 0 {
        return;
    }
    // SAFETY: registers only; the loop ends because `n` counts down from a positive number.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept 64",
            "nop",
            ".endr",
            again!(),
            n = inout(reg) steps => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(target_arch = "x86_64")]
chain!(adds, 0, 1, "add {x}, {y}");
#[cfg(target_arch = "x86_64")]
chain!(second, 1, 3, "imul {x:e}, {y:e}");
#[cfg(target_arch = "aarch64")]
chain!(adds, 0, 1, "add {x}, {x}, {y}");
#[cfg(target_arch = "aarch64")]
chain!(second, 1, 1, "eor {x}, {x}, {y}");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chains_do_the_work_they_claim() {
        assert_eq!(adds(0), 0);
        assert_eq!(adds(1), 64);
        assert_eq!(adds(1000), 64_000);
        #[cfg(target_arch = "x86_64")]
        for steps in [0_u64, 1, 7] {
            assert_eq!(second(steps), u64::from(3_u32.wrapping_pow(steps as u32 * 64)));
        }
    }

    #[test]
    fn the_chains_agree() {
        // Several times, since a clock may step between the two chains.
        let readings: Vec<_> = (0..5).map(|_| read_clock(200e-6, 50)).collect();
        assert!(readings.iter().any(|r| r.disagreement() < 0.03), "{readings:?}");
    }

    #[test]
    fn disagreement_is_seen() {
        let r = Reading { by_adds: 20e9, by_second: 4e9 };
        assert!(r.disagreement() > 0.5);
    }
}
