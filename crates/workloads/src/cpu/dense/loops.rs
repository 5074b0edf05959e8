//! Instances of the inner loops for each instruction set.

#![allow(unsafe_code)] // Functions that need an instruction set.

use super::super::isa::Isa;
#[cfg(doc)]
use super::columns;
use super::matrix::GROUP;
use super::tile::{Tile, Update};

/// A micro-kernel (the BLAS term): the product of a tile of fixed size.
#[derive(Clone, Copy)]
pub(super) struct TileLoop {
    /// Rows of the tile: a divisor of [`super::matrix::MAX_ROWS`].
    pub(super) rows: usize,
    pub(super) groups: usize,
    /// See [`tile::multiply`].
    pub(super) run: unsafe fn(&Tile, usize, Update),
}

/// Solves a triangular system for some groups of columns.
#[derive(Clone, Copy)]
pub(super) struct SolveLower {
    pub(super) groups: usize,
    /// Arguments: L, elements to its next group, B, elements to its next group, groups of L. See
    /// [`columns::solve_lower`].
    pub(super) run: unsafe fn(*const f64, usize, *mut f64, usize, usize),
}

/// The loops of one instruction set. Tiles and solves are ordered from the widest to one group.
pub(crate) struct Loops {
    pub(super) tiles: &'static [TileLoop],
    pub(super) solves: &'static [SolveLower],
    /// See [`columns::eliminate`].
    pub(super) eliminate:
        unsafe fn(*mut f64, usize, usize, &mut [usize; GROUP]) -> Result<(), usize>,
    /// See [`columns::exchange`].
    pub(super) exchange: unsafe fn(*mut f64, *mut f64),
    /// Arguments: sums, lines, elements from one group of lines to the next, x, rows. See
    /// [`columns::accumulate`], with [`AT_ONCE`] groups.
    pub(super) accumulate: unsafe fn(*mut f64, *const f64, usize, *const f64, usize),
}

/// Groups per pass of the back substitution.
pub(super) const AT_ONCE: usize = 8;

/// Returns the inner loops of an instruction set, or `None` where this architecture has none.
pub(super) fn find(isa: Isa) -> Option<&'static Loops> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => Some(&avx512::LOOPS),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2Fma => Some(&avx2_fma::LOOPS),
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 => Some(&sse2::LOOPS),
        #[cfg(any(test, not(target_arch = "x86_64")))]
        Isa::Scalar => Some(&scalar::LOOPS),
        _ => None,
    }
}

/// Defines a module with the loops of one instruction set. Arguments: vector, enabling attribute,
/// tiles as rows x groups (rows divide 12), groups per triangular solve.
macro_rules! loops {
    ($module:ident, $vector:ty, #[$with:meta], tiles: [$($product:ident = $rows:literal x $groups:literal),+],
     solves: [$($solve:ident = $width:literal),+]) => {
        mod $module {
            #[allow(unused_imports, clippy::wildcard_imports)]
            #[cfg(target_arch = "x86_64")]
            use std::arch::x86_64::*;

            use super::super::matrix::GROUP;
            use super::super::columns;
            use super::super::matrix::MAX_ROWS;
            use super::super::tile::{self, Update, Tile};
            use super::super::vector::Vector;
            use super::{AT_ONCE, Loops, SolveLower, TileLoop};

            /// Vectors per group.
            const PER: usize = GROUP / <$vector>::LANES;

            // Whole tiles must fill a multiple of the maximum rows. Only a vector as wide as a
            // group can solve several groups at once.
            const _: () = assert!($(MAX_ROWS.is_multiple_of($rows))&&+ && (PER == 1 || ($($width == 1)&&+)));

            pub(in super::super) static LOOPS: Loops = Loops {
                tiles: &[$(TileLoop { rows: $rows, groups: $groups, run: $product }),+],
                solves: &[$(SolveLower { groups: $width, run: $solve }),+],
                eliminate,
                exchange,
                accumulate,
            };

            $(
                #[$with]
                unsafe fn $product(t: &Tile, next_a: usize, update: Update) {
                    // SAFETY: as the caller guarantees.
                    unsafe {
                        // Makes the kind of update and the row distance of the usual cases
                        // constants.
                        match (update, t.a_row) {
                            (Update::Subtract, GROUP) => {
                                tile::multiply::<$vector, $rows, { $groups * PER }, true>(t, next_a, Update::Subtract);
                            }
                            (Update::Set, _) => {
                                tile::multiply::<$vector, $rows, { $groups * PER }, false>(t, next_a, Update::Set);
                            }
                            (Update::Add, _) => {
                                tile::multiply::<$vector, $rows, { $groups * PER }, false>(t, next_a, Update::Add);
                            }
                            (Update::Subtract, _) => {
                                tile::multiply::<$vector, $rows, { $groups * PER }, false>(t, next_a, Update::Subtract);
                            }
                        }
                    }
                }
            )+

            $(
                #[$with]
                unsafe fn $solve(l: *const f64, l_group: usize, b: *mut f64, b_group: usize, depth: usize) {
                    // Either one vector per group, or one group in several parts.
                    const VECTORS: usize = if PER == 1 { $width } else { 1 };
                    for part in 0..PER {
                        // SAFETY: as the caller guarantees.
                        unsafe {
                            let b = b.add(part * <$vector>::LANES);
                            columns::solve_lower::<$vector, VECTORS>(l, l_group, b, b_group, depth);
                        }
                    }
                }
            )+

            #[$with]
            unsafe fn eliminate(
                lines: *mut f64,
                rows: usize,
                columns: usize,
                pivots: &mut [usize; GROUP],
            ) -> Result<(), usize> {
                // SAFETY: as the caller guarantees.
                unsafe { columns::eliminate::<$vector>(lines, rows, columns, pivots) }
            }

            #[$with]
            unsafe fn exchange(one: *mut f64, other: *mut f64) {
                // SAFETY: as the caller guarantees.
                unsafe { columns::exchange::<$vector>(one, other) }
            }

            #[$with]
            unsafe fn accumulate(sums: *mut f64, lines: *const f64, group: usize, x: *const f64, rows: usize) {
                // SAFETY: as the caller guarantees.
                unsafe { columns::accumulate::<$vector, AT_ONCE>(sums, lines, group, x, rows) }
            }
        }
    };
}

// Measured on Redwood Cove: more loads with 512-bit multiply-adds lower the core's clock. So the
// tile with the fewest loads, 6 x 4 groups, is a percent or two faster than 8 x 3 and 12 x 2.
#[cfg(target_arch = "x86_64")]
loops!(avx512, __m512d, #[target_feature(enable = "avx512f")], tiles: [wide = 6 x 4, middle = 12 x 2, narrow = 12 x 1], solves: [two = 2, single = 1]);
#[cfg(target_arch = "x86_64")]
loops!(avx2_fma, __m256d, #[target_feature(enable = "avx2,fma")], tiles: [narrow = 6 x 1], solves: [single = 1]);
#[cfg(target_arch = "x86_64")]
loops!(sse2, __m128d, #[target_feature(enable = "sse2")], tiles: [narrow = 2 x 1], solves: [single = 1]);
#[cfg(any(test, not(target_arch = "x86_64")))]
loops!(scalar, f64, #[inline], tiles: [narrow = 1 x 1], solves: [single = 1]);
