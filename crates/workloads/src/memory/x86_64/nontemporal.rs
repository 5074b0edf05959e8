//! Non-temporal stores: whole lines to memory, past the cache.
//!
//! On Granite Rapids `copy` gains from streams (20 GB/s per core with 1, 27 with 2, 30 with 4) and
//! then nothing from prefetches. `triad` already has two sources to follow: more streams are
//! slower, and a prefetch 16 lines ahead raises it from 23 to 26 GB/s. `write` has 27 GB/s with any
//! number. On Zen 4 neither gains: `copy` is as fast with any number of streams, `triad` 3 % faster
//! without the prefetch.

use std::arch::naked_asm;

use super::super::segment::Segment;
use super::super::stream::op::Op;
use super::{
    Row, advance, begin, enter, leave, lines, one_loop, plain, rows, stamp, turn, vector, vectors,
};
use crate::cpu::isa::Isa;

/// The streams and prefetches of a guided loop.
macro_rules! guided {
    ($name:ident, write, $width:tt, $store:literal) => {
        plain!($name, write, $width, $store);
    };
    ($name:ident, add, $width:tt, $store:literal) => {
        guided!($name, add, $width, $store, 1, both_sources!());
    };
    ($name:ident, triad, $width:tt, $store:literal) => {
        guided!($name, triad, $width, $store, 1, both_sources!());
    };
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        guided!($name, $op, $width, $store, 4, "");
    };
    ($name:ident, $op:tt, $width:tt, $store:literal, $streams:tt, $ahead:expr) => {
        one_loop!(
            $name,
            $op,
            $width,
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

pub(super) const GUIDED: &[Row] = rows!(guided, "movntpd", "vmovntpd");

pub(super) const PLAIN: &[Row] = rows!(plain, "movntpd", "vmovntpd");
