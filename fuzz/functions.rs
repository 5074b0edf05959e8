//! The use of untrusted bytes by each target. Used by `targets/`, and by the test `fuzz` of
//! the workspace (`crates/app/tests/fuzz/`), which needs no nightly compiler.

#![allow(dead_code, reason = "each target uses one of them")]
#![allow(clippy::expect_used, reason = "they exist to fail")]

use std::sync::LazyLock;

use proofmark_peer::wire::{ToClient, ToServer, decode, encode, read_frame};
use proofmark_peer::{Key, answer_to};
use proofmark_reference::{ALL, decoded, read};

#[path = "../crates/fleet/tests/damaged/heard.rs"]
mod heard;

static KEY: LazyLock<Key> = LazyLock::new(|| Key::generate().expect("random bytes"));

/// Sends bytes to the port of `proofmark serve` without its key: nothing is answered.
pub fn handshake(bytes: &[u8]) {
    assert_eq!(answer_to(&KEY, bytes), 0);
}

/// Reads frames, and the messages of both ends: one that is read, written and read again is the same.
pub fn message(bytes: &[u8]) {
    if let Ok(frame) = read_frame(&mut &bytes[..], 1, 1040) {
        assert!(frame.len() <= 1040);
    }
    // Numbers may be written longer than they were read, past the longest message.
    if let Ok(message) = decode::<ToServer>(bytes)
        && let Ok(json) = encode(&message)
    {
        assert_eq!(decode::<ToServer>(&json).expect("our own message"), message);
    }
    if let Ok(message) = decode::<ToClient>(bytes)
        && let Ok(json) = encode(&message)
    {
        assert_eq!(decode::<ToClient>(&json).expect("our own message"), message);
    }
}

/// Hears a node of a fleet: its bytes are refused with a reason, or judged with the rest of the fleet
/// and drawn in every form.
pub fn node(bytes: &[u8]) {
    heard::hear(bytes).answers.iter().for_each(heard::judge_and_draw);
}

/// Reads what another tool is said to have printed: figures that are numbers, or a refusal.
pub fn output(bytes: &[u8]) {
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
}
