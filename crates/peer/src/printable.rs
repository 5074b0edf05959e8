//! The other end's words, before they are shown.

/// Longest text of the other end that is shown, in characters.
const LONGEST: usize = 200;

/// The other end's text, made safe for a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(printable("\u{1b}[2Ja\nb\u{7}\u{9b}31m\u{7f}"), "?[2Ja?b??31m?");
        assert_eq!(printable("Zürich 10 \u{b5}s"), "Zürich 10 \u{b5}s");
        assert_eq!(printable(&"x".repeat(1000)).len(), LONGEST);
    }
}
