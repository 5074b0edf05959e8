//! Lines of a text by the place of a byte in it.

/// Counts the line breaks of a text once, from its beginning to its end: LF, CR LF, or CR.
pub(crate) struct Lines<'a> {
    text: &'a [u8],
    counted: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), counted: 0, line: 1 }
    }

    /// The line, from 1, of the first character from that byte on that breaks no line. The byte
    /// must not be before that of the call before.
    pub fn of(&mut self, byte: usize) -> u64 {
        let after = self.text.get(byte..).unwrap_or_default();
        let breaks = after.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let end = (byte + breaks).min(self.text.len());
        let seen = self.text.get(self.counted..end).unwrap_or_default();
        for (byte, at) in seen.iter().zip(self.counted..) {
            let breaks = match byte {
                b'\n' => true,
                b'\r' => self.text.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            self.line += u64::from(breaks);
        }
        self.counted = self.counted.max(end);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_any_of_three_breaks() {
        for text in ["a\nb\n\nc\n", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc\r", "a\rb\n\r\nc"] {
            let mut lines = Lines::new(text);
            let found = ["a", "b", "c"].map(|word| lines.of(text.find(word).unwrap()));
            assert_eq!(found, [1, 2, 4], "{text:?}");
            // From the break before it.
            let mut lines = Lines::new(text);
            assert_eq!(lines.of(text.find('b').unwrap() + 1), 4, "{text:?}");
            assert!(lines.of(1000) <= 5);
        }
    }
}
