//! The trust between the two ends of a network run.
//!
//! The *client* is the run; the *server* is `proofmark serve`, on another machine or on this one.
//! Both know one key. An [`Overview`] says what a server is and grants; it costs nothing. The
//! client's [`ControlSession`] asks a [`Server`] for a session; each of its workers joins that with
//! a [`Channel`], names jobs, and gets data connections for them. What the jobs are and what the
//! data connections carry is the server's [`Work`]; this crate knows nothing of it.
//!
//! Who does not hold the key learns nothing: the first message of a control connection proves the
//! key (Noise, pattern NNpsk0), a data connection begins with a token that was sent over one and is
//! good once. What does not prove itself is closed without a word, within a fixed time and a fixed
//! amount of memory. One exception: a first message that was captured and is played to a server
//! that does not remember it (one that was started again, or had 4,096 others since) gets the
//! handshake's answer, 48 bytes that mean nothing without the key. It gets no session.
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

/// The program's version and, after the stroke, the protocol's; both ends must have the same.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/2");
