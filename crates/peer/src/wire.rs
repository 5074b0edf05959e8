//! Wire format, as pure functions that parse untrusted bytes. Public for tests and fuzzers.
//!
//! A connection starts with one byte: 1 for a control connection, 2 for a data connection. A
//! control connection continues with frames: a big-endian length of two bytes, then that many bytes
//! of a Noise message. Two frames are the handshake; the rest is JSON. A data connection continues
//! with a token of 16 bytes. The server answers it with a 2, and from then on the connection
//! belongs to the job.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::message::{ToClient, ToServer};

/// Maximum length of a message, in bytes of JSON.
pub const LONGEST: usize = 60_000;
/// First byte of a control connection.
pub const CONTROL: u8 = 1;
/// First byte of a data connection, and the server's answer to a token.
pub const DATA: u8 = 2;

/// Reads a frame of `least` to `most` bytes; fails with `InvalidData` before it allocates memory.
pub fn read_frame(stream: &mut impl Read, least: usize, most: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let length = usize::from(u16::from_be_bytes(length));
    if !(least..=most).contains(&length) {
        return Err(malformed("invalid frame length"));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}

/// Writes a frame in one call, so in one packet if it fits; fails with `InvalidInput` if it is too
/// long.
pub fn write_frame(stream: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    let length =
        u16::try_from(frame.len()).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    let mut bytes = Vec::with_capacity(2 + frame.len());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(frame);
    stream.write_all(&bytes)
}

/// Encodes a message as JSON; fails with `InvalidInput` if it is longer than [`LONGEST`].
pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(message).map_err(io::Error::from)?;
    if json.len() > LONGEST {
        let text = format!("a message of {} B exceeds the maximum of {LONGEST} B", json.len());
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    }
    Ok(json)
}

/// Decodes a message; fails with `InvalidData` if it is invalid or longer than [`LONGEST`].
pub fn decode<M: DeserializeOwned>(json: &[u8]) -> io::Result<M> {
    if json.len() > LONGEST {
        return Err(malformed("a message exceeds the maximum length"));
    }
    serde_json::from_slice(json).map_err(|_| malformed("not a message of this protocol"))
}

/// Returns an error for bytes that break the protocol.
pub(crate) fn malformed(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_frame_outside_its_bounds_is_refused_before_it_is_read() {
        let bytes = [0, 3, 1, 2, 3];
        assert_eq!(read_frame(&mut &bytes[..], 1, 3).unwrap(), [1, 2, 3]);
        for (least, most) in [(4, 9), (0, 2)] {
            let mut rest = &bytes[..];
            let error = read_frame(&mut rest, least, most).unwrap_err();
            assert_eq!((error.kind(), rest.len()), (ErrorKind::InvalidData, 3));
        }
        let cut = read_frame(&mut &bytes[..4], 1, 3).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn messages_are_bounded_and_shallow() {
        let long = ToServer::Open { job: json!("x".repeat(LONGEST)) };
        assert_eq!(encode(&long).unwrap_err().kind(), ErrorKind::InvalidInput);
        let fits = ToServer::Open { job: json!("x".repeat(LONGEST - 60)) };
        assert_eq!(decode::<ToServer>(&encode(&fits).unwrap()).unwrap(), fits);
        let padded = [encode(&ToServer::Ping).unwrap(), vec![b' '; LONGEST]].concat();
        assert!(decode::<ToServer>(&padded).is_err());
        let deep = format!("{{\"message\":\"open\",\"job\":{}", "[".repeat(50_000));
        assert!(decode::<ToServer>(deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn what_was_framed_is_read(frame in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = Vec::new();
            write_frame(&mut bytes, &frame).unwrap();
            prop_assert_eq!(read_frame(&mut &bytes[..], 0, 300).unwrap(), frame);
        }

        #[test]
        fn no_text_panics(text in "\\{\"message\":\"[a-z]{0,8}\"(,\"[a-z]{1,8}\":\\PC{0,20}){0,4}\\}?") {
            let _ = decode::<ToServer>(text.as_bytes());
            let _ = decode::<ToClient>(text.as_bytes());
        }
    }
}
