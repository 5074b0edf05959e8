//! What a node of a fleet sends: refused in words, or judged with the rest of the fleet and drawn in
//! every form.
//! `cargo +nightly fuzz run node`, with the folder `crates/fleet/tests/damaged/captured` as seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/fleet/tests/damaged/heard.rs"]
mod heard;

fuzz_target!(|bytes: &[u8]| heard::hear(bytes).answers.iter().for_each(heard::judge_and_draw));
