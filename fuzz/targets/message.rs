//! Frames, and the messages of both ends: what was read is written and read again as the same.
//! `cargo +nightly fuzz run message`

#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmark_peer::wire::{ToServer, ToClient, decode, encode, read_frame};

fuzz_target!(|bytes: &[u8]| {
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
});
