//! What an outsider sends to the port of `proofmark serve`: nothing of it is answered.
//! `cargo +nightly fuzz run handshake`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use proofmark_peer::{Key, answer_to};

static KEY: LazyLock<Key> = LazyLock::new(|| Key::generate().expect("random bytes"));

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(answer_to(&KEY, bytes), 0);
});
