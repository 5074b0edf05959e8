//! Tests of the report in each of its formats, on runs that no machine made.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail the test")]

mod any;
mod charts;
mod comparison;
mod conclusions;
mod declarations;
mod design;
mod disk;
mod doubt;
mod dump;
mod exports;
mod findings;
mod first_screen;
mod fixture;
mod fleet;
mod formats;
mod group;
mod history;
mod html;
mod limits;
mod linpack;
mod memory;
mod network;
mod over_time;
mod overview;
mod pages;
mod prometheus;
mod reading;
mod references;
mod short;
mod snapshots;
mod statistics;
