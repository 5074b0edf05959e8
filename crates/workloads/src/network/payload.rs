//! The contents of blocks after their numbers.
//!
//! Between machines no byte repeats within 32 MiB. Otherwise a tunnel that compresses would show
//! its own speed as that of the link (zlib looks back 32 KiB, others some MiB). Within one machine
//! nothing compresses, and repeating one block keeps it in a core's cache.

use std::sync::OnceLock;

use proofmark_model::NetworkPath;

use super::shape::Shape;
use super::stamp::{self, MIN_NUMBERED};

/// Bytes after which the payload repeats.
const POOL: usize = 32 << 20;

/// The bytes of the next block, from a pool that all threads of a process share.
pub(super) struct PayloadCursor {
    pool: &'static [u8],
    at: usize,
}

impl PayloadCursor {
    /// Creates the payload of connection `index`. Each connection begins at another place, so that
    /// data just sent by one are sent by another much later. `None` where the same block may
    /// repeat.
    pub(super) fn new(shape: &Shape, index: usize) -> Option<Self> {
        let moves = shape.path == NetworkPath::Peer && shape.block as usize >= MIN_NUMBERED;
        moves.then(|| Self::at(POOL / shape.connections().max(1) as usize * index))
    }

    fn at(at: usize) -> Self {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let pool = BYTES.get_or_init(|| stamp::payload(POOL));
        Self { pool, at: at % POOL }
    }

    /// Returns the next `bytes` bytes, at most those of the pool.
    #[inline]
    pub(super) fn next(&mut self, bytes: usize) -> &'static [u8] {
        if self.pool.len() - self.at < bytes {
            self.at = 0;
        }
        let next = &self.pool[self.at..self.at + bytes];
        self.at += bytes;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::shape::Kind;
    use crate::params::testing::params;

    #[test]
    fn no_byte_comes_again_within_the_pool() {
        let mut all = PayloadCursor::at(0);
        let sent: Vec<&[u8]> = (0..POOL / (16 << 10)).map(|_| all.next(16 << 10)).collect();
        let mut places: Vec<_> = sent.iter().map(|s| s.as_ptr()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), sent.len());
        // Within any compression window no two blocks begin with the same bytes.
        let mut begin: Vec<&[u8]> = sent.iter().map(|s| &s[..16]).collect();
        begin.sort_unstable();
        begin.dedup();
        assert_eq!(begin.len(), sent.len());
        assert_eq!(all.next(16 << 10).as_ptr(), sent[0].as_ptr(), "and then from the start");
    }

    #[test]
    fn only_blocks_between_machines_move_and_each_connection_begins_elsewhere() {
        let shape = |words: &str| Shape::from_params(Kind::TcpStream, &params(words)).unwrap();
        let at = |shape: &Shape, index| PayloadCursor::new(shape, index).map(|m| m.at);
        let peer = shape("streams=4 block_size=16384 path=peer direction=forward");
        assert_eq!([0, 1, 3].map(|i| at(&peer, i)), [Some(0), Some(POOL / 4), Some(3 * POOL / 4)]);
        let here = shape("streams=1 block_size=16384 path=loopback direction=forward");
        let tiny = shape("streams=1 block_size=8 path=peer direction=forward");
        assert_eq!([at(&here, 0), at(&tiny, 0)], [None, None]);
    }
}
