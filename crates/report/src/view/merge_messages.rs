//! Merges messages that differ only in their numbers into one message with ranges.
//!
//! Two messages are alike if they differ only in numbers of the same unit. So no words of one
//! result's message are applied to another result. A number that is a name, such as that of a CPU
//! or a version, counts as a word.

/// Units with their factor and their base, as the base is printed after a number.
const UNITS: &[(&str, f64, &str)] = &[
    ("%", 1.0, "%"),
    ("ns", 1e-9, "s"),
    ("us", 1e-6, "s"),
    ("ms", 1e-3, "s"),
    ("s", 1.0, "s"),
    ("min", 60.0, "s"),
    ("h", 3600.0, "s"),
    ("B", 1.0, "B"),
    ("KiB", 1024.0, "B"),
    ("MiB", 1_048_576.0, "B"),
    ("GiB", 1_073_741_824.0, "B"),
    ("TiB", 1_099_511_627_776.0, "B"),
    ("KB", 1e3, "B"),
    ("kB", 1e3, "B"),
    ("MB", 1e6, "B"),
    ("GB", 1e9, "B"),
    ("TB", 1e12, "B"),
    ("ppm", 1e-4, "%"),
];

/// Units that can have a decimal prefix.
const PREFIXED: [&str; 8] =
    ["B/s", "bit/s", "FLOP/s", "op/s", "IOPS", "Hz", "datagrams/s", "interrupts/s"];
const PREFIXES: [(&str, f64); 6] =
    [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// Words after which a number is a name.
const NAMES: [&str; 20] = [
    "cpu",
    "cpus",
    "core",
    "cores",
    "node",
    "nodes",
    "socket",
    "sockets",
    "process",
    "pid",
    "port",
    "line",
    "method",
    "version",
    "signal",
    "status",
    "level",
    "thread",
    "kernel",
    "interface",
];

/// A piece of a message, which is text and numbers in turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Text(String),
    /// A number with the base of its unit; empty for a plain number.
    Number(&'static str),
}

/// A message without its numbers: equal for messages that are alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(Vec<Piece>);

impl Kind {
    pub fn of_message(message: &str) -> Self {
        Self(take_apart(message).0)
    }
}

/// A number as printed, with its unit, and its value in the base of that unit.
#[derive(Debug, Clone, PartialEq)]
struct Number {
    text: String,
    value: f64,
    base: &'static str,
}

/// Merges alike messages: each number that differs becomes a range from the minimum to the maximum.
/// Messages that are not alike the first are left out.
pub fn merged<'a>(messages: impl IntoIterator<Item = &'a str>) -> String {
    let mut messages = messages.into_iter().map(take_apart);
    let Some((pieces, first)) = messages.next() else { return String::new() };
    let mut ends: Vec<[Number; 2]> = first.into_iter().map(|n| [n.clone(), n]).collect();
    for (_, other) in messages.filter(|(kind, _)| *kind == pieces) {
        for ([least, most], n) in ends.iter_mut().zip(other) {
            if n.value < least.value {
                *least = n;
            } else if n.value > most.value {
                *most = n;
            }
        }
    }
    let mut ends = ends.into_iter();
    let is_to = |at: Option<usize>| {
        let piece = at.and_then(|at| pieces.get(at));
        piece.is_some_and(|piece| matches!(piece, Piece::Text(text) if text.trim() == "to"))
    };
    let words = pieces.iter().enumerate().map(|(at, piece)| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Number(_) => {
            let of_two = is_to(at.checked_sub(1)) || is_to(at.checked_add(1));
            ends.next().map_or_else(String::new, |ends| range(ends, of_two))
        }
    });
    words.collect()
}

/// Formats a range: `12.0 % to 76.5 %`, or one number where both are equal. Two ranges with a `to`
/// between them use a dash: `12.0 %–76.5 %`.
fn range([least, most]: [Number; 2], of_two: bool) -> String {
    let (least, most) = (least.text, most.text);
    match (least == most, of_two) {
        (true, _) => least,
        (false, true) => format!("{least}–{most}"),
        (false, false) => format!("{least} to {most}"),
    }
}

fn take_apart(message: &str) -> (Vec<Piece>, Vec<Number>) {
    let (mut pieces, mut numbers, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let length = match number(rest) {
            Some((length, n)) if stands_alone(&text) && ends_a_word(&rest[length..]) => {
                let (length, n) = compound(rest, length, n);
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Number(n.base));
                numbers.push(n);
                rest = &rest[length..];
                continue;
            }
            // A digit within a name: so are those after it.
            Some((length, _)) => length,
            None => c.len_utf8(),
        };
        text.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    pieces.push(Piece::Text(text));
    (pieces, numbers)
}

/// Returns true if a number after this text is not part of a name.
fn stands_alone(before: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || "_./:^=-#".contains(c);
    if before.chars().next_back().is_some_and(joins) {
        return false;
    }
    let word = before.trim_end().rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    !NAMES.contains(&word.to_lowercase().as_str())
}

/// Returns true if the text after a number does not make it part of a name, version or list.
fn ends_a_word(after: &str) -> bool {
    let mut chars = after.chars();
    match chars.next() {
        Some(c) if c.is_alphanumeric() || "_^".contains(c) => false,
        Some('.' | '-' | ':' | '/') => !chars.next().is_some_and(char::is_alphanumeric),
        _ => true,
    }
}

/// Reads a number with its unit at the beginning of a text; returns its length in bytes as well.
fn number(text: &str) -> Option<(usize, Number)> {
    let signed = text.strip_prefix(['-', '+']).unwrap_or(text);
    signed.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let mut end = text.len() - signed.len();
    let mut chars = text[end..].char_indices().peekable();
    let start = end;
    while let Some((at, c)) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(|(_, n)| n.is_ascii_digit());
        let exponent = matches!(c, 'e' | 'E')
            && chars.peek().is_some_and(|(_, n)| n.is_ascii_digit() || matches!(n, '-' | '+'));
        match c {
            '0'..='9' => {}
            '.' | '\u{202f}' if next_is_digit => {}
            '-' | '+' if next_is_digit && text[..end].ends_with(['e', 'E']) => {}
            _ if exponent => {}
            _ => break,
        }
        end = start + at + c.len_utf8();
    }
    let digits: String = text[..end].chars().filter(|c| *c != '\u{202f}').collect();
    let value: f64 = digits.parse().ok()?;
    let (length, factor, base) = unit(&text[end..]).unwrap_or((0, 1.0, ""));
    let end = end + length;
    Some((end, Number { text: text[..end].to_owned(), value: value * factor, base }))
}

/// Reads the unit after a number: its length with the space before it, its factor and its base.
fn unit(text: &str) -> Option<(usize, f64, &'static str)> {
    let word = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let space = text.len() - word.len();
    let end = word.find(|c: char| !(c.is_ascii_alphabetic() || "%/".contains(c)));
    let word = &word[..end.unwrap_or(word.len())];
    let plain = UNITS.iter().find(|(unit, ..)| *unit == word);
    let plain = plain.map(|(_, factor, base)| (*factor, *base));
    let prefixed = || {
        PREFIXED.iter().find_map(|base| {
            let prefix = word.strip_suffix(base)?;
            let (_, factor) = PREFIXES.iter().find(|(p, _)| *p == prefix)?;
            Some((*factor, *base))
        })
    };
    let (factor, base) = plain.or_else(prefixed)?;
    (space <= 3).then_some((space + word.len(), factor, base))
}

/// Joins a time of several units, such as `1 min 2 s`, into one number.
fn compound(text: &str, mut length: usize, mut n: Number) -> (usize, Number) {
    while n.base == "s" {
        let rest = &text[length..];
        let Some(next) = rest.strip_prefix(' ') else { break };
        let Some((more, part)) = number(next).filter(|(_, part)| part.base == "s") else { break };
        length += 1 + more;
        n.value += part.value;
        n.text = text[..length].to_owned();
    }
    (length, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> bool {
        Kind::of_message(a) == Kind::of_message(b)
    }

    #[test]
    fn numbers_of_the_same_kind_are_a_range() {
        for (messages, expected) in [
            (
                vec![
                    "the clock fell by 5.0 %, from 2.859 GHz to 2.677 GHz",
                    "the clock fell by 9.9 %, from 3.095 GHz to 2.841 GHz",
                ],
                "the clock fell by 5.0 % to 9.9 %, from 2.859 GHz–3.095 GHz to 2.677 GHz–2.841 GHz",
            ),
            (
                vec!["from 3.000 GHz to 2.700 GHz", "from 3.000 GHz to 2.500 GHz"],
                "from 3.000 GHz to 2.500 GHz–2.700 GHz",
            ),
            (
                vec!["others took 76.5 % in 12 trials", "others took 3.1 % in 40 trials"],
                "others took 3.1 % to 76.5 % in 12 to 40 trials",
            ),
            (vec!["took 900.0 ms", "took 1 min 2 s", "took 2.0 s"], "took 900.0 ms to 1 min 2 s"),
            (vec!["of 64.0 KiB (7)", "of 2 MiB (7)"], "of 64.0 KiB to 2 MiB (7)"),
            (vec!["2.1 GB/s, 4", "980.0 MB/s, 4"], "980.0 MB/s to 2.1 GB/s, 4"),
            (
                vec!["n 20\u{202f}000: -3.5 %", "n 900: 1.00e-7 %"],
                "n 900 to 20\u{202f}000: -3.5 % to 1.00e-7 %",
            ),
            (vec!["± 2.0 %.", "± 91.6 %."], "± 2.0 % to 91.6 %."),
        ] {
            assert_eq!(merged(messages.iter().copied()), expected);
            let swapped: Vec<&str> = messages.into_iter().rev().collect();
            assert_eq!(merged(swapped), expected);
        }
    }

    #[test]
    fn what_is_not_alike_is_not_merged() {
        for (a, b) in [
            ("it took 5.0 %", "it took 5.0 %; the figure leaves that time out"),
            ("it took 5.0 %", "it took 5.0 ms"),
            ("it took 5.0", "it took 5.0 %"),
            ("on CPU 3", "on CPU 4"),
            ("node 0 has 5 %", "node 1 has 5 %"),
            ("kernel 6.1.0", "kernel 6.12.1"),
            ("/dev/sda1 wrote", "/dev/sda2 wrote"),
            ("avx2 at 5", "avx512 at 5"),
            ("CPUs 0-3 were", "CPUs 0-5 were"),
            ("with n=5", "with n=6"),
            ("the 2nd", "the 3rd"),
            ("fio (12 %)", "stress (12 %)"),
        ] {
            assert!(!alike(a, b), "{a} and {b}");
            assert_eq!(merged([a, b]), a);
        }
    }

    #[test]
    fn any_message_stays_itself() {
        for text in
            ["", "7", "7.", "%", "1e", "1 e5", "\u{202f}1\u{202f}", "a 1.2.3 b -", "5 %%", "1..2"]
        {
            assert_eq!(merged([text]), text);
        }
    }
}
