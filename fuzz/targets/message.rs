//! `cargo +nightly fuzz run message`

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../functions.rs"]
mod functions;

fuzz_target!(|bytes: &[u8]| functions::message(bytes));
