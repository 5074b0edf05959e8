//! A worker's channel to its run's session.

use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use serde_json::Value;

use crate::call::{PATIENCE, control, data, unexpected_answer};
use crate::error::PeerError;
use crate::invitation::Invitation;
use crate::message::{OpenStream, ToClient, ToServer};
use crate::sealed::Sealed;
use crate::work::Ends;

/// Channel that opens jobs and their data connections. Its job ends when it is dropped.
#[derive(Debug)]
pub struct Channel {
    sealed: Sealed,
    ends: Ends,
    address: SocketAddr,
}

impl Channel {
    /// Joins the session.
    ///
    /// # Errors
    ///
    /// [`PeerError::Refused`] if the session has ended.
    pub fn join(invitation: &Invitation) -> Result<Self, PeerError> {
        let Invitation { address, key, session, .. } = invitation;
        match control(*address, key, &ToServer::Join { session: *session })? {
            (sealed, ToClient::Joined) => {
                let ends = Ends::from_stream(sealed.stream());
                let ends = ends.map_err(|source| PeerError::Broken(*address, source))?;
                Ok(Self { sealed, ends, address: *address })
            }
            (_, answer) => Err(unexpected_answer(*address, answer)),
        }
    }

    /// Ends the previous job and opens a new one. Returns the streams of the server's tasks in
    /// their order.
    ///
    /// # Errors
    ///
    /// [`PeerError::Refused`] with the server's reason.
    pub fn open(&mut self, job: &Value) -> Result<Vec<OpenStream>, PeerError> {
        match self.ask(&ToServer::Open { job: job.clone() })? {
            ToClient::Opened { streams } => Ok(streams),
            answer => Err(unexpected_answer(self.address, answer)),
        }
    }

    /// Opens the data connection of a stream of the current job, once per stream. On return the
    /// server's task is running. Both ends have the system's default socket settings.
    ///
    /// # Errors
    ///
    /// [`PeerError::Refused`] if the token is no longer valid.
    pub fn data(&self, stream: &OpenStream) -> Result<TcpStream, PeerError> {
        data(self.address, stream.token)
    }

    /// Reads the server's counters of network traffic; [`PeerError::Refused`] if it has none.
    pub fn counters(&mut self) -> Result<Value, PeerError> {
        match self.ask(&ToServer::Counters)? {
            ToClient::Counters { value } => Ok(value),
            answer => Err(unexpected_answer(self.address, answer)),
        }
    }

    /// Returns the two ends of the channel; the client is `local`.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    fn ask(&mut self, message: &ToServer) -> Result<ToClient, PeerError> {
        let until = || Instant::now() + PATIENCE;
        let asked = self.sealed.send(message, until());
        let answered = asked.and_then(|()| self.sealed.receive(Some(until())));
        answered.map_err(|source| PeerError::Broken(self.address, source))
    }
}
