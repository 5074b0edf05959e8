//! The inner loops over groups of columns, for any vector type.

#![allow(unsafe_code)] // Raw pointers into matrices.

use super::Line;
use super::matrix::GROUP;
use super::vector::Vector;

/// Solves L X = B in place for N vectors of columns. L is unit lower triangular and has `depth`
/// groups and 8 `depth` rows. Strides are in elements.
///
/// # Safety
/// The CPU must have V's instructions, and L and B must be valid for these sizes.
#[inline(always)]
pub(super) unsafe fn solve_lower<V: Vector, const N: usize>(
    l: *const f64,
    l_group: usize,
    b: *mut f64,
    b_vector: usize,
    depth: usize,
) {
    // SAFETY: within what the caller guarantees.
    unsafe {
        for i in 0..depth {
            let l = l.add(i * GROUP * GROUP);
            let own = b.add(i * GROUP * GROUP);
            let mut x = [[V::zero(); N]; GROUP];
            for (r, x) in x.iter_mut().enumerate() {
                for (v, x) in x.iter_mut().enumerate() {
                    *x = V::load(own.add(r * GROUP + v * b_vector));
                }
            }
            for k in 0..i {
                let (l, b) = (l.add(k * l_group), b.add(k * GROUP * GROUP));
                for column in 0..GROUP {
                    let mut row = [V::zero(); N];
                    for (v, row) in row.iter_mut().enumerate() {
                        *row = V::load(b.add(column * GROUP + v * b_vector));
                    }
                    for (r, x) in x.iter_mut().enumerate() {
                        let factor = V::splat(l.add(r * GROUP + column));
                        for (x, row) in x.iter_mut().zip(row) {
                            *x = x.minus_product(factor, row);
                        }
                    }
                }
            }
            let l = l.add(i * l_group);
            let mut s = 0;
            while s < GROUP {
                let solved = x[s];
                let mut r = s + 1;
                while r < GROUP {
                    let factor = V::splat(l.add(r * GROUP + s));
                    let mut v = 0;
                    while v < N {
                        x[r][v] = x[r][v].minus_product(factor, solved[v]);
                        v += 1;
                    }
                    r += 1;
                }
                s += 1;
            }
            for (r, x) in x.iter().enumerate() {
                for (v, x) in x.iter().enumerate() {
                    x.store(own.add(r * GROUP + v * b_vector));
                }
            }
        }
    }
}

/// Factors one group in place by elimination with partial pivoting: `rows` lines and the first
/// `columns` columns. The other columns are updated too. `pivots[c]` becomes the line that was
/// exchanged with line c. At a column without a pivot it stops and returns the column's number.
///
/// # Safety
/// The CPU must have V's instructions, and `lines` must be valid for the rows.
#[inline(always)]
pub(super) unsafe fn eliminate<V: Vector>(
    lines: *mut f64,
    rows: usize,
    columns: usize,
    pivots: &mut [usize; GROUP],
) -> Result<(), usize> {
    // SAFETY: within what the caller guarantees.
    unsafe {
        let (mut best, mut pivot) = (-1.0, 0);
        for row in 0..rows {
            let size = (*lines.add(row * GROUP)).abs();
            if size > best {
                (best, pivot) = (size, row);
            }
        }
        for (c, chosen) in pivots.iter_mut().enumerate().take(columns) {
            if !(best > 0.0 && best.is_finite()) {
                return Err(c);
            }
            *chosen = pivot;
            exchange::<V>(lines.add(c * GROUP), lines.add(pivot * GROUP));
            // The line of the pivot, with zeros up to the pivot.
            let mut top = Line::default();
            for (lane, value) in top.0.iter_mut().enumerate().skip(c + 1) {
                *value = *lines.add(c * GROUP + lane);
            }
            let own = *lines.add(c * GROUP + c);
            let inverse = 1.0 / own;
            // The inverse of a subnormal number overflows.
            let divide = !inverse.is_finite();
            let watched = (c + 1).min(GROUP - 1);
            (best, pivot) = (-1.0, c + 1);
            for row in c + 1..rows {
                let line = lines.add(row * GROUP);
                let value = *line.add(c);
                let factor = if divide { value / own } else { value * inverse };
                let factors = V::splat(&raw const factor);
                for at in (0..GROUP).step_by(V::LANES) {
                    let right = V::load(top.0.as_ptr().add(at));
                    V::load(line.add(at)).minus_product(factors, right).store(line.add(at));
                }
                *line.add(c) = factor;
                let size = (*line.add(watched)).abs();
                if size > best {
                    (best, pivot) = (size, row);
                }
            }
        }
    }
    Ok(())
}

/// Exchanges two lines, which may be the same.
///
/// # Safety
/// The CPU must have V's instructions, and both lines must be valid.
#[inline(always)]
pub(super) unsafe fn exchange<V: Vector>(one: *mut f64, other: *mut f64) {
    for v in 0..GROUP / V::LANES {
        // SAFETY: within the lines.
        unsafe {
            let (one, other) = (one.add(v * V::LANES), other.add(v * V::LANES));
            let (x, y) = (V::load(one), V::load(other));
            x.store(other);
            y.store(one);
        }
    }
}

/// Adds the element-wise products of N groups' lines with the N lines `x` to the lines of `sums`.
/// There are `rows` lines, and `group` elements from one group to the next.
///
/// # Safety
/// The CPU must have V's instructions, and all pointers must be valid for these sizes.
#[inline(always)]
pub(super) unsafe fn accumulate<V: Vector, const N: usize>(
    sums: *mut f64,
    lines: *const f64,
    group: usize,
    x: *const f64,
    rows: usize,
) {
    // SAFETY: within what the caller guarantees.
    unsafe {
        for v in 0..GROUP / V::LANES {
            let at = v * V::LANES;
            let mut factors = [V::zero(); N];
            for (g, factor) in factors.iter_mut().enumerate() {
                *factor = V::load(x.add(g * GROUP + at));
            }
            for row in 0..rows {
                let sum = sums.add(row * GROUP + at);
                let mut s = V::load(sum);
                for (g, factor) in factors.iter().enumerate() {
                    s = s.plus_product(V::load(lines.add(g * group + row * GROUP + at)), *factor);
                }
                s.store(sum);
            }
        }
    }
}
