//! Handshake: processing of bytes before authentication. Each connection holds at most a frame of
//! 48 bytes and one of 1,040. Only a first message that was made with the key and not seen before
//! gets an answer.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Mutex;

use snow::{Builder, HandshakeState, TransportState};

use proofmark_model::lock;

use crate::key::Key;
use crate::message::ToServer;
use crate::secret::{Secret, Token};
use crate::wire::{CONTROL, DATA, decode, malformed, read_frame, write_frame};

/// Bytes that ChaCha20-Poly1305 adds to a message.
pub(crate) const TAG: usize = 16;
/// Length of a handshake message: an ephemeral public key and the tag of an empty payload.
const HANDSHAKE: usize = 32 + TAG;
const LONGEST_FIRST: usize = 1024;
/// Maximum of first messages that are remembered, 48 bytes each.
const REMEMBERED: usize = 4096;
/// Prologue. It never changes, so that ends of different versions get far enough to report it.
const PROLOGUE: &[u8] = b"proofmark peer";

/// Result of the authentication.
pub(crate) enum Admitted {
    /// Client with the key, and its first message; `None` if it is of another version.
    Control(Box<TransportState>, Option<ToServer>),
    /// Client with a token, which is not verified here.
    Data(Token),
}

/// Authentication by key or token.
pub(crate) struct Handshake {
    key: Key,
    /// First messages seen, against replay. Only clients with the key can fill it.
    seen: Mutex<VecDeque<[u8; HANDSHAKE]>>,
}

impl Handshake {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, seen: Mutex::new(VecDeque::new()) }
    }

    /// Authenticates a connection from its first bytes. The stream must have a deadline.
    pub(crate) fn admit(&self, stream: &mut (impl Read + Write)) -> io::Result<Admitted> {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        match kind[0] {
            CONTROL => {}
            DATA => {
                let mut token = [0; size_of::<Token>()];
                stream.read_exact(&mut token)?;
                return Ok(Admitted::Data(Secret(token)));
            }
            _ => return Err(malformed("neither a control nor a data connection")),
        }
        let mut noise = builder(&self.key, Builder::build_responder)?;
        let first = read_frame(stream, HANDSHAKE, HANDSHAKE)?;
        noise.read_message(&first, &mut []).map_err(|_| malformed("another key"))?;
        self.remember(&first)?;
        write_frame(stream, &next(&mut noise)?)?;
        let mut state = noise.into_transport_mode().map_err(io::Error::other)?;
        let frame = read_frame(stream, TAG, LONGEST_FIRST + TAG)?;
        let message = open(&mut state, &frame)?;
        Ok(Admitted::Control(Box::new(state), decode(&message).ok()))
    }

    fn remember(&self, first: &[u8]) -> io::Result<()> {
        let first = first.try_into().map_err(|_| malformed("a handshake of another length"))?;
        let mut seen = lock(&self.seen);
        if seen.contains(&first) {
            return Err(malformed("a handshake for the second time"));
        }
        if seen.len() == REMEMBERED {
            seen.pop_front();
        }
        seen.push_back(first);
        Ok(())
    }
}

pub(crate) fn enter(key: &Key, stream: &mut (impl Read + Write)) -> io::Result<TransportState> {
    let mut noise = builder(key, Builder::build_initiator)?;
    let mut bytes = vec![CONTROL];
    write_frame(&mut bytes, &next(&mut noise)?)?;
    stream.write_all(&bytes)?;
    let answer = read_frame(stream, HANDSHAKE, HANDSHAKE)?;
    noise.read_message(&answer, &mut []).map_err(|_| malformed("an answer without the key"))?;
    noise.into_transport_mode().map_err(io::Error::other)
}

/// Returns how many bytes a server with this key answers to a client that sends `bytes` and waits.
/// For tests and fuzzers: it is 0 unless the bytes were made with the key.
#[doc(hidden)]
pub fn answer_to(key: &Key, bytes: &[u8]) -> usize {
    answered(&Handshake::new(key.clone()), bytes)
}

fn answered(handshake: &Handshake, sent: &[u8]) -> usize {
    let mut stream = Recorded { sent, answered: 0 };
    // A refusal closes the connection.
    let _ = handshake.admit(&mut stream);
    stream.answered
}

struct Recorded<'a> {
    sent: &'a [u8],
    answered: usize,
}

impl Read for Recorded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sent.read(buffer)
    }
}

impl Write for Recorded<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.answered += buffer.len();
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn builder<'k>(
    key: &'k Key,
    build: impl Fn(Builder<'k>) -> Result<HandshakeState, snow::Error>,
) -> io::Result<HandshakeState> {
    let pattern = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s".parse().map_err(io::Error::other)?;
    let builder = Builder::new(pattern).psk(0, &key.0).and_then(|b| b.prologue(PROLOGUE));
    builder.and_then(build).map_err(io::Error::other)
}

fn next(noise: &mut HandshakeState) -> io::Result<Vec<u8>> {
    let mut message = vec![0; HANDSHAKE];
    let length = noise.write_message(&[], &mut message).map_err(io::Error::other)?;
    message.truncate(length);
    Ok(message)
}

pub(crate) fn seal(state: &mut TransportState, message: &[u8]) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; message.len() + TAG];
    state.write_message(message, &mut frame).map_err(io::Error::other)?;
    Ok(frame)
}

pub(crate) fn open(state: &mut TransportState, frame: &[u8]) -> io::Result<Vec<u8>> {
    let mut message = vec![0; frame.len().saturating_sub(TAG)];
    state.read_message(frame, &mut message).map_err(|_| malformed("a message without the key"))?;
    Ok(message)
}

#[cfg(test)]
mod tests;
