//! The messages of the two ends on a data connection, apart from payload. Each has a fixed size: a
//! word that names the message, then its fields, each 8 bytes, little-endian.

/// A message of a fixed size.
pub(super) trait Message: Sized {
    /// The type of its bytes.
    type Bytes: AsRef<[u8]> + AsMut<[u8]>;
    /// The same number of zero bytes.
    const EMPTY: Self::Bytes;
    /// Returns the bytes on the wire.
    fn encode(&self) -> Self::Bytes;
    /// Parses bytes, or returns `None` if they are no such message.
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

/// A server's outcome of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The request was done, and all data that arrived were right.
    #[default]
    Done,
    /// The server did nothing: the session has no bytes left for it.
    Refused,
    /// A block arrived with another number than expected.
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

/// Declares messages: name, initial word, fields.
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
    /// The client requests a run of a stream.
    Request b"request\0" {
        /// Number of the first block, which no earlier block of the connection had.
        first: u64,
        /// Blocks, round trips or connections.
        count: u64,
    }

    /// The datagram with the token of the client's socket has arrived.
    Reached b"reached\0" {
        /// Bytes of the datagram.
        bytes: u64,
    }

    /// The sender of datagrams has sent all that it will send.
    Sent b"all sent" {
        /// Number of datagrams sent.
        count: u64,
        /// Nanoseconds from the first to the last datagram. For paced ones, to the end of the last
        /// one's interval.
        took_ns: u64,
    }

    /// The server's account of a request.
    Report b"report\0\0" {
        /// Outcome of the request.
        outcome: Outcome,
        /// The expected number, if a block was wrong.
        due: u64,
        /// The number found in the wrong block.
        found: u64,
        /// Blocks received (or sent, if the server sends), answers, or accepted connections.
        blocks: u64,
        /// Payload bytes of the blocks.
        bytes: u64,
        /// Datagrams that arrived after one that was sent later.
        reordered: u64,
        /// Datagrams that arrived again.
        duplicated: u64,
        /// Jitter of datagrams (RFC 3550) in nanoseconds, or 0 if unknown.
        jitter_ns: u64,
        /// Nanoseconds from the last counted datagram to this report.
        quiet_ns: u64,
        /// Segments that the server, sending by TCP, retransmitted since the connection was opened.
        retransmits: u64,
        /// Congestion window of a server that sends by TCP, in bytes.
        window_bytes: u64,
        /// Smoothed round trip of a server that sends by TCP, in nanoseconds.
        rtt_ns: u64,
        /// Shortest round trip of a server that sends by TCP, in nanoseconds, or 0 if unknown.
        least_rtt_ns: u64,
        /// Largest payload of a segment of a server that sends by TCP, in bytes.
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
        fn decoded_messages_equal_the_encoded_ones(
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
