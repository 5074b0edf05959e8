//! Non-temporal stores: whole lines to memory, past the cache.
//!
//! On Granite Rapids `copy` gains from streams (20 GB/s a core with 1, 27 with 2, 30
//! with 4) and then nothing more from prefetches. `triad` has two sources to follow
//! already: more streams are slower, a prefetch 16 lines ahead lifts it from 23 to 26.
//! `write` is at 27 with any. On Zen 4 neither gains: `copy` is as fast with any
//! streams, `triad` 3 % faster without the prefetch.

use super::{advance, begin, enter, far, leave, lines, stamp, table, turn, vector, vectors};

/// A loop: its streams, and what it asks for ahead of each line.
macro_rules! storing {
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

macro_rules! guided_row {
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
}

macro_rules! plain_row {
    ($name:ident, write, $width:tt, $store:literal) => {
        storing!($name, write, $width, $store, none, 1, "");
    };
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        storing!($name, $op, $width, $store, source, 1, "");
    };
}

table!(guided, guided_row, "movntpd", "vmovntpd");
table!(plain, plain_row, "movntpd", "vmovntpd");
