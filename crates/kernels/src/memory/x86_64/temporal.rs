//! Ordinary stores.
//!
//! A store to a line that is not in the cache reads the line first. On Granite Rapids
//! `prefetchw` asks for it, to be written, 8 lines ahead: that and the streams lift
//! `write` from 9 GB/s a core to 15, `copy` from 14 to 18 and `triad` from 17 to 18.
//! Streams alone give 13, 15 and 17; a distance of 2 KiB is slower, and so is fetching
//! blocks of 1 or 4 KiB before storing them. Zen 4 is fastest with neither: 22 to 24
//! GB/s a core, against 15 (`write`), 17 (`copy`) and 20 (`triad`) with both.

use super::{advance, begin, enter, far_near, leave, lines, stamp, table, turn, vector, vectors};

/// A loop: its streams, and what it asks for ahead of each line.
macro_rules! storing {
    ($name:ident, $op:tt, $width:tt, $store:literal, $stamp:tt, $streams:tt, $ahead:expr) => {
        far_near!(
            $name,
            $width,
            $stamp,
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

macro_rules! guided_row {
    ($name:ident, write, $width:tt, $store:literal) => {
        storing!($name, write, $width, $store, none, 4, "prefetchw [rdi+\\l+512]");
    };
    ($name:ident, add, $width:tt, $store:literal) => {
        storing!($name, add, $width, $store, source, 2, two_sources!());
    };
    ($name:ident, triad, $width:tt, $store:literal) => {
        storing!($name, triad, $width, $store, source, 2, two_sources!());
    };
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        storing!($name, $op, $width, $store, source, 2, one_source!());
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

table!(guided, guided_row, "movapd", "vmovapd");
table!(plain, plain_row, "movapd", "vmovapd");
