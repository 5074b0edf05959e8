//! Non-temporal stores: whole lines to memory, past the cache.
//!
//! On Granite Rapids `copy` gains from streams (20 GB/s a core with 1, 27 with 2, 30
//! with 4) and then nothing more from prefetches. `triad` has two sources to follow
//! already: more streams are slower, a prefetch 16 lines ahead lifts it from 23 to 26.
//! `write` is at 27 with any.

use std::arch::naked_asm;

use super::super::segment::Segment;
use super::super::stream::op::Op;
use super::{Row, advance, begin, enter, far, leave, lines, stamp, turn, vector, vectors};
use crate::cpu::isa::Isa;

/// A loop: its streams, and what it asks for ahead of each line.
macro_rules! storing {
    ($name:ident, write, $width:tt, $store:literal) => {
        storing!($name, write, $width, $store, none, 1, "");
    };
    ($name:ident, add, $width:tt, $store:literal) => {
        storing!($name, add, $width, $store, source, 1, both_sources!());
    };
    ($name:ident, triad, $width:tt, $store:literal) => {
        storing!($name, triad, $width, $store, source, 1, both_sources!());
    };
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        storing!($name, $op, $width, $store, source, 4, "");
    };
    ($name:ident, $op:tt, $width:tt, $store:literal, $stamp:tt, $streams:tt, $ahead:expr) => {
        far!(
            $name,
            $width,
            $stamp,
            $streams,
            turn!($streams, $width, $ahead, vector!($op, $width, $store))
        );
    };
}

macro_rules! both_sources {
    () => {
        "prefetcht0 [rdx+\\l+1024]\nprefetcht0 [rcx+\\l+1024]"
    };
}

storing!(write_sse2, write, xmm, "movntpd");
storing!(write_avx2, write, ymm, "vmovntpd");
storing!(write_avx512, write, zmm, "vmovntpd");
storing!(copy_sse2, copy, xmm, "movntpd");
storing!(copy_avx2, copy, ymm, "vmovntpd");
storing!(copy_avx512, copy, zmm, "vmovntpd");
storing!(scale_sse2, scale, xmm, "movntpd");
storing!(scale_avx2, scale, ymm, "vmovntpd");
storing!(scale_avx512, scale, zmm, "vmovntpd");
storing!(add_sse2, add, xmm, "movntpd");
storing!(add_avx2, add, ymm, "vmovntpd");
storing!(add_avx512, add, zmm, "vmovntpd");
storing!(triad_sse2, triad, xmm, "movntpd");
storing!(triad_avx2, triad, ymm, "vmovntpd");
storing!(triad_avx512, triad, zmm, "vmovntpd");

/// The loops with non-temporal stores.
pub(crate) const NON_TEMPORAL: &[Row] = &[
    (Op::Write, Isa::Sse2, write_sse2),
    (Op::Write, Isa::Avx2, write_avx2),
    (Op::Write, Isa::Avx512, write_avx512),
    (Op::Copy, Isa::Sse2, copy_sse2),
    (Op::Copy, Isa::Avx2, copy_avx2),
    (Op::Copy, Isa::Avx512, copy_avx512),
    (Op::Scale, Isa::Sse2, scale_sse2),
    (Op::Scale, Isa::Avx2, scale_avx2),
    (Op::Scale, Isa::Avx512, scale_avx512),
    (Op::Add, Isa::Sse2, add_sse2),
    (Op::Add, Isa::Avx2, add_avx2),
    (Op::Add, Isa::Avx512, add_avx512),
    (Op::Triad, Isa::Sse2, triad_sse2),
    (Op::Triad, Isa::Avx2, triad_avx2),
    (Op::Triad, Isa::Avx512, triad_avx512),
];
