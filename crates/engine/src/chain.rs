//! Measures the core clock by chains of dependent instructions with known latency.
//!
//! x86-64: one chain of multiplications, 3 cycles each, and one of register adds, 1 cycle each.
//! Multiplications of 32 bits take 3 cycles on Intel since Nehalem and on AMD since Zen. On Zen 1
//! those of 64 bits take 4 (uops.info, Agner Fog's instruction tables). AArch64: adds and exclusive
//! ORs, 1 cycle each.
//!
//! The faster chain gives the clock. A busy SMT sibling slows one-cycle chains (Zen 5: by 1.5 to
//! 3.5 %), but not multiplications. Only a shortcut of the core makes a chain faster than the
//! clock, and the two chains share no shortcut. Adds of an immediate do not work: cores since
//! Golden Cove fold several into one while renaming. The clock would read five times too high.

#![allow(unsafe_code)] // The chains are inline assembly: a compiler would fold them.

use crate::clock::{overhead_s, raw_seconds};

/// Instructions in one step of either chain.
pub(crate) const PER_STEP: u64 = 64;

/// One of the two chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// Multiplications on x86-64, adds on AArch64.
    First,
    /// Adds on x86-64, exclusive ORs on AArch64.
    Second,
}

impl Chain {
    /// The two chains.
    pub(crate) const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Cycles that a step takes.
    pub const fn cycles(self) -> u64 {
        let each = match self {
            Self::First if cfg!(target_arch = "x86_64") => 3,
            _ => 1,
        };
        PER_STEP * each
    }

    /// Runs `steps` steps from `x` and returns the last result.
    pub fn run(self, x: u64, steps: u64) -> u64 {
        match self {
            Self::First => first(x, steps),
            Self::Second => second(x, steps),
        }
    }

    /// Steps that take about this many cycles, at least one.
    pub(crate) fn steps(self, cycles: u64) -> u64 {
        (cycles / self.cycles()).max(1)
    }

    /// Runs for about this many cycles and returns the exact number.
    pub(crate) fn run_for(self, cycles: u64) -> u64 {
        let steps = self.steps(cycles);
        std::hint::black_box(self.run(1, steps));
        steps * self.cycles()
    }
}

/// The result of the first chain after `steps` steps from 1. On x86-64 it repeats every 2^24 steps.
pub fn first_after(steps: u64) -> u64 {
    let times = steps.wrapping_mul(PER_STEP);
    if cfg!(target_arch = "x86_64") {
        // Powers of 3 repeat after 2^30 of them.
        u64::from(3_u32.wrapping_pow((times % (1 << 30)) as u32))
    } else {
        times.wrapping_add(1)
    }
}

/// Clock of the calling thread's core, in Hz, by each chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// By the first chain, by the second chain.
    pub by: [f64; 2],
}

impl Reading {
    /// The clock in Hz, by the faster chain.
    pub fn hz(&self) -> f64 {
        self.by[0].max(self.by[1])
    }

    /// Fraction by which the slower chain is slower.
    pub fn disagreement(&self) -> f64 {
        1.0 - self.by[0].min(self.by[1]) / self.hz()
    }
}

/// Reads the clock: runs the chains in turn, `rounds` times each, for about `slice_s` seconds. The
/// fastest run of each counts, since an interruption can only slow a chain down.
pub fn read_clock(slice_s: f64, rounds: u32) -> Reading {
    // An assumed 3 GHz is close enough to size a slice.
    let cycles = ((slice_s * 3e9) as u64).max(16 * PER_STEP);
    let mut by = [0.0; 2];
    for _ in 0..rounds.max(1) {
        for (fastest, chain) in by.iter_mut().zip(Chain::BOTH) {
            *fastest = rate(|| Some(chain.run_for(cycles))).unwrap_or(0.0).max(*fastest);
        }
    }
    Reading { by }
}

/// Cycles per second, without the time that the two readings of the clock cost. Otherwise a slow
/// clock would make a core look slower.
pub(crate) fn rate(chain: impl FnOnce() -> Option<u64>) -> Option<f64> {
    let start = raw_seconds();
    let cycles = chain()?;
    let seconds = raw_seconds() - start;
    Some(cycles as f64 / (seconds - overhead_s()).max(seconds / 2.0))
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

/// Defines a function that runs an instruction `steps * 64` times, each on the result of the one
/// before.
macro_rules! chain {
    ($name:ident, $operand:literal, $instruction:literal) => {
        #[doc = concat!("Runs `", $instruction, "`, where y is ", $operand, ", `steps * 64` times, each \
            after the other, and returns x.")]
        #[inline(never)]
        fn $name(mut x: u64, steps: u64) -> u64 {
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

/// Runs `steps * 64` NOPs. They take as long as the core needs to issue them, about twice as long
/// while another hardware thread of the core works.
#[inline(never)]
pub(crate) fn nops(steps: u64) {
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
chain!(first, 3, "imul {x:e}, {y:e}");
#[cfg(target_arch = "x86_64")]
chain!(second, 1, "add {x}, {y}");
#[cfg(target_arch = "aarch64")]
chain!(first, 1, "add {x}, {x}, {y}");
#[cfg(target_arch = "aarch64")]
chain!(second, 1, "eor {x}, {x}, {y}");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chains_do_the_work_they_claim() {
        for steps in [0_u64, 1, 7, 1000, (1 << 24) + 5] {
            assert_eq!(Chain::First.run(1, steps), first_after(steps), "{steps}");
        }
        let in_parts = [3, 0, 4].into_iter().fold(1, |x, steps| Chain::First.run(x, steps));
        assert_eq!(in_parts, first_after(7));
        assert_ne!(first_after(7), first_after(8));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(Chain::Second.run(1, 1000), 64_001);
    }

    #[test]
    fn the_chains_agree() {
        // Several times, since a clock may step between the two chains.
        let readings: Vec<_> = (0..5).map(|_| read_clock(200e-6, 50)).collect();
        assert!(readings.iter().any(|r| r.disagreement() < 0.03), "{readings:?}");
    }

    #[test]
    fn disagreement_is_seen() {
        for by in [[20e9, 4e9], [4e9, 20e9]] {
            let r = Reading { by };
            assert!(r.hz() > 19e9 && r.disagreement() > 0.5, "{r:?}");
        }
    }
}
