//! Encrypted control connection, after the handshake.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::TransportState;

use crate::handshake::{TAG, open, seal};
use crate::timed::Timed;
use crate::wire::{LONGEST, decode, encode, read_frame, write_frame};

/// Encrypted messages in both directions.
#[derive(Debug)]
pub(crate) struct Sealed {
    stream: TcpStream,
    state: Box<TransportState>,
}

impl Sealed {
    pub(crate) fn new(stream: TcpStream, state: Box<TransportState>) -> Self {
        Self { stream, state }
    }

    /// Returns the underlying connection, to shut it down or wait on it.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a message completely before a deadline, or fails.
    pub(crate) fn send(&mut self, message: &impl Serialize, until: Instant) -> io::Result<()> {
        let frame = seal(&mut self.state, &encode(message)?)?;
        write_frame(&mut Timed::new(&self.stream, Some(until)), &frame)
    }

    /// Receives the next complete message before a deadline. An error is final: part of a message
    /// may be lost.
    pub(crate) fn receive<M: DeserializeOwned>(&mut self, until: Option<Instant>) -> io::Result<M> {
        let mut stream = Timed::new(&self.stream, until);
        let frame = read_frame(&mut stream, TAG, LONGEST + TAG)?;
        decode(&open(&mut self.state, &frame)?)
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        // Other threads hold clones of the descriptor, so shut it down to notify the other end now.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
