//! Invitation for a worker to join its run's session.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::error::PeerError;
use crate::key::Key;
use crate::secret::Token;

/// Environment variable that passes an invitation to a worker, as JSON. Only the same user can read
/// a process's environment.
pub const INVITATION: &str = "PROOFMARK_PEER";

/// Invitation to a session. `Debug` shows neither key nor session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Address of the server as the control session reached it.
    pub address: SocketAddr,
    /// Key of the server.
    pub key: Key,
    /// Token of the session.
    pub session: Token,
    /// Interface of this machine to the server, if known.
    #[serde(default)]
    pub interface: Option<String>,
}

impl Invitation {
    /// Encodes the invitation for the environment variable.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Parses the environment variable; an error does not show its value.
    pub fn parse(json: &str) -> Result<Self, PeerError> {
        serde_json::from_str(json).map_err(|_| PeerError::NoInvitation(INVITATION))
    }

    /// Returns the invitation of this process, if it has one.
    pub fn from_env() -> Result<Option<Self>, PeerError> {
        std::env::var_os(INVITATION).map(|text| Self::parse(&text.to_string_lossy())).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_and_is_not_shown() {
        let (key, session) = (Key::generate().unwrap(), Token::random().unwrap());
        for address in ["127.0.0.1:5277", "[::1]:1", "[fe80::1%3]:5277"] {
            let address = address.parse().unwrap();
            let interface = Some("eth0".to_owned());
            let invitation = Invitation { address, key: key.clone(), session, interface };
            assert_eq!(Invitation::parse(&invitation.to_json()).unwrap(), invitation);
            let shown = format!("{invitation:?}");
            assert!(!shown.contains(&key.to_hex()) && !shown.contains(&String::from(session)));
        }
        let cut = Invitation::parse(&format!("{{\"key\":\"{}\"}}", key.to_hex())).unwrap_err();
        assert!(!format!("{cut:?} {cut}").contains(&key.to_hex()));
    }
}
