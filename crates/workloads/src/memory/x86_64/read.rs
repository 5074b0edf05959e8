//! Reading: the wrapping sum of every 64 bits.
//!
//! On Granite Rapids one stream reads 15 to 18 GB/s per core, 2 streams 18, 4 streams 17 to 19. 2
//! streams with a prefetch into L2 16 lines ahead read 21. Larger distances (2 KiB, 4 KiB),
//! `prefetchnta` and prefetches of pairs of lines are slower. On Zen 4 one stream reads 27 GB/s, as
//! do 2, and each prefetch tried costs a tenth to a quarter of it.

use std::arch::naked_asm;

use super::super::segment::Segment;
use super::super::stream::op::Op;
use super::{Row, advance, begin, enter, leave, stamp, two_loops};
use crate::cpu::isa::Isa;

/// Adds the vector at `$place` to accumulator `$k`.
macro_rules! add {
    (xmm, $k:literal, $($place:literal),+) => {
        concat!("paddq xmm", $k, ", [rdx+", $($place,)+ "]\n")
    };
    ($width:tt, $k:literal, $($place:literal),+) => {
        concat!(
            "vpaddq ", stringify!($width), $k, ", ", stringify!($width), $k,
            ", [rdx+", $($place,)+ "]\n"
        )
    };
}

/// Adds the line at `$l` to its own accumulators.
macro_rules! line {
    (xmm, $a:literal, $b:literal, $l:literal) => {
        concat!(
            add!(xmm, $a, $l),
            add!(xmm, $b, $l, "+16"),
            add!(xmm, $a, $l, "+32"),
            add!(xmm, $b, $l, "+48")
        )
    };
    (ymm, $a:literal, $b:literal, $l:literal) => {
        concat!(add!(ymm, $a, $l), add!(ymm, $b, $l, "+32"))
    };
    (zmm, $a:literal, $b:literal, $l:literal) => {
        add!(zmm, $a, $l)
    };
}

/// A turn over four lines. `$third` and `$fourth` are the offsets of the last two.
macro_rules! turn {
    ($width:tt, $third:literal, $fourth:literal) => {
        concat!(
            line!($width, "2", "3", "0"),
            line!($width, "4", "5", "64"),
            line!($width, "6", "7", $third),
            line!($width, "8", "9", $fourth)
        )
    };
}

/// A turn over two streams, with prefetches.
macro_rules! far_turn {
    ($width:tt) => {
        concat!(
            ".irp l,0,64,r8,r8+64\nprefetcht1 [rdx+\\l+1024]\n.endr\n",
            turn!($width, "r8", "r8+64")
        )
    };
}

/// A turn over one stream.
macro_rules! near_turn {
    ($width:tt) => {
        turn!($width, "128", "192")
    };
}

/// Sets the accumulators to zero. Register 0 holds the stamp.
macro_rules! clear {
    (xmm) => {
        ".irp k,2,3,4,5,6,7,8,9\npxor xmm\\k, xmm\\k\n.endr\n"
    };
    ($width:tt) => {
        ".irp k,2,3,4,5,6,7,8,9\nvpxor xmm\\k, xmm\\k, xmm\\k\n.endr\n"
    };
}

/// Adds all lanes of all accumulators into `rax`.
macro_rules! result {
    (xmm) => {
        concat!(
            ".irp k,3,4,5,6,7,8,9\npaddq xmm2, xmm\\k\n.endr\n",
            "movq rax, xmm2\npunpckhqdq xmm2, xmm2\nmovq r10, xmm2\nadd rax, r10\n"
        )
    };
    (ymm) => {
        concat!(
            ".irp k,3,4,5,6,7,8,9\nvpaddq ymm2, ymm2, ymm\\k\n.endr\n",
            "vextracti128 xmm3, ymm2, 1\nvpaddq xmm2, xmm2, xmm3\n",
            "vmovq rax, xmm2\nvpextrq r10, xmm2, 1\nadd rax, r10\n"
        )
    };
    (zmm) => {
        concat!(
            ".irp k,3,4,5,6,7,8,9\nvpaddq zmm2, zmm2, zmm\\k\n.endr\n",
            "vextracti64x4 ymm3, zmm2, 1\nvpaddq ymm2, ymm2, ymm3\n",
            "vextracti128 xmm3, ymm2, 1\nvpaddq xmm2, xmm2, xmm3\n",
            "vmovq rax, xmm2\nvpextrq r10, xmm2, 1\nadd rax, r10\n"
        )
    };
}

macro_rules! read {
    ($name:ident, $width:tt, $streams:tt, $far:expr) => {
        two_loops!(
            $name,
            read,
            $width,
            $streams,
            $far,
            near_turn!($width),
            clear!($width),
            result!($width)
        );
    };
}

read!(guided_sse2, xmm, 2, far_turn!(xmm));
read!(guided_avx2, ymm, 2, far_turn!(ymm));
read!(guided_avx512, zmm, 2, far_turn!(zmm));
read!(plain_sse2, xmm, 1, near_turn!(xmm));
read!(plain_avx2, ymm, 1, near_turn!(ymm));
read!(plain_avx512, zmm, 1, near_turn!(zmm));

pub(super) const GUIDED: &[Row] = &[
    (Op::Read, Isa::Sse2, guided_sse2),
    (Op::Read, Isa::Avx2, guided_avx2),
    (Op::Read, Isa::Avx512, guided_avx512),
];

pub(super) const PLAIN: &[Row] = &[
    (Op::Read, Isa::Sse2, plain_sse2),
    (Op::Read, Isa::Avx2, plain_avx2),
    (Op::Read, Isa::Avx512, plain_avx512),
];
