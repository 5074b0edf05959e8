//! A worker's own channel into its run's session.

use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use serde_json::Value;

use crate::call::{PATIENCE, control, data, other};
use crate::error::PeerError;
use crate::invitation::Invitation;
use crate::message::{OpenStream, ToClient, ToServer};
use crate::sealed::Sealed;
use crate::work::Ends;

/// Opens jobs and their data connections. Its job ends when it is dropped.
#[derive(Debug)]
pub struct Channel {
    sealed: Sealed,
    ends: Ends,
    address: SocketAddr,
}

impl Channel {
    /// Joins the session; [`PeerError::Refused`] if it has ended.
    pub fn join(invitation: &Invitation) -> Result<Self, PeerError> {
        let Invitation { address, key, session, .. } = invitation;
        match control(*address, key, &ToServer::Join { session: *session })? {
            (sealed, ToClient::Joined) => {
                let ends = Ends::from_stream(sealed.stream());
                let ends = ends.map_err(|source| PeerError::Broken(*address, source))?;
                Ok(Self { sealed, ends, address: *address })
            }
            (_, answer) => Err(other(*address, answer)),
        }
    }

    /// Ends the job before and opens a new one; the streams are those of the server's
    /// tasks, in their order. [`PeerError::Refused`] has the server's reason.
    pub fn open(&mut self, job: &Value) -> Result<Vec<OpenStream>, PeerError> {
        match self.ask(&ToServer::Open { job: job.clone() })? {
            ToClient::Opened { streams } => Ok(streams),
            answer => Err(other(self.address, answer)),
        }
    }

    /// Opens the data connection of a stream of the present job, once a stream. When this
    /// returns the server's task runs. Both ends find a stream with the system's settings.
    /// [`PeerError::Refused`] if the stream's token is no longer good.
    pub fn data(&self, stream: &OpenStream) -> Result<TcpStream, PeerError> {
        data(self.address, stream.token)
    }

    /// The server's counters of network traffic, now; [`PeerError::Refused`] if it has none.
    pub fn counters(&mut self) -> Result<Value, PeerError> {
        match self.ask(&ToServer::Counters)? {
            ToClient::Counters { value } => Ok(value),
            answer => Err(other(self.address, answer)),
        }
    }

    /// Its two ends; the client is `local`.
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
