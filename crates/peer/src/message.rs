//! The messages of a control connection, JSON within Noise.

use proofmark_model::{Interface, ServerEnd, clean_excerpt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::secret::Token;

/// Longest text of the other end that is kept, in characters.
const LONGEST: usize = 200;

/// The other end's text, made safe for a terminal.
pub(crate) fn excerpt(text: &str) -> String {
    clean_excerpt(text, LONGEST)
}

/// How long a session lasts and how much it carries, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds.
    pub seconds: u64,
    /// Bytes of payload, sent and received, over all its data connections and datagrams.
    pub bytes: u64,
}

/// From the client to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToServer {
    /// A first message that asks what there is; it begins nothing.
    Look {
        /// The client's [`crate::VERSION`].
        version: String,
    },
    /// A lead's first message: it asks for a session.
    Hello {
        /// The client's [`crate::VERSION`].
        version: String,
        /// Name of the run, for the server's log.
        run: String,
        /// What the session is to be granted.
        asked: Limits,
    },
    /// A worker's first message: it joins the lead's session.
    Join {
        /// The session, from the invitation.
        session: Token,
    },
    /// Ends the job before, and asks for a new one.
    Open {
        /// Its shape is between the client and the server's [`crate::Work`].
        job: Value,
    },
    /// Asks for the server's counters.
    Counters,
    /// Says that the lead lives.
    Ping,
}

/// From the server to the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToClient {
    /// What there is.
    Overview {
        /// The server's machine.
        host: Box<ServerEnd>,
        /// The server's interface to the client.
        interface: Option<Box<Interface>>,
        /// The most that a session is granted.
        limits: Limits,
        /// The server's CLOCK_MONOTONIC_RAW, in nanoseconds.
        raw_ns: u64,
    },
    /// The session exists.
    Welcome {
        /// Its name, for the workers to join it.
        session: Token,
        /// The session ends after this long without a message from the lead.
        silence_ms: u64,
        /// What it is granted: what was asked, or less.
        granted: Limits,
    },
    /// There is another session, for this long at most.
    Busy {
        /// Whole seconds, rounded up.
        seconds: u64,
    },
    /// The server is of another version.
    Differs {
        /// The server's [`crate::VERSION`].
        version: String,
    },
    /// The worker is in the session.
    Joined,
    /// The job is ready for its data connections.
    Opened {
        /// One for each of the job's streams.
        streams: Vec<OpenStream>,
    },
    /// The server's counters.
    Counters {
        /// Its shape is between the client and the server's [`crate::Work`].
        value: Value,
    },
    /// The server lives.
    Pong,
    /// What was asked will not be done.
    Refused {
        /// Why.
        reason: String,
    },
    /// The session has ended by the server's doing.
    Ended {
        /// Why.
        reason: String,
    },
}

/// A stream of a job that waits for its data connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenStream {
    /// Opens the data connection, once.
    pub token: Token,
    /// What the server's task reports of itself.
    pub description: Value,
}
