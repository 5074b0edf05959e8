//! Bounded reading of lines from untrusted streams.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

/// Reads lines of a bounded length.
#[derive(Debug)]
pub struct BoundedLines<R> {
    from: R,
    longest: usize,
    /// True if the rest of the last returned line must be skipped.
    is_cut: bool,
}

impl<R: BufRead> BoundedLines<R> {
    /// Creates a reader of lines of at most `longest` bytes.
    pub fn new(from: R, longest: usize) -> Self {
        Self { from, longest, is_cut: false }
    }

    /// Reads the next line without its end; `None` at the end of the stream. For a longer line it
    /// returns `longest` + 1 bytes as soon as they arrive: the caller sees that the line is too
    /// long.
    pub fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        if std::mem::take(&mut self.is_cut) {
            self.from.skip_until(b'\n')?;
        }
        let mut line = Vec::new();
        let most = self.longest as u64 + 1;
        if io::Read::take(&mut self.from, most).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else {
            self.is_cut = line.len() > self.longest;
        }
        Ok(Some(line))
    }

    /// Passes all lines on, until the stream ends or the receiver is dropped.
    pub(crate) fn pass_on(mut self, to: &SyncSender<Vec<u8>>) {
        while let Ok(Some(line)) = self.next_line() {
            if to.send(line).is_err() {
                return;
            }
        }
    }
}

/// The output of a child within a given time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line without its end; one byte longer than the limit if it was cut.
    Text(Vec<u8>),
    /// No line in the given time: the child may still write.
    Silence,
    /// The end of the stream.
    End,
}

impl IntoIterator for Lines {
    type Item = Vec<u8>;
    type IntoIter = std::sync::mpsc::IntoIter<Vec<u8>>;

    /// Returns all lines to the end of the stream, however long that takes.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The lines of a child, read by a thread.
#[derive(Debug)]
pub struct Lines(pub(crate) Receiver<Vec<u8>>);

impl Lines {
    /// Waits for the next line.
    pub fn next(&self, within: Duration) -> Line {
        match self.0.recv_timeout(within) {
            Ok(line) => Line::Text(line),
            Err(RecvTimeoutError::Timeout) => Line::Silence,
            Err(RecvTimeoutError::Disconnected) => Line::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    #[test]
    fn a_line_is_no_longer_than_one_byte_too_many() {
        let text = "ab\n\nabcdefghij\nlast";
        for buffer in [1, 3, 100] {
            let from = BufReader::with_capacity(buffer, Cursor::new(text));
            let mut lines = BoundedLines::new(from, 5);
            let mut next = || lines.next_line().unwrap().map(|l| String::from_utf8(l).unwrap());
            let all: Vec<_> = std::iter::from_fn(&mut next).collect();
            assert_eq!(all, ["ab", "", "abcdef", "last"]);
        }
    }

    #[test]
    fn a_line_without_an_end_is_returned_before_its_end() {
        let mut lines = BoundedLines::new(BufReader::new(io::repeat(b'x')), 5);
        assert_eq!(lines.next_line().unwrap().unwrap(), b"xxxxxx");
    }
}
