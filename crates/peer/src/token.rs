//! Secrets that are sent over an authenticated channel and valid for one purpose.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use crate::hex;

pub(crate) const LENGTH: usize = 16;

/// 16 random bytes that name a session or a data connection; whoever knows them was given
/// them by the server. `Debug` does not show them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Token(pub(crate) [u8; LENGTH]);

impl Token {
    /// A new one, from the system's source of randomness.
    ///
    /// # Errors
    /// If the system has none.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(Self(bytes))
    }

    /// Its bytes, to be sent on a way of their own.
    pub fn bytes(&self) -> [u8; LENGTH] {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        hex::encode(&token.0)
    }
}

impl TryFrom<String> for Token {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        hex::decode(&text).map(Self).ok_or_else(|| "not a token of 32 hexadecimal digits".into())
    }
}
