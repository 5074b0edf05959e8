//! The exact state of a hot loop before it runs and after `n` iterations.
//!
//! A compiler or a core that skips work leaves another state. All values are integers that the type
//! holds exactly, so the test is equality, not closeness.

use super::isa::Element;
use crate::mix::STEP;

/// Maximum additions to an accumulator before it restarts. The values stay below 2^24, up to which
/// an f32 counts exactly.
const MAX_ADDS: u64 = 1 << 23;

/// Multipliers of the integer mix's two recurrences x = x * A - 1, y = y * B + 1.
pub(crate) const MULTIPLIER_X: i32 = 1_103_515_245;
pub(crate) const MULTIPLIER_Y: i32 = 1_664_525;

/// Slots of the 17-operation mix.
pub(crate) mod slot {
    /// Counts up by 1. The dividend is 3 times this value.
    pub(crate) const V: usize = 0;
    /// Adds the first quotient and subtracts `V`.
    pub(crate) const S: usize = 1;
    /// Counts down by 1. The dividend is 7 times this value.
    pub(crate) const W: usize = 2;
    /// Adds the second quotient and subtracts `W`.
    pub(crate) const T: usize = 3;
    /// First recurrence.
    pub(crate) const X: usize = 4;
    /// Second recurrence.
    pub(crate) const Y: usize = 5;
    /// Counts up by 1.
    pub(crate) const U: usize = 6;
    /// Results of the two vector comparisons.
    pub(crate) const EQUAL: [usize; 2] = [7, 8];
    /// 1, 3, 7, 2, 1/2.
    pub(crate) const CONSTANTS: usize = 9;
    pub(crate) const COUNT: usize = 14;
}

/// The law of a hot loop: the formula of its expected state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// A loop with `accumulators` registers, then one with the step. Each iteration runs `adds` add
    /// instructions, distributed over the accumulators in turn. Each instruction counts as `each`
    /// operations per lane (2 where a multiplication by 1 goes with it).
    Sum { accumulators: usize, adds: u64, each: u64 },
    /// Runs the 17-operation mix. `masks`: the comparisons leave a vector.
    Arithmetic { masks: bool },
}

impl Law {
    /// Returns the registers in the state.
    pub(crate) const fn slots(self) -> usize {
        match self {
            Self::Sum { accumulators, .. } => accumulators + 1,
            Self::Arithmetic { .. } => slot::COUNT,
        }
    }

    /// Returns the operations of one iteration of one lane.
    pub(crate) const fn operations(self) -> u64 {
        match self {
            Self::Sum { adds, each, .. } => adds * each,
            Self::Arithmetic { .. } => 17,
        }
    }

    /// Returns the maximum iterations from the start for which the state is exact.
    pub(crate) const fn most_iterations(self) -> u64 {
        match self {
            Self::Sum { .. } => MAX_ADDS / self.adds_into(0),
            Self::Arithmetic { .. } => 1 << 26,
        }
    }

    /// Returns the add instructions per iteration into an accumulator.
    const fn adds_into(self, slot: usize) -> u64 {
        match self {
            Self::Sum { accumulators, adds, .. } if slot < accumulators => {
                let all = accumulators as u64;
                adds / all + ((slot as u64) < adds % all) as u64
            }
            _ => 0,
        }
    }

    /// Returns the bits of one lane after `n` iterations. The start value is at `n = 0`.
    pub(crate) fn after(self, element: Element, slot: usize, lane: usize, n: u64) -> u64 {
        match self {
            Self::Sum { accumulators, .. } if slot == accumulators => step(element),
            Self::Sum { .. } => {
                // Each lane has its own start value, so that no lane can replace another.
                let start = (1 + slot * 16 + lane) as u64;
                let adds = n * self.adds_into(slot);
                match element {
                    Element::F64 => ((start + adds) as f64).to_bits(),
                    Element::F32 => u64::from(((start + adds) as f32).to_bits()),
                    Element::I64 => start.wrapping_add(adds.wrapping_mul(STEP)),
                    Element::I32 => start.wrapping_add(adds.wrapping_mul(STEP)) & 0xffff_ffff,
                }
            }
            Self::Arithmetic { masks } => arithmetic(element, masks, slot, lane, n),
        }
    }

    /// Returns the iterations that lane 0 of the first accumulator has done.
    pub(crate) fn count(self, element: Element, bits: u64) -> Option<u64> {
        let start = self.after(element, 0, 0, 0);
        let steps = match element {
            Element::F64 => whole(f64::from_bits(bits) - f64::from_bits(start))?,
            Element::F32 => {
                whole(f64::from(f32::from_bits(bits as u32) - f32::from_bits(start as u32)))?
            }
            Element::I64 | Element::I32 => {
                let difference = bits.wrapping_sub(start);
                match (self, element) {
                    (Self::Arithmetic { .. }, _) => difference,
                    (_, Element::I32) => difference.wrapping_mul(inverse(STEP)) & 0xffff_ffff,
                    _ => difference.wrapping_mul(inverse(STEP)),
                }
            }
        };
        match self {
            Self::Sum { .. } => {
                let adds = self.adds_into(0);
                steps.is_multiple_of(adds).then_some(steps / adds)
            }
            Self::Arithmetic { .. } => Some(steps),
        }
    }
}

/// Converts a count that was computed in floating point, if it is whole.
fn whole(x: f64) -> Option<u64> {
    ((0.0..9e15).contains(&x) && x.fract() == 0.0).then_some(x as u64)
}

/// Returns the number added at each step: 1, or [`STEP`] for integers. [`STEP`] is odd, so its
/// inverse modulo 2^64 or 2^32 gives the count of steps.
fn step(element: Element) -> u64 {
    match element {
        Element::F64 => 1.0_f64.to_bits(),
        Element::F32 => u64::from(1.0_f32.to_bits()),
        Element::I64 => STEP,
        Element::I32 => STEP & 0xffff_ffff,
    }
}

/// Returns the inverse modulo 2^64 by Newton's method. Each round doubles the number of correct
/// bits, from 3 on.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}

fn arithmetic(element: Element, masks: bool, slot: usize, lane: usize, n: u64) -> u64 {
    let lane = lane as u64;
    let float = element == Element::F64;
    let value = match slot {
        slot::V => 1 + lane + n,
        slot::S => 1_000 + lane,
        slot::W => (1 << 44) + lane - n,
        slot::T => 2_000 + lane,
        slot::X if float => 3,  // 3 * 2 - 3
        slot::Y if float => 14, // 14 / 2 + 7
        slot::X => return affine(i64::from(MULTIPLIER_X), -1, n, 11) as u64,
        slot::Y => return affine(i64::from(MULTIPLIER_Y), 1, n, 13) as u64,
        slot::U => 5_000 + lane + n,
        s if slot::EQUAL.contains(&s) => return if masks && n > 0 { u64::MAX } else { 0 },
        _ if float => return [1.0_f64, 3.0, 7.0, 2.0, 0.5][slot - slot::CONSTANTS].to_bits(),
        _ => [1, 3, 7, 2, 0][slot - slot::CONSTANTS],
    };
    if float { (value as f64).to_bits() } else { value }
}

/// Computes `x = x * a + b` `n` times, modulo 2^64, by squaring the map.
fn affine(mut a: i64, mut b: i64, mut n: u64, mut x: i64) -> i64 {
    while n > 0 {
        if n & 1 == 1 {
            x = x.wrapping_mul(a).wrapping_add(b);
        }
        b = b.wrapping_mul(a).wrapping_add(b);
        a = a.wrapping_mul(a);
        n >>= 1;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_f32_stays_exact_to_the_end() {
        for adds in [15_u64, 60, 124, 208] {
            let law = Law::Sum { accumulators: 13, adds, each: 1 };
            let most = law.most_iterations() * law.adds_into(0) + 16 * 40;
            assert!(most < 1 << 24, "{adds}");
        }
    }
}
