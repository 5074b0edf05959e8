//! Text from strangers.

/// Text without control characters, so that it cannot move a terminal's cursor,
/// recolour it, or reorder what is read. Line breaks and tabs become spaces;
/// other control, bidirectional and invisible formatting characters are dropped.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if c.is_control() => {}
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_text_steers_nothing() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c\nd\u{e0041}"), "a[2Jbc d");
    }
}
