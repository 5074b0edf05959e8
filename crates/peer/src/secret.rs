//! Random bytes shared by the two ends only.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// Secret of `N` random bytes. `Debug` does not show them; serialised, they are hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Secret<const N: usize>(pub(crate) [u8; N]);

/// Token of a session or a data connection, for one purpose. The server sends it over an
/// authenticated channel only.
pub type Token = Secret<16>;

impl Copy for Token {}

impl<const N: usize> Secret<N> {
    /// Generates a secret; fails only if the system has no source of randomness.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; N];
        let none = |e: getrandom::Error| io::Error::other(format!("no random numbers: {e}"));
        getrandom::fill(&mut bytes).map_err(none)?;
        Ok(Self(bytes))
    }

    /// Returns the bytes, to be sent by other means.
    pub fn bytes(&self) -> [u8; N] {
        self.0
    }

    /// Formats the secret as two lower-case hexadecimal digits per byte.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Parses exactly `2 * N` digits of either case.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let value = |digit: &u8| char::from(*digit).to_digit(16).map(|value| value as u8);
        let byte = |pair: &[u8]| Some(value(pair.first()?)? << 4 | value(pair.get(1)?)?);
        let bytes: Vec<u8> = text.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

impl<const N: usize> fmt::Debug for Secret<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<const N: usize> From<Secret<N>> for String {
    fn from(secret: Secret<N>) -> Self {
        secret.to_hex()
    }
}

impl<const N: usize> TryFrom<String> for Secret<N> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::from_hex(&text).ok_or_else(|| format!("not {} hexadecimal digits", 2 * N))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_full_length_and_digits_will_do() {
        assert_eq!(Secret::from_hex("00fF10"), Some(Secret([0, 255, 16])));
        for wrong in ["00fF1", "00fF1g", "0x0f10", "00fF1é", "00fF1000", ""] {
            assert_eq!(Secret::<3>::from_hex(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(bytes: [u8; 16]) {
            let secret = Secret(bytes);
            prop_assert_eq!(Secret::from_hex(&secret.to_hex()), Some(secret));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,70}") {
            let _ = Secret::<32>::from_hex(&text);
        }
    }
}
