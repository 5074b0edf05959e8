//! Ordinary stores.
//!
//! A store to a line that is not in the cache reads the line first. On Granite Rapids `prefetchw`
//! requests it for writing 8 lines ahead. Together with the streams this raises `write` from 9 to
//! 15 GB/s per core, `copy` from 14 to 18 and `triad` from 17 to 18. Streams alone give 13, 15 and
//! 17. A distance of 2 KiB is slower, and so is fetching blocks of 1 or 4 KiB before storing them.
//! Zen 4 is fastest with neither: 22 to 24 GB/s per core, compared with 15 (`write`), 17 (`copy`)
//! and 20 (`triad`) with both.

use std::arch::naked_asm;

use super::super::segment::Segment;
use super::super::stream::op::Op;
use super::{
    Row, advance, begin, enter, leave, lines, one_loop, plain, rows, stamp, turn, two_loops,
    vector, vectors,
};
use crate::cpu::isa::Isa;

/// The streams and prefetches of a guided loop.
macro_rules! guided {
    ($name:ident, write, $width:tt, $store:literal) => {
        guided!($name, write, $width, $store, 4, "prefetchw [rdi+\\l+512]");
    };
    ($name:ident, add, $width:tt, $store:literal) => {
        guided!($name, add, $width, $store, 2, two_sources!());
    };
    ($name:ident, triad, $width:tt, $store:literal) => {
        guided!($name, triad, $width, $store, 2, two_sources!());
    };
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        guided!($name, $op, $width, $store, 2, one_source!());
    };
    ($name:ident, $op:tt, $width:tt, $store:literal, $streams:tt, $ahead:expr) => {
        two_loops!(
            $name,
            $op,
            $width,
            $streams,
            turn!($streams, $width, $ahead, vector!($op, $width, $store)),
            turn!(1, $width, "", vector!($op, $width, $store)),
            "",
            ""
        );
    };
}

macro_rules! one_source {
    () => {
        "prefetcht0 [rdx+\\l+512]\nprefetchw [rdi+\\l+512]"
    };
}

macro_rules! two_sources {
    () => {
        concat!("prefetcht0 [rcx+\\l+512]\n", one_source!())
    };
}

pub(super) const GUIDED: &[Row] = rows!(guided, "movapd", "vmovapd");

pub(super) const PLAIN: &[Row] = rows!(plain, "movapd", "vmovapd");
