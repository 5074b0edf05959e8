//! What the two ends send each other on a data connection besides payload: messages of a
//! fixed size, a word that names the message and then its fields, each 8 bytes, little-endian.

/// A message of a fixed size.
pub(super) trait Message: Sized {
    /// Its bytes.
    type Bytes: AsRef<[u8]> + AsMut<[u8]>;
    /// The same number of zeros.
    const EMPTY: Self::Bytes;
    /// The bytes on the wire.
    fn encode(&self) -> Self::Bytes;
    /// What such bytes say; `None`: they are no such message.
    fn decode(bytes: &Self::Bytes) -> Option<Self>;
}

/// A field of a message.
trait Field: Sized {
    fn word(&self) -> u64;
    fn from_word(word: u64) -> Option<Self>;
}

impl Field for u64 {
    fn word(&self) -> u64 {
        *self
    }

    fn from_word(word: u64) -> Option<Self> {
        Some(word)
    }
}

/// How a server came out of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of it was done, and what arrived was as it must be.
    #[default]
    Done,
    /// Nothing was done: the session has no bytes left for it.
    Refused,
    /// A block that arrived was not the one that was due.
    Wrong,
}

impl Field for Outcome {
    fn word(&self) -> u64 {
        *self as u64
    }

    fn from_word(word: u64) -> Option<Self> {
        [Self::Done, Self::Refused, Self::Wrong].into_iter().find(|o| o.word() == word)
    }
}

/// Declares messages: name, the word that it begins with, fields.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident $word:literal {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(super) struct $name {
            $($(#[$field_doc])* pub(super) $field: $type,)*
        }

        impl Message for $name {
            type Bytes = [u8; 8 * (1 + [$(stringify!($field)),*].len())];
            const EMPTY: Self::Bytes = [0; 8 * (1 + [$(stringify!($field)),*].len())];

            fn encode(&self) -> Self::Bytes {
                let mut bytes = Self::EMPTY;
                let words = [u64::from_le_bytes(*$word), $(self.$field.word()),*];
                for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
                bytes
            }

            fn decode(bytes: &Self::Bytes) -> Option<Self> {
                let mut words = bytes.chunks_exact(8).map(|place| {
                    place.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
                });
                if words.next()? != u64::from_le_bytes(*$word) {
                    return None;
                }
                Some(Self { $($field: <$type>::from_word(words.next()?)?),* })
            }
        })*
    };
}

messages! {
    /// The client asks for a run of a stream.
    Request b"request\0" {
        /// Number of the first block; no block of the connection had it before.
        first: u64,
        /// Blocks, round trips or connections.
        count: u64,
    }

    /// The datagram that shows whose socket the client's is has come.
    Reached b"reached\0" {
        /// Bytes of it.
        bytes: u64,
    }

    /// Whoever sent datagrams has sent all that it will.
    Sent b"all sent" {
        /// As many.
        count: u64,
        /// From the first to the last, in nanoseconds; of paced ones to the end of the last one's
        /// interval.
        took_ns: u64,
    }

    /// The server's account of a request.
    Report b"report\0\0" {
        /// How it came out.
        outcome: Outcome,
        /// The number expected where a block was wrong.
        due: u64,
        /// The number found there.
        found: u64,
        /// Blocks received or, by the sender, sent; answers; connections accepted.
        blocks: u64,
        /// Bytes of payload in them.
        bytes: u64,
        /// Datagrams that came after one that was sent later.
        reordered: u64,
        /// Datagrams that came once more.
        duplicated: u64,
        /// Jitter of datagrams (RFC 3550), in nanoseconds; 0: not known.
        jitter_ns: u64,
        /// From the last datagram that counts to this report, in nanoseconds.
        quiet_ns: u64,
        /// Where the server sends by TCP: segments sent again since the connection was made.
        retransmits: u64,
        /// The same: congestion window in bytes.
        window_bytes: u64,
        /// The same: smoothed round trip in nanoseconds.
        rtt_ns: u64,
        /// The same: shortest round trip in nanoseconds; 0: not known.
        least_rtt_ns: u64,
        /// The same: largest payload of a segment in bytes.
        segment_bytes: u64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: usize = size_of::<<Report as Message>::Bytes>() / 8;

    #[test]
    fn the_layout_is_fixed() {
        let bytes = Request { first: 0x0102, count: 3 }.encode();
        assert_eq!(bytes, *b"request\0\x02\x01\0\0\0\0\0\0\x03\0\0\0\0\0\0\0");
        let sent = Sent { count: 1, took_ns: 2 }.encode();
        assert_eq!(sent, *b"all sent\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0");
    }

    #[test]
    fn other_words_are_no_message() {
        let mut bytes = Sent::default().encode();
        assert!(Sent::decode(&bytes).is_some());
        bytes[7] ^= 1;
        assert_eq!(Sent::decode(&bytes), None);
        let mut bytes = Report::default().encode();
        bytes[8] = 3;
        assert_eq!(Report::decode(&bytes), None, "no such outcome");
    }

    proptest! {
        #[test]
        fn what_was_sent_is_what_is_read(
            outcome in prop::sample::select(vec![Outcome::Done, Outcome::Refused, Outcome::Wrong]),
            rest: [u64; WORDS - 2],
        ) {
            let mut bytes = Report { outcome, ..Report::default() }.encode();
            for (place, word) in bytes[16..].chunks_exact_mut(8).zip(rest) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            let report = Report::decode(&bytes).unwrap();
            prop_assert_eq!((report.outcome, report.due, report.segment_bytes),
                (outcome, rest[0], rest[WORDS - 3]));
            prop_assert_eq!(report.encode(), bytes);
        }
    }
}
