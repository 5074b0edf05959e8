//! Bounded reading of lines from untrusted streams.

use std::io::{self, BufRead, Read as _};

/// Reads the next line without its end; `None` at the end of the stream. Keeps at most `most` + 1
/// bytes of a line, so that a caller sees that it is too long.
pub(crate) fn next_line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if from.by_ref().take(most as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > most {
        from.skip_until(b'\n')?;
    }
    Ok(Some(line))
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
