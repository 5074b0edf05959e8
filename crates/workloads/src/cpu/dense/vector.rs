//! A vector register of `f64`, for each instruction set.
//!
//! The methods are the intrinsics of their names and are always inlined. So they compile to single
//! instructions within a function that enables the instruction set (`#[target_feature]`). See
//! `loops.rs`.

#![allow(unsafe_code)] // Loads, stores and instructions of an instruction set.

use std::ops::{Add, Sub};

/// One register. For all methods the CPU must have the instruction set. Pointers must be valid for
/// [`Vector::LANES`] elements (for one in [`Vector::splat`]), and aligned where a whole vector is
/// moved.
pub(super) trait Vector: Copy {
    const LANES: usize;

    unsafe fn zero() -> Self;
    /// Loads from aligned memory.
    unsafe fn load(from: *const f64) -> Self;
    /// Stores to aligned memory.
    unsafe fn store(self, to: *mut f64);
    /// Returns one number in every lane.
    unsafe fn splat(from: *const f64) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn minus(self, other: Self) -> Self;
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    unsafe fn minus_product(self, a: Self, b: Self) -> Self;
}

/// Implements the trait: the type, its lanes, its intrinsics, and the addition and subtraction of a
/// product.
macro_rules! vector {
    ($type:ident, $lanes:literal, $zero:path, $load:path, $store:path, $splat:path, $add:path, $sub:path,
     |$c:ident, $a:ident, $b:ident| $plus:expr, $minus:expr) => {
        #[allow(unused_unsafe)] // Some of these functions are safe.
        impl Vector for $type {
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: as the trait requires. The same applies to all methods.
                unsafe { $zero() }
            }
            #[inline(always)]
            unsafe fn load(from: *const f64) -> Self {
                // SAFETY: as the trait requires.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut f64) {
                // SAFETY: as the trait requires.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn splat(from: *const f64) -> Self {
                // SAFETY: as the trait requires.
                unsafe { $splat(*from) }
            }
            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: as the trait requires.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                // SAFETY: as the trait requires.
                unsafe { $sub(self, other) }
            }
            #[inline(always)]
            unsafe fn plus_product(self, $a: Self, $b: Self) -> Self {
                let $c = self;
                // SAFETY: as the trait requires.
                unsafe { $plus }
            }
            #[inline(always)]
            unsafe fn minus_product(self, $a: Self, $b: Self) -> Self {
                let $c = self;
                // SAFETY: as the trait requires.
                unsafe { $minus }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::Vector;

    vector!(
        __m512d,
        8,
        _mm512_setzero_pd,
        _mm512_load_pd,
        _mm512_store_pd,
        _mm512_set1_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        |c, a, b| _mm512_fmadd_pd(a, b, c),
        _mm512_fnmadd_pd(a, b, c)
    );
    vector!(
        __m256d,
        4,
        _mm256_setzero_pd,
        _mm256_load_pd,
        _mm256_store_pd,
        _mm256_set1_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        |c, a, b| _mm256_fmadd_pd(a, b, c),
        _mm256_fnmadd_pd(a, b, c)
    );
    vector!(
        __m128d,
        2,
        _mm_setzero_pd,
        _mm_load_pd,
        _mm_store_pd,
        _mm_set1_pd,
        _mm_add_pd,
        _mm_sub_pd,
        |c, a, b| _mm_add_pd(c, _mm_mul_pd(a, b)),
        _mm_sub_pd(c, _mm_mul_pd(a, b))
    );
}

// Plain numbers, for every architecture.
vector!(
    f64,
    1,
    f64::default,
    std::ptr::read,
    std::ptr::write,
    std::convert::identity,
    Add::add,
    Sub::sub,
    |c, a, b| c + a * b,
    c - a * b
);
