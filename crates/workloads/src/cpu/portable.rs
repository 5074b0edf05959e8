//! Hot loops in plain Rust, for architectures without their own loops.
//!
//! Every result passes through [`black_box`] once. So the compiler can neither fold two iterations
//! into one nor join lanes into a vector. The resulting code (often a store and a load) costs time
//! but no operation. So these rates are exact counts of work, not peaks.

#![allow(unsafe_code)] // The same signature as the loops in assembly.

use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};

use super::isa::{Element, Isa};
use super::law::{Law, MULTIPLIER_X, MULTIPLIER_Y, slot};
use super::state::Line;
use super::work::{Clocked, Variant};

const ACCUMULATORS: usize = 8;

/// No portable loop is heavy enough to lower a core's clock.
#[cfg_attr(target_arch = "x86_64", expect(dead_code))]
pub(crate) fn clocked(_: Isa, _: Element) -> Option<[Clocked; 2]> {
    None
}

/// Defines a loop over accumulators: `$turns` rounds per iteration, one step per accumulator.
macro_rules! sum {
    ($name:ident, $type:ty, $turns:literal, $x:ident, $one:ident, $step:expr) => {
        unsafe extern "C" fn $name(state: *mut Line, iterations: u64) {
            // SAFETY: the state has ACCUMULATORS lines and one for the step. Lane 0 of a line is
            // its first bytes.
            unsafe {
                let at = |k: usize| state.add(k).cast::<$type>();
                let $one = black_box(*at(ACCUMULATORS));
                let mut all = [$one; ACCUMULATORS];
                for (k, $x) in all.iter_mut().enumerate() {
                    *$x = *at(k);
                }
                for _ in 0..iterations {
                    for _ in 0..$turns {
                        for accumulator in &mut all {
                            let $x = *accumulator;
                            *accumulator = black_box($step);
                        }
                    }
                }
                for (k, $x) in all.iter().enumerate() {
                    *at(k) = *$x;
                }
            }
        }
    };
}

sum!(flops_f64, f64, 4, x, one, x * one + one);
sum!(flops_f32, f32, 4, x, one, x * one + one);
sum!(iops_i64, u64, 4, x, one, x.wrapping_add(one));
sum!(iops_i32, u32, 4, x, one, x.wrapping_add(one));
sum!(add16_f64, f64, 2, x, one, x + one);
sum!(add16_i64, u64, 2, x, one, x.wrapping_add(one));

/// Defines the 17-operation loop, which `x86_64::mix` describes.
macro_rules! arith17 {
    ($name:ident, $type:ty, $add:path, $sub:path, $mul:path, $div:path, $x:expr, $y:expr) => {
        unsafe extern "C" fn $name(state: *mut Line, iterations: u64) {
            // SAFETY: the state has slot::COUNT lines. Lane 0 of a line is its first bytes.
            unsafe {
                let at = |k: usize| state.add(k).cast::<$type>();
                let [mut v, mut s, mut w, mut t, mut x, mut y, mut u] =
                    [0, 1, 2, 3, 4, 5, 6].map(|k| *at(k));
                let constants = [0, 1, 2, 3, 4].map(|k| black_box(*at(slot::CONSTANTS + k)));
                let [one, three, seven, ..] = constants;
                let (by_x, less_x): ($type, $type) = black_box($x(constants));
                let (by_y, more_y): ($type, $type) = black_box($y(constants));
                for _ in 0..iterations {
                    v = black_box($add(v, one));
                    let a = black_box($div(black_box($mul(v, three)), three));
                    s = black_box($sub(black_box($add(s, a)), v));
                    black_box(a == v);
                    x = black_box($sub(black_box($mul(x, by_x)), less_x));
                    let b = black_box($div(black_box($mul(w, seven)), seven));
                    t = black_box($sub(black_box($add(t, b)), w));
                    black_box(b == w);
                    w = black_box($sub(w, one));
                    y = black_box($add(black_box($mul(y, by_y)), more_y));
                    u = black_box($add(u, one));
                }
                for (k, value) in [v, s, w, t, x, y, u].into_iter().enumerate() {
                    *at(k) = value;
                }
            }
        }
    };
}

arith17!(
    arith17_f64,
    f64,
    Add::add,
    Sub::sub,
    Mul::mul,
    Div::div,
    |c: [f64; 5]| (c[3], c[1]),
    |c: [f64; 5]| (c[4], c[2])
);
arith17!(
    arith17_i64,
    i64,
    i64::wrapping_add,
    i64::wrapping_sub,
    i64::wrapping_mul,
    i64::wrapping_div,
    |c: [i64; 5]| (i64::from(MULTIPLIER_X), c[0]),
    |c: [i64; 5]| (i64::from(MULTIPLIER_Y), c[0])
);

const MUL_ADD: Law = Law::Sum { accumulators: ACCUMULATORS, adds: 32, each: 2 };
const ADDS: Law = Law::Sum { accumulators: ACCUMULATORS, adds: 32, each: 1 };
const ADD16: Law = Law::Sum { accumulators: ACCUMULATORS, adds: 16, each: 1 };
const ARITH17: Law = Law::Arithmetic { masks: false };

#[rustfmt::skip]
pub(crate) const FLOPS: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::F64, law: MUL_ADD, hot: flops_f64 },
    Variant { isa: Isa::Scalar, element: Element::F32, law: MUL_ADD, hot: flops_f32 },
];

#[rustfmt::skip]
pub(crate) const IOPS: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::I64, law: ADDS, hot: iops_i64 },
    Variant { isa: Isa::Scalar, element: Element::I32, law: ADDS, hot: iops_i32 },
];

#[rustfmt::skip]
pub(crate) const MIX_INT: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::I64, law: ADD16, hot: add16_i64 },
    Variant { isa: Isa::Scalar, element: Element::I64, law: ARITH17, hot: arith17_i64 },
];

#[rustfmt::skip]
pub(crate) const MIX_FLOAT: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::F64, law: ADD16, hot: add16_f64 },
    Variant { isa: Isa::Scalar, element: Element::F64, law: ARITH17, hot: arith17_f64 },
];
