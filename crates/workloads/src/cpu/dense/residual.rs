//! The residual of a solution, computed as in HPL by many threads.
//!
//! Source: HPL 2.3, HPL_pdtest: |A x - b| / (eps (|A| |x| + |b|) n), with the largest row sum as
//! norm and eps = 2^-53.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest of several magnitudes. NaN counts as the largest.
#[derive(Debug, Default)]
struct Maximum(AtomicU64);

impl Maximum {
    fn take(&self, value: f64) {
        // Without the sign, the bits of numbers have the same order as the numbers, and NaN is
        // above all.
        self.0.fetch_max(value.abs().to_bits(), Ordering::Relaxed);
    }

    fn value(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// The residual of one solution, collected from rows in any order.
#[derive(Debug, Default)]
pub(super) struct Residual {
    difference: Maximum,
    a: Maximum,
    x: Maximum,
    b: Maximum,
}

impl Residual {
    /// Adds these rows of A x = b. `element` returns elements of A, or of b in column n.
    pub(super) fn take(
        &self,
        x: &[f64],
        rows: Range<usize>,
        element: impl Fn(usize, usize) -> f64,
    ) {
        for row in rows {
            let b = element(row, x.len());
            let (mut difference, mut sum) = (-b, 0.0);
            for (column, x) in x.iter().enumerate() {
                let a = element(row, column);
                difference += a * x;
                sum += a.abs();
            }
            self.difference.take(difference);
            self.a.take(sum);
            self.b.take(b);
            self.x.take(x[row]);
        }
    }

    /// Returns the largest difference, and the normalised residual that HPL compares with its
    /// threshold.
    pub(super) fn compute(&self, n: usize) -> (f64, f64) {
        let difference = self.difference.value();
        let scale = self.a.value() * self.x.value() + self.b.value();
        let eps = f64::EPSILON / 2.0;
        // A system of zeros is solved exactly.
        let normalised =
            if difference == 0.0 { 0.0 } else { difference / (eps * scale * n as f64) };
        (difference, normalised)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_residual_by_hand() {
        // 2 x + 1 y = 5 and 1 x - 3 y = -1, with x = 2 and y slightly above 1.
        let system = |row: usize, column: usize| [[2.0, 1.0, 5.0], [1.0, -3.0, -1.0]][row][column];
        let residual_of = |x: [f64; 2]| {
            let residual = Residual::default();
            residual.take(&x, 1..2, system);
            residual.take(&x, 0..1, system);
            residual.compute(2)
        };
        assert_eq!(residual_of([2.0, 1.0]), (0.0, 0.0));
        let (difference, normalised) = residual_of([2.0, 1.0 + 1e-6]);
        assert!((difference - 3e-6).abs() < 1e-12, "{difference}");
        // |A| = 4, |x| = 2, |b| = 5.
        let expected = 3e-6 / (2_f64.powi(-53) * (4.0 * 2.0 + 5.0) * 2.0);
        assert!((normalised / expected - 1.0).abs() < 1e-6, "{normalised}");
        assert!(residual_of([f64::NAN, 1.0]).1.is_nan());
        assert!(!residual_of([f64::INFINITY, 1.0]).1.is_finite());
    }
}
