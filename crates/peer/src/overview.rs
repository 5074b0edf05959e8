//! What a near end may know of a far end before it asks for a session.

use proofmark_model::{FarEnd, Interface};

use crate::VERSION;
use crate::address::Address;
use crate::call::{other, reach};
use crate::error::PeerError;
use crate::key::Key;
use crate::message::{ToFar, ToNear};
use crate::server::Limits;
use crate::work::Ends;

/// A far end that holds the key and has no session, as it told when it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Its machine, as it tells itself.
    pub far: FarEnd,
    /// Its interface to this end, where it tells.
    pub far_interface: Option<Interface>,
    /// The most that it grants a session.
    pub limits: Limits,
    /// The two ends of the connection on which it was asked; the near end is `local`.
    pub ends: Ends,
}

impl Overview {
    /// Asks for it. The far end is as free afterwards as it was before.
    ///
    /// # Errors
    /// As [`crate::Lead::connect`].
    pub fn of(address: &Address, key: &Key) -> Result<Self, PeerError> {
        match reach(address, key, &ToFar::Look { version: VERSION.to_owned() })? {
            (to, channel, ToNear::Overview { host, interface, limits }) => {
                let broken = |source| PeerError::Broken { address: to.to_string(), source };
                let ends = Ends::of(channel.stream()).map_err(broken)?;
                Ok(Self { far: *host, far_interface: interface.map(|i| *i), limits, ends })
            }
            (to, _, answer) => Err(other(to, answer)),
        }
    }
}
