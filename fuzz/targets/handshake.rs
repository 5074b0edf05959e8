//! `cargo +nightly fuzz run handshake`

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../functions.rs"]
mod functions;

fuzz_target!(|bytes: &[u8]| functions::handshake(bytes));
