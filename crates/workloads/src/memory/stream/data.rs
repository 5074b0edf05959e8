//! The contents of the arrays: numbers that grow evenly from element to element. So the result of
//! every operation is known, exact, and different at every element.

/// An arithmetic progression: element `i` is `first + i * step`.
///
/// All values here are whole numbers below 2^53, so additions are exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Progression {
    pub(super) first: f64,
    pub(super) step: f64,
}

/// Elements processed at once. The slices here have multiples of this length.
const LANES: usize = 8;

impl Progression {
    /// Returns the elements of a source array from `index` on. The first source counts from 1, the
    /// second from beyond the end of any first source.
    pub(super) fn source(number: u64, index: u64) -> Self {
        Self { first: (index + 1) as f64 + number as f64 * APART, step: 1.0 }
    }

    pub(super) fn constant(value: f64) -> Self {
        Self { first: value, step: 0.0 }
    }

    /// Applies a linear operation to two progressions, element by element.
    pub(super) fn combine(operation: impl Fn(f64, f64) -> f64, a: Self, b: Self) -> Self {
        let first = operation(a.first, b.first);
        Self { first, step: operation(a.first + a.step, b.first + b.step) - first }
    }

    pub(super) fn at(&self, index: usize) -> f64 {
        self.first + self.step * index as f64
    }

    pub(super) fn fill(&self, elements: &mut [f64]) {
        let mut lanes = self.lanes();
        for chunk in elements.as_chunks_mut::<LANES>().0 {
            *chunk = lanes;
            self.advance(&mut lanes);
        }
    }

    /// Returns the first element that differs from its expected number.
    pub(super) fn first_difference(&self, found: &[f64]) -> Option<usize> {
        let (mut lanes, mut different) = (self.lanes(), [0; LANES]);
        // Without a branch, so that the compiler generates vector code.
        for chunk in found.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                different[lane] |= chunk[lane].to_bits() ^ lanes[lane].to_bits();
            }
            self.advance(&mut lanes);
        }
        let equal = different.iter().all(|d| *d == 0);
        (!equal).then(|| (0..found.len()).find(|i| found[*i].to_bits() != self.at(*i).to_bits()))?
    }

    /// Returns the sum of the bits of this many elements as integers, modulo 2^64.
    pub(super) fn sum_of_bits(&self, elements: usize) -> u64 {
        let (mut lanes, mut sums) = (self.lanes(), [0_u64; LANES]);
        for _ in 0..elements / LANES {
            for lane in 0..LANES {
                sums[lane] = sums[lane].wrapping_add(lanes[lane].to_bits());
            }
            self.advance(&mut lanes);
        }
        sums.into_iter().fold(0, u64::wrapping_add)
    }

    fn lanes(&self) -> [f64; LANES] {
        std::array::from_fn(|lane| self.at(lane))
    }

    fn advance(&self, lanes: &mut [f64; LANES]) {
        for lane in lanes {
            *lane += self.step * LANES as f64;
        }
    }
}

/// Distance from the first source to the second: more than the elements of the largest array. Sums
/// of more than three times this value are still exact.
const APART: f64 = (1_u64 << 44) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_element_is_found() {
        let numbers = Progression::source(0, 1000);
        for wrong in 0..64 {
            for value in [f64::NAN, 0.0, numbers.at(wrong) + 1.0, -numbers.at(wrong)] {
                let mut found = vec![0.0; 64];
                numbers.fill(&mut found);
                found[wrong] = value;
                assert_eq!(numbers.first_difference(&found), Some(wrong), "{value}");
            }
        }
    }

    #[test]
    fn results_are_progressions_and_exact_at_the_end_of_the_greatest_arrays() {
        let triad = |a: f64, b: f64| a + 3.0 * b;
        for index in [0, 1, (1 << 43) - 64] {
            let sources = [Progression::source(0, index), Progression::source(1, index)];
            let result = Progression::combine(triad, sources[0], sources[1]);
            for i in [0, 1, 63] {
                let exact = (index + i + 1) * 4 + 3 * (1 << 44);
                assert_eq!(result.at(i as usize) as u64, exact);
            }
        }
        assert!(APART > Progression::source(0, 1 << 43).first);
    }
}
