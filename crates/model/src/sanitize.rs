//! Untrusted text, made safe for a terminal.

/// Returns text on one line without control characters, so that it cannot move a terminal's cursor,
/// change colours, or reorder text. Line breaks and tabs become spaces. Other control,
/// bidirectional and invisible formatting characters are dropped.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if is_safe(c) => out.push(c),
            _ => {}
        }
    }
    out
}

/// Returns the beginning of a text after [`clean`], at most so many characters.
pub fn clean_excerpt(text: &str, characters: usize) -> String {
    let mut out = clean(text);
    if let Some((end, _)) = out.char_indices().nth(characters) {
        out.truncate(end);
    }
    out
}

/// Returns text of several lines with line breaks, tabs and the colours of our own reports. All
/// other characters that [`clean`] drops are dropped. This is the last step before a terminal, so
/// that no text reaches it uncleaned.
pub fn clean_page(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match (c, style(rest)) {
            (_, Some(style)) => out.push_str(style),
            ('\n' | '\t', None) => out.push(c),
            (c, None) if is_safe(c) => out.push(c),
            _ => {}
        }
        rest = style(rest).map_or(after, |style| &rest[style.len()..]);
    }
    out
}

fn is_safe(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{3164}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Returns the colour or weight that a text begins with: `ESC [ n m`. Only codes that hide nothing
/// count: weights, the 16 foreground colours, and back to normal.
fn style(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\u{1b}[")?;
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let known = match &body[..end] {
        "" | "0" | "1" | "2" | "4" | "22" | "24" | "39" => true,
        colour => {
            let number = colour.strip_prefix("38;5;").unwrap_or(colour).parse::<u8>();
            match (colour.starts_with("38;5;"), number) {
                (true, Ok(n)) => n < 16,
                (false, Ok(n)) => matches!(n, 30..=37 | 90..=97),
                _ => false,
            }
        }
    };
    (known && body[end..].starts_with('m')).then(|| &text[..2 + end + 1])
}

/// Returns a word as typed in a shell: quoted if the shell would read it as more than a word.
pub fn shell_word(word: &str) -> String {
    const PLAIN: &str = "-_./=:,@%+";
    match word.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c)) {
        true if !word.is_empty() => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Returns the beginning of another program's text, as a message quotes it: trimmed, as [`clean`]
/// leaves it, with `...` after `characters` of them if there are more.
pub fn excerpt(text: &str, characters: usize) -> String {
    let mut out = clean_excerpt(text.trim(), characters.saturating_add(1));
    if let Some((end, _)) = out.char_indices().nth(characters) {
        out.replace_range(end.., "...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_steers_nothing() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c\nd\u{e0041}"), "a[2Jbc d");
        assert_eq!(clean("\u{1b}[31ma\u{7}\u{9b}31m\u{7f}\u{2028}b"), "[31ma31m b");
        assert_eq!(clean("a\u{61c}b\u{ad}c\u{3164}d\u{180e}"), "abcd");
        assert_eq!(clean("Zürich 10 µs ≤ 5 ✓ 日本"), "Zürich 10 µs ≤ 5 ✓ 日本");
    }

    #[test]
    fn an_excerpt_counts_what_is_left() {
        assert_eq!(clean_excerpt("\u{1b}µ≤3\n", 3), "µ≤3");
        assert_eq!(clean_excerpt("\u{1b}µ≤3\n", 9), "µ≤3 ");
    }

    #[test]
    fn a_quoted_text_shows_that_it_was_cut() {
        assert_eq!(excerpt(" \u{1b}[1mµ≤3\n\tend\n", 11), "[1mµ≤3  end");
        assert_eq!(excerpt("\u{1b}µ≤3\u{202e}", 3), "µ≤3");
        assert_eq!(excerpt("µ≤3 end", 3), "µ≤3...");
        assert_eq!([excerpt("", 3), excerpt("a", 0)], ["", "..."]);
    }

    #[test]
    fn a_page_keeps_its_lines_and_colours_alone() {
        let page = "\u{1b}[1mCPU\u{1b}[0m\t\u{1b}[38;5;10mvalid\u{1b}[39m\n\u{1b}[33mµ\u{1b}[0m\n";
        assert_eq!(clean_page(page), page);
        for (attack, left) in [
            ("a\u{1b}[2Jb", "a[2Jb"),
            ("a\u{1b}[8mhidden\u{1b}[0m", "a[8mhidden\u{1b}[0m"),
            ("\u{1b}[38;5;16mx\u{1b}[41mx\u{1b}[1;8mx", "[38;5;16mx[41mx[1;8mx"),
            ("\u{1b}]0;title\u{7}\u{9b}2J\u{1b}", "]0;title2J"),
            ("a\rb\u{8}c\u{202e}d\u{2066}", "abcd"),
            ("\u{1b}[", "["),
            ("\u{1b}[1", "[1"),
        ] {
            assert_eq!(clean_page(attack), left, "{attack:?}");
        }
    }
}
