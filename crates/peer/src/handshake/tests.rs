use std::os::unix::net::UnixStream;
use std::thread;

use proofmark_testing::DEADLINE;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;

fn key() -> Key {
    Secret([7; 32])
}

/// Returns the first bytes of a client with the key, and its handshake state.
fn opening(key: &Key) -> (Vec<u8>, HandshakeState) {
    let mut noise = builder(key, Builder::build_initiator).unwrap();
    let mut bytes = vec![CONTROL];
    write_frame(&mut bytes, &next(&mut noise).unwrap()).unwrap();
    (bytes, noise)
}

#[test]
fn only_the_key_is_answered() {
    let (sent, _) = opening(&key());
    assert_eq!(answered(&Handshake::new(Secret([8; 32])), &sent), 0);
    assert_eq!(answer_to(&key(), &sent), 2 + HANDSHAKE);
}

#[test]
fn what_was_played_once_is_not_answered_again() {
    let handshake = Handshake::new(key());
    let (first, second) = (opening(&key()).0, opening(&key()).0);
    assert_eq!([&first, &first, &second].map(|sent| answered(&handshake, sent)), [50, 0, 50]);
    for n in 0..REMEMBERED {
        let mut other = [0; HANDSHAKE];
        other[..8].copy_from_slice(&n.to_le_bytes());
        handshake.remember(&other).unwrap();
    }
    assert_eq!(handshake.seen.lock().unwrap().len(), REMEMBERED, "its memory is bounded");
}

#[test]
fn no_part_and_no_damage_is_answered() {
    let handshake = Handshake::new(key());
    let (sent, _) = opening(&key());
    for length in 0..sent.len() {
        assert_eq!(answered(&handshake, &sent[..length]), 0, "cut to {length} bytes");
    }
    for bit in 0..8 * sent.len() {
        // The key exchange ignores the public key's highest bit, but the handshake's hash includes
        // it.
        let mut damaged = sent.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(answered(&handshake, &damaged), 0, "bit {bit} flipped");
    }
    assert_eq!(answered(&handshake, &sent), 50, "and none of it spoilt the handshake");
}

/// The handshake is valid but the first message is not: the client is refused.
#[test]
fn a_first_message_is_short_and_sealed() {
    let admit = |message: &[u8], damage: bool| {
        let (mut client, mut server) = UnixStream::pair().unwrap();
        client.set_read_timeout(Some(DEADLINE)).unwrap();
        let (sent, mut noise) = opening(&key());
        client.write_all(&sent).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut answer = [0; 50];
                client.read_exact(&mut answer).unwrap();
                noise.read_message(&answer[2..], &mut []).unwrap();
                let mut frame = seal(&mut noise.into_transport_mode().unwrap(), message).unwrap();
                frame[0] ^= u8::from(damage);
                write_frame(&mut client, &frame).unwrap();
            });
            Handshake::new(key()).admit(&mut server)
        })
    };
    let ping = br#"{"message":"ping"}"#;
    assert!(matches!(admit(ping, false), Ok(Admitted::Control(_, Some(ToServer::Ping)))));
    assert!(matches!(admit(b"{", false), Ok(Admitted::Control(_, None))));
    assert!(admit(ping, true).is_err());
    assert!(admit(&[b' '; LONGEST_FIRST], false).is_ok());
    assert!(admit(&[b' '; LONGEST_FIRST + 1], false).is_err());
}

/// 30,000 byte strings, most of them shaped to get further than random bytes would.
#[test]
fn no_bytes_of_an_outsider_panic_or_are_answered() {
    let handshake = Handshake::new(key());
    let mut random = TestRng::deterministic_rng(RngAlgorithm::XorShift);
    let mut tokens = 0;
    for n in 0..30_000 {
        let mut bytes = vec![0; (random.next_u32() % 200) as usize];
        random.fill_bytes(&mut bytes);
        let shape: &[u8] = [&[][..], &[1], &[1, 0], &[1, 0, 48], &[2], &[1, 255, 255]][n % 6];
        let bytes = [shape, &bytes].concat();
        let mut stream = Recorded { sent: &bytes, answered: 0 };
        match handshake.admit(&mut stream) {
            Ok(Admitted::Control(..)) => panic!("let in without the key: {bytes:?}"),
            Ok(Admitted::Data(_)) => tokens += 1,
            Err(_) => {}
        }
        assert_eq!(stream.answered, 0, "{bytes:?}");
    }
    assert!(tokens > 3000, "the shapes were not tried: {tokens}");
    assert!(handshake.seen.lock().unwrap().is_empty(), "outsiders leave nothing behind");
}
