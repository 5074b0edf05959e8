//! Lines of a stream that may never end one.

use std::io::{self, BufRead};

/// The next line without its end; `None` at the end of the stream. Of a line that is longer than
/// `most` bytes, only so many and one more are kept: whoever reads it sees that it is too long.
pub(crate) fn next_line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut any = false;
    loop {
        let bytes = match from.fill_buf() {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if bytes.is_empty() {
            return Ok(any.then_some(line));
        }
        any = true;
        let (part, whole) = match bytes.iter().position(|b| *b == b'\n') {
            Some(end) => (&bytes[..end], true),
            None => (bytes, false),
        };
        let room = (most + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(whole);
        from.consume(used);
        if whole {
            return Ok(Some(line));
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
            let mut from = BufReader::with_capacity(buffer, Cursor::new(text));
            let mut next =
                || next_line(&mut from, 5).unwrap().map(|l| String::from_utf8(l).unwrap());
            let all: Vec<_> = std::iter::from_fn(&mut next).collect();
            assert_eq!(all, ["ab", "", "abcdef", "last"]);
        }
    }
}
