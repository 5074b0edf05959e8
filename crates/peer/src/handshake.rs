//! The handshake: what an outsider's bytes meet before they have proved the key. At most a
//! frame of 48 bytes and one of 1,040 are held for each, and nothing is answered but a
//! first message that only a holder of the key can have made and that was not there before.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Mutex;

use snow::{Builder, HandshakeState, TransportState};

use proofmark_model::lock;

use crate::key::Key;
use crate::message::ToServer;
use crate::secret::{Secret, Token};
use crate::wire::{CONTROL, DATA, decode, malformed, read_frame, write_frame};

/// Bytes that ChaCha20-Poly1305 adds to each message.
pub(crate) const TAG: usize = 16;
/// A handshake message: an ephemeral public key and the tag of an empty payload.
const HANDSHAKE: usize = 32 + TAG;
const LONGEST_FIRST: usize = 1024;
/// First messages that are remembered, 48 bytes each.
const REMEMBERED: usize = 4096;
/// Never changes: ends of different versions must come far enough to tell so.
const PROLOGUE: &[u8] = b"proofmark peer";

/// Who has proved himself.
pub(crate) enum Admitted {
    /// A holder of the key, and his first message; `None` if it is not of this version.
    Control(Box<TransportState>, Option<ToServer>),
    /// Someone with a token. Whether it is good for anything is not known here.
    Data(Token),
}

/// Lets in who holds the key, or has a token.
pub(crate) struct Handshake {
    key: Key,
    /// First messages, so that none is played again; only holders of the key can fill it.
    seen: Mutex<VecDeque<[u8; HANDSHAKE]>>,
}

impl Handshake {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, seen: Mutex::new(VecDeque::new()) }
    }

    /// Reads the beginning of a connection; a deadline is the stream's business.
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

/// Bytes that a server with this key answers to an outsider who sends `bytes` and then
/// waits. For tests and fuzzers: whatever the bytes, it is 0 unless they were made with the key.
#[doc(hidden)]
pub fn answer_to(key: &Key, bytes: &[u8]) -> usize {
    answered(&Handshake::new(key.clone()), bytes)
}

fn answered(handshake: &Handshake, sent: &[u8]) -> usize {
    let mut stream = Recorded { sent, answered: 0 };
    // What follows a refusal is that the connection is closed.
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
