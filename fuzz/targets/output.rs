//! `cargo +nightly fuzz run output`, with the folders `captured` of `crates/reference/src` as seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../functions.rs"]
mod functions;

fuzz_target!(|bytes: &[u8]| functions::output(bytes));
