//! A control connection whose handshake is done.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::TransportState;

use crate::handshake::{TAG, open, seal};
use crate::timed::Timed;
use crate::wire::{LONGEST, decode, encode, read_frame, write_frame};

/// Messages one after the other, each way, sealed.
#[derive(Debug)]
pub(crate) struct Sealed {
    stream: TcpStream,
    state: Box<TransportState>,
}

impl Sealed {
    pub(crate) fn new(stream: TcpStream, state: Box<TransportState>) -> Self {
        Self { stream, state }
    }

    /// The connection below, to shut it down or to wait on it.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a message, in full by then or never.
    pub(crate) fn send(&mut self, message: &impl Serialize, until: Instant) -> io::Result<()> {
        let frame = seal(&mut self.state, &encode(message)?)?;
        write_frame(&mut Timed::new(&self.stream, Some(until)), &frame)
    }

    /// The next message, if here in full by then. An error is final: part of one may be lost.
    pub(crate) fn receive<M: DeserializeOwned>(&mut self, until: Option<Instant>) -> io::Result<M> {
        let mut stream = Timed::new(&self.stream, until);
        let frame = read_frame(&mut stream, TAG, LONGEST + TAG)?;
        decode(&open(&mut self.state, &frame)?)
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        // Clones of the descriptor are kept elsewhere; the other end shall know now.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
