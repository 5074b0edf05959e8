//! What other tools are said to have printed: read or refused, and nothing else.
//! `cargo +nightly fuzz run output`, with the folders `captured` of `crates/reference/src` as seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmark_reference::{ALL, decoded, read};

fuzz_target!(|bytes: &[u8]| {
    let text = decoded(bytes);
    let _ = read(&text);
    for tool in ALL {
        let _ = tool.recognises(&text);
        if let Ok(output) = tool.parse(&text) {
            for t in output.figures.iter().flat_map(|f| &f.trials) {
                assert!(t.value.is_finite() && t.seconds > 0.0, "{}", tool.id());
            }
        }
    }
});
