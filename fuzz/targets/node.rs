//! `cargo +nightly fuzz run node`, with the folder `crates/fleet/tests/damaged/captured` as seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../functions.rs"]
mod functions;

fuzz_target!(|bytes: &[u8]| functions::node(bytes));
