//! The inner loop for any vector type: a product whose sums fit into the registers of a core.

#![allow(unsafe_code)] // Raw pointers into matrices, and prefetches.

use super::matrix::GROUP;
use super::vector::Vector;

/// Groups of A before the last one at which C is prefetched. This is late enough that B does not
/// evict C from the L1 cache, and early enough to cover the latency of memory.
const LEAD: usize = 16;

/// The use of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Update {
    /// C = A B
    Set,
    /// C = C + A B
    Add,
    /// C = C - A B
    Subtract,
}

/// A product that one call computes in registers. A tile of C needs as many rows of A and groups of
/// B. Strides are in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    /// First row of A.
    pub(super) a: *const f64,
    /// Distance from a row of A to the next.
    pub(super) a_row: usize,
    /// Distance from a group of A to the next.
    pub(super) a_group: usize,
    /// First row of B.
    pub(super) b: *const f64,
    /// Distance from a group of B to the next.
    pub(super) b_group: usize,
    /// First row of C.
    pub(super) c: *mut f64,
    /// Distance from a row of C to the next.
    pub(super) c_row: usize,
    /// Distance from a group of C to the next.
    pub(super) c_group: usize,
    /// Columns of A and rows of B, in groups of 8.
    pub(super) depth: usize,
}

/// Returns the same pointer but hides its origin from the compiler. So the compiler computes
/// addresses from it where they are used, instead of keeping more addresses than there are
/// registers.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block)] // The code does not read through it.
fn opaque(mut pointer: *const f64) -> *const f64 {
    // SAFETY: the assembly contains no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) pointer, options(nomem, nostack, preserves_flags))
    };
    pointer
}

/// Prefetches a line for writing.
#[inline(always)]
pub(super) fn fetch_to_write(line: *const f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address changes nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Prefetches a line into the L2 cache.
#[inline(always)]
pub(super) fn fetch_nearer(line: *const f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address changes nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Computes the tile's product of R rows by N vectors. LINES: the rows of A are adjacent lines, so
/// their distance is a constant. `next_a` is the distance from each row of A to a row that is
/// needed soon, which is prefetched.
///
/// # Safety
/// The CPU must have V's instructions. A must be valid for R rows of `depth` groups, and B for 8
/// `depth` rows. C must be valid for R rows of the groups of N vectors.
#[inline(always)]
pub(super) unsafe fn multiply<V: Vector, const R: usize, const N: usize, const LINES: bool>(
    t: &Tile,
    next_a: usize,
    update: Update,
) {
    let per = GROUP / V::LANES;
    let a_row = if LINES { GROUP } else { t.a_row };
    let (mut a, mut b) = (t.a, t.b);
    let first_fetch = t.depth.saturating_sub(LEAD);
    // SAFETY: within what the caller guarantees.
    unsafe {
        let mut sums = [[V::zero(); N]; R];
        for i in 0..t.depth {
            let row = i.wrapping_sub(first_fetch);
            if row < R {
                for group in 0..N.div_ceil(per) {
                    fetch_to_write(t.c.wrapping_add(row * t.c_row + group * t.c_group));
                }
            }
            fetch_nearer(a.wrapping_add(next_a));
            add_group::<V, R, N>(&mut sums, (a, a_row), (b, t.b_group));
            a = a.wrapping_add(t.a_group);
            b = b.wrapping_add(GROUP * GROUP);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let c = t.c.add(r * t.c_row + v / per * t.c_group + v % per * V::LANES);
                match update {
                    Update::Set => *sum,
                    Update::Add => V::load(c).plus(*sum),
                    Update::Subtract => V::load(c).minus(*sum),
                }
                .store(c);
            }
        }
    }
}

/// Adds the products of 8 columns of A with 8 rows of B.
#[inline(always)]
unsafe fn add_group<V: Vector, const R: usize, const N: usize>(
    sums: &mut [[V; N]; R],
    a: (*const f64, usize),
    b: (*const f64, usize),
) {
    // Unrolled, since every instruction of loop control takes a place in the pipeline.
    let (a, b) = ((opaque(a.0), a.1), (opaque(b.0), b.1));
    // SAFETY: as in `multiply`.
    unsafe {
        column::<V, R, N, 0>(sums, a, b);
        column::<V, R, N, 1>(sums, a, b);
        column::<V, R, N, 2>(sums, a, b);
        column::<V, R, N, 3>(sums, a, b);
        column::<V, R, N, 4>(sums, a, b);
        column::<V, R, N, 5>(sums, a, b);
        column::<V, R, N, 6>(sums, a, b);
        column::<V, R, N, 7>(sums, a, b);
    }
}

/// Adds the products of column K of a group of A with row K of B.
#[inline(always)]
unsafe fn column<V: Vector, const R: usize, const N: usize, const K: usize>(
    sums: &mut [[V; N]; R],
    (a, a_row): (*const f64, usize),
    (b, b_group): (*const f64, usize),
) {
    let per = GROUP / V::LANES;
    // SAFETY: as in `multiply`.
    unsafe {
        let mut row = [V::zero(); N];
        let mut v = 0;
        while v < N {
            row[v] = V::load(b.add(v / per * b_group + K * GROUP + v % per * V::LANES));
            v += 1;
        }
        let mut r = 0;
        while r < R {
            let x = V::splat(a.add(r * a_row + K));
            let mut v = 0;
            while v < N {
                sums[r][v] = sums[r][v].plus_product(x, row[v]);
                v += 1;
            }
            r += 1;
        }
    }
}
