//! Tests with bytes that are not a handshake, or another's.

use std::io::Write;
use std::time::Instant;

use proofmark_peer::{Channel, Key};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::json;

use crate::common::{Raw, ServerSide, hello, opening};
use crate::session::Session;
use crate::{alone, answered, answered_at, from_elsewhere};

/// Returns the resident memory of this process in bytes, and its open descriptors.
fn held() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    (1024 * kib, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

#[test]
fn garbage_gets_no_answer() {
    let _alone = alone();
    let server = ServerSide::start();
    let session = Session::begin(&server);
    let (begin, before) = (Instant::now(), held());
    let mut random = TestRng::deterministic_rng(RngAlgorithm::XorShift);
    // The parsers alone get 30,000 in the tests of the handshake.
    for thrown in 0..2000 {
        let mut bytes = vec![0; (random.next_u32() % 300) as usize];
        random.fill_bytes(&mut bytes);
        let shape: &[u8] = [&[][..], &[1], &[1, 0, 48], &[2], &[1, 255, 255]][thrown % 5];
        assert_eq!(answered(server.address, &[shape, &bytes].concat()), 0);
    }
    let after = held();
    assert!(after.0 < before.0 + (32 << 20) && after.1 < before.1 + 64, "{before:?} {after:?}");
    session.undisturbed(begin);
}

/// Replays a captured conversation that was accepted, byte for byte.
#[test]
fn a_captured_conversation_opens_nothing() {
    let _alone = alone();
    let server = ServerSide::start();
    let mut captured = Vec::new();
    {
        let (bytes, noise) = opening(&server.key);
        captured.extend_from_slice(&bytes);
        let mut raw = Raw::enter_with(server.address, &bytes, noise);
        let hello = raw.seal(&hello(60));
        captured.extend_from_slice(&hello);
        raw.stream.write_all(&hello).unwrap();
        assert_eq!(raw.receive()["message"], "welcome");
    }
    server.next_control();
    assert_eq!(answered(server.address, &captured), 0);
    // A restarted server does not remember it, and still opens no session: the second message was
    // sealed with a key of the first conversation.
    let (foreign, _) = opening(&Key::generate().unwrap());
    assert_eq!(answered(server.address, &foreign), 0, "another key's");
    let started = |server: &ServerSide| {
        server.log.lock().unwrap().iter().filter(|line| line.contains("started run")).count()
    };
    let mut again = ServerSide::with_key(server.key.clone());
    assert_eq!(answered(again.address, &captured), 50);
    again.stop();
    assert_eq!((started(&again), started(&server)), (0, 2));
}

#[test]
fn messages_within_a_session_are_not_taken_twice() {
    let _alone = alone();
    let server = ServerSide::start();
    let mut control = Raw::control(&server, 60);
    let ping = control.seal(&json!({ "message": "ping" }));
    control.stream.write_all(&ping).unwrap();
    assert_eq!(control.receive()["message"], "pong");
    control.stream.write_all(&ping).unwrap();
    assert!(control.receive()["reason"].as_str().unwrap().contains("invalid message"));
    server.next_control();
}

#[test]
fn tokens_are_not_guessed_and_serve_their_own_address_alone() {
    let _alone = alone();
    let server = ServerSide::start();
    let control = server.control();
    let mut channel = Channel::join(&control.invitation()).unwrap();
    let streams = channel.open(&json!({ "streams": 2 })).unwrap();
    assert_eq!(answered(server.address, &[&[2][..], &[0; 16]].concat()), 0);
    let bytes = [&[2][..], &streams[0].token.bytes()].concat();
    let elsewhere = answered_at(from_elsewhere(server.address.port()), &bytes);
    assert_eq!(elsewhere, 0, "from another address");
    assert_eq!(answered(server.address, &bytes[..16]), 0, "cut");
    assert_eq!(answered(server.address, &bytes), 1, "and from the right one it is good still");
    assert_eq!(answered(server.address, &bytes), 0, "once");
}
