//! Counts and lists in words.

use std::fmt::Display;

use crate::format_count;

/// Formats a number with the noun that it counts.
///
/// ```
/// use proofmark_model::counted;
/// assert_eq!([counted(0_u64, "core"), counted(1_u64, "core")], ["0 cores", "1 core"]);
/// assert_eq!([counted(0.5, "CPU"), counted(1.0, "CPU")], ["0.5 CPUs", "1 CPU"]);
/// assert_eq!(counted(12_345, "trial"), "12\u{202f}345 trials");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, one: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    let number = n.to_string();
    let number = number.parse().map_or(number, format_count);
    format!("{number} {one}{plural}")
}

/// Returns the word for one thing or for several: `is` or `are`.
pub fn agree(count: u64, [one, several]: [&'static str; 2]) -> &'static str {
    if count == 1 { one } else { several }
}

/// Joins items in words: `a`, `a and b`, `a, b and c`.
pub fn and_list(items: impl IntoIterator<Item: AsRef<str>>) -> String {
    list(items, "and")
}

/// Joins alternatives in words: `a`, `a or b`, `a, b or c`.
pub fn or_list(items: impl IntoIterator<Item: AsRef<str>>) -> String {
    list(items, "or")
}

fn list(items: impl IntoIterator<Item: AsRef<str>>, word: &str) -> String {
    let items: Vec<_> = items.into_iter().collect();
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} {word} {last}", before.join(", ")),
        _ => items.concat(),
    }
}

/// Units that are no rate; `GB/s` and its like end in `/s`.
const UNITS: &[&str] = &[
    "%", "s", "ms", "us", "ns", "min", "h", "d", "B", "KiB", "MiB", "GiB", "TiB", "Hz", "kHz",
    "MHz", "GHz", "IOPS", "\u{b0}C", "W", "\u{d7}",
];

/// Puts a space that does not break between each number and its unit, so that both stay on one line.
pub fn bind_units(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')', ']']);
        let is_unit = UNITS.contains(&bare) || bare.ends_with("/s");
        let after_number = out.ends_with(|c: char| c.is_ascii_digit());
        if at > 0 {
            out.push(if is_unit && after_number { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_a_word_before_the_last_item() {
        let names = ["a", "b", "c"];
        assert_eq!([0, 1, 2, 3].map(|n| and_list(&names[..n])), ["", "a", "a and b", "a, b and c"]);
        assert_eq!(or_list(names.map(String::from)), "a, b or c");
    }

    #[test]
    fn a_number_is_bound_to_its_unit() {
        for (text, bound) in [
            ("at 2 min 5 s", "at 2~min 5~s"),
            ("100 % = one CPU", "100~% = one CPU"),
            ("(31.2 Gop/s, 4 KiB).", "(31.2~Gop/s, 4~KiB)."),
            ("3 threads", "3 threads"),
            ("a % b/s", "a % b/s"),
            ("% first", "% first"),
        ] {
            assert_eq!(bind_units(text).replace('\u{a0}', "~"), bound);
        }
    }
}
