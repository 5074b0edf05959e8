//! The output of a child, read in a thread and kept up to a bound.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use proofmark_model::lock;

/// Output that is kept as it arrives. Bytes beyond the bound are read and dropped.
#[derive(Debug, Clone, Default)]
pub struct Capture(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    /// True if bytes were dropped.
    is_cut: bool,
    has_ended: bool,
}

/// The part of the output that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Head,
    Tail,
}

impl Capture {
    /// Returns the output so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0.kept).bytes).into_owned()
    }

    /// Waits for the end of the output; returns the output until then.
    pub fn text_within(&self, within: Duration) -> String {
        let waiting = |kept: &mut Kept| !kept.has_ended;
        let kept = self.0.ended.wait_timeout_while(lock(&self.0.kept), within, waiting);
        drop(kept.unwrap_or_else(PoisonError::into_inner));
        self.text()
    }

    /// Returns true if bytes were dropped.
    pub fn is_cut(&self) -> bool {
        lock(&self.0.kept).is_cut
    }

    /// Reads to the end of the stream, keeping `most` bytes.
    pub(crate) fn read(&self, mut from: impl Read, part: Part, most: usize) {
        let mut buffer = [0; 8192];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => lock(&self.0.kept).add(buffer.get(..n).unwrap_or_default(), part, most),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        lock(&self.0.kept).has_ended = true;
        self.0.ended.notify_all();
    }
}

impl Kept {
    fn add(&mut self, more: &[u8], part: Part, most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        self.is_cut |= more.len() > room;
        match part {
            Part::Head => self.bytes.extend(more.iter().take(room)),
            Part::Tail => {
                self.bytes.extend(more);
                self.bytes.drain(..self.bytes.len().saturating_sub(most));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_or_the_tail_is_kept() {
        let kept = |part, most| {
            let (capture, text) = (Capture::default(), "0123456789".repeat(5000));
            capture.read(text.as_bytes(), part, most);
            (capture.text_within(Duration::ZERO), capture.is_cut())
        };
        assert_eq!(kept(Part::Head, 12), ("012345678901".to_owned(), true));
        assert_eq!(kept(Part::Tail, 12), ("890123456789".to_owned(), true));
        assert_eq!(kept(Part::Tail, 50_000), ("0123456789".repeat(5000), false));
    }
}
