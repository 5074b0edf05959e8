//! Authentication between the two ends of a network run.
//!
//! The *client* is the run; the *server* is `proofmark serve`, on another machine or on this one.
//! Both hold the same key. An [`Overview`] describes a server and its limits without starting a
//! session. The client's [`ControlSession`] requests a session from a [`Server`]. Each worker joins
//! it with a [`Channel`], opens jobs and gets data connections for them. Jobs and data are defined
//! by the server's [`Work`]; this crate does not interpret them.
//!
//! A client without the key gets no access and no information. The first message of a control
//! connection proves the key (Noise, pattern NNpsk0). A data connection starts with a token that
//! was sent over a control connection and is valid once. Other connections are closed without an
//! answer, within a fixed time and a fixed amount of memory. There is one exception: a first
//! message that was captured and is replayed to a server that does not remember it. That server was
//! restarted, or has seen 4,096 others since. It answers with 48 bytes of the handshake, which are
//! useless without the key, and opens no session.
//!
//! Sources: The Noise Protocol Framework, revision 34, <https://noiseprotocol.org/noise.html>.

mod address;
mod bounds;
mod call;
mod channel;
mod control_session;
mod error;
mod handshake;
mod invitation;
mod key;
mod message;
mod overview;
mod sealed;
mod secret;
mod server;
mod this_host;
mod timed;
pub mod wire;
mod work;

pub use address::{Address, AddressError, DEFAULT_PORT};
pub use bounds::Bounds;
pub use channel::Channel;
pub use control_session::ControlSession;
pub use error::PeerError;
pub use handshake::answer_to;
pub use invitation::{INVITATION, Invitation};
pub use key::{KEY_VARIABLE, Key, KeyError, KeySource};
pub use message::{Limits, OpenStream};
pub use overview::Overview;
pub use secret::{Secret, Token};
pub use server::{Patience, Server, Stop};
pub use this_host::{boot_id, this_host};
pub use work::{Ends, Task, Work};

/// Version of the program and, after the slash, of the protocol; both ends must have the same.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/2");
