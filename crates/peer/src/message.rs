//! Messages of a control connection: JSON within Noise.

use proofmark_model::{Interface, ServerEnd, clean_excerpt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::secret::Token;

/// Maximum length of a text from the other end, in characters.
const LONGEST: usize = 200;

/// Shortens a text from the other end and makes it safe for a terminal.
pub(crate) fn excerpt(text: &str) -> String {
    clean_excerpt(text, LONGEST)
}

/// Maximum duration and payload of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds.
    pub seconds: u64,
    /// Bytes of payload, sent and received, over all data connections and datagrams.
    pub bytes: u64,
}

/// Message from the client to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToServer {
    /// First message: requests an overview and starts nothing.
    Look {
        /// The client's [`crate::VERSION`].
        version: String,
    },
    /// First message of a run: requests a session.
    Hello {
        /// The client's [`crate::VERSION`].
        version: String,
        /// Name of the run, for the server's log.
        run: String,
        /// Requested limits.
        asked: Limits,
    },
    /// First message of a worker: joins a session.
    Join {
        /// Token of the session, from the invitation.
        session: Token,
    },
    /// Ends the previous job and requests a new one.
    Open {
        /// Job, interpreted by the server's [`crate::Work`].
        job: Value,
    },
    /// Requests the server's counters.
    Counters,
    /// Shows that the run is alive.
    Ping,
}

/// Message from the server to the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToClient {
    /// Description of the server.
    Overview {
        /// The server's machine.
        host: Box<ServerEnd>,
        /// The server's interface to the client.
        interface: Option<Box<Interface>>,
        /// Maximum limits of a session.
        limits: Limits,
        /// The server's CLOCK_MONOTONIC_RAW in nanoseconds.
        raw_ns: u64,
    },
    /// A session was started.
    Welcome {
        /// Token for workers to join it.
        session: Token,
        /// Time without a message from the run after which the session ends.
        silence_ms: u64,
        /// Granted limits: the requested ones or lower.
        granted: Limits,
    },
    /// Another session is in progress, for at most this long.
    Busy {
        /// Whole seconds, rounded up.
        seconds: u64,
    },
    /// The server has another version.
    Differs {
        /// The server's [`crate::VERSION`].
        version: String,
    },
    /// The worker has joined the session.
    Joined,
    /// The job is ready for its data connections.
    Opened {
        /// Streams of the job.
        streams: Vec<OpenStream>,
    },
    /// The server's counters.
    Counters {
        /// Counters, defined by the server's [`crate::Work`].
        value: Value,
    },
    /// Answer to a ping.
    Pong,
    /// The server refuses the request.
    Refused {
        /// Reason of the refusal.
        reason: String,
    },
    /// The server has ended the session.
    Ended {
        /// Reason of the end.
        reason: String,
    },
}

/// Stream of a job that waits for its data connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenStream {
    /// Token that opens the data connection, once.
    pub token: Token,
    /// Description by the server's task.
    pub description: Value,
}
