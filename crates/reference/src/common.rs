//! Prefixes of any kind: what most lines of a text begin with.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::parts::{Form, PROGRAMS, by_line, each};

/// The longest prefix, in bytes.
const LONGEST: usize = 96;

/// The maximum share of numbers in the lines, as its reciprocal, that are names and no counter.
const COUNTER: usize = 4;

/// Returns the text without what most lines begin with, apart from digits: `03:04:05  `, `out.json:`
/// of grep, `+` of a patch. Lines whose prefixes have other digits are parts, unless the digits are
/// a time or a counter. `None` if there is no such beginning.
pub(crate) fn without_common(text: &str) -> Option<Form> {
    let shapes: Vec<Vec<u8>> = text.lines().map(shape).filter(|shape| !shape.is_empty()).collect();
    let count = |prefix: &[u8]| shapes.iter().filter(|s| begins(s, prefix)).count();
    let last = shapes.len().checked_sub(1)?;
    let mut best: Option<(usize, &[u8])> = None;
    for at in [0, last / 2, last] {
        let candidate = shapes.get(at)?;
        let mut most = 0;
        for end in (1..=candidate.len()).filter(|end| is_end(candidate, *end)) {
            let prefix = candidate.get(..end)?;
            let lines = count(prefix);
            // The columns of a table are in its rows alone, a prefix is in its header too.
            if lines < most || (lines < shapes.len() && has_figure(prefix)) {
                break;
            }
            most = lines;
            let is_better = best.is_none_or(|(n, of)| (lines, end) > (n, of.len()));
            best = Some((lines, prefix)).filter(|_| is_better).or(best);
        }
    }
    let (_, prefix) = best.filter(|(lines, _)| 2 * lines > shapes.len() && *lines > 1)?;
    let split = |line: &'_ str| begins(&shape(line), prefix).then_some(prefix.len());
    let cut = |line: &'_ str| split(line).unwrap_or(0);
    let without = each(text, |line| line.get(cut(line)..).unwrap_or_default().into());
    let found: Vec<&str> =
        text.lines().filter_map(|line| line.get(..split(line)?.min(line.len()))).collect();
    let names = names(&found);
    let named = |line| {
        let (found, rest) = str::split_at_checked(line, split(line)?.min(line.len()))?;
        let words = words(found).into_iter().enumerate();
        let words: Vec<&str> =
            words.filter(|(i, _)| names.contains(i)).map(|(_, word)| word).collect();
        Some((Cow::Owned(words.join(" ")), rest))
    };
    let parts = by_line(text, named, str::to_owned);
    Some(Form { text: without, parts })
}

/// Returns the beginning of a line with the same digit for all; empty for an empty line.
fn shape(line: &str) -> Vec<u8> {
    let bytes = line.trim_end().bytes().take(LONGEST);
    bytes.map(|b| if b.is_ascii_digit() { b'0' } else { b }).collect()
}

/// Returns true if a line begins so, or has nothing but the beginning without its spaces.
fn begins(shape: &[u8], prefix: &[u8]) -> bool {
    shape.starts_with(prefix) || shape == prefix.trim_ascii_end()
}

/// Returns true if a prefix may end here: after a sign that separates words, with a word before it.
fn is_end(shape: &[u8], end: usize) -> bool {
    const SEPARATORS: &[u8] = b" \t:|])>+\x07";
    let has_word = shape.get(..end).is_some_and(|of| !of.trim_ascii().is_empty());
    has_word && shape.get(end - 1).is_some_and(|last| SEPARATORS.contains(last))
}

/// Returns true if a prefix has a word that may be a figure: it begins as a number and is no time.
fn has_figure(prefix: &[u8]) -> bool {
    let text = String::from_utf8_lossy(prefix);
    let mut all = text.split(is_separator);
    all.any(|word| word.trim_start_matches(['+', '-', '.']).starts_with('0') && !is_clock(word))
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "[]()<>|,;=\u{7}".contains(c)
}

/// Returns true for the shape of a date or a time of day.
fn is_clock(shape: &str) -> bool {
    const DATES: [&str; 3] = ["0000-00-00", "0000/00/00", "00.00.0000"];
    let is_time = shape.starts_with("00:00") || shape.starts_with("0:00:00");
    is_time || DATES.iter().any(|date| shape.starts_with(date))
}

/// Returns true for the shape of seconds since a start.
fn is_seconds(shape: &str) -> bool {
    let is_decimal = shape.split_once('.').is_some_and(|(whole, rest)| {
        let zeros = |text: &str| !text.is_empty() && text.bytes().all(|b| b == b'0');
        zeros(whole) && zeros(rest)
    });
    is_decimal || shape.contains("000000000")
}

/// Returns the words of a prefix. A clock's parts are one word.
fn words(prefix: &str) -> Vec<&str> {
    let split = |word| {
        let parts = if is_clock(&as_shape(word)) { '\n' } else { ':' };
        str::split(word, parts)
    };
    prefix.split(is_separator).flat_map(split).collect()
}

fn as_shape(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

/// Returns which words of these prefixes of one shape are names, neither times nor counters.
fn names(prefixes: &[&str]) -> BTreeSet<usize> {
    let all: Vec<Vec<&str>> = prefixes.iter().map(|prefix| words(prefix)).collect();
    let Some(first) = all.first() else { return BTreeSet::new() };
    let shapes: Vec<String> = first.iter().map(|word| as_shape(word)).collect();
    let has_clock = shapes.iter().any(|shape| is_clock(shape));
    let is_name = |i: &usize| {
        let shape = &shapes[*i];
        let is_number = !shape.is_empty() && shape.bytes().all(|b| b == b'0');
        let distinct = || -> usize {
            let values: BTreeSet<&str> = all.iter().filter_map(|w| w.get(*i).copied()).collect();
            values.len()
        };
        let is_time = is_clock(shape) || is_seconds(shape) || (has_clock && is_number);
        !is_time && !(is_number && (distinct() * COUNTER > all.len() || distinct() > PROGRAMS))
    };
    (0..shapes.len()).filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_no_prefix() {
        let cut = |text: &str| without_common(text).map(|form| form.text);
        let rows = "12:00:01 1000 45.2\n12:00:02 2000 46.3\n12:00:03 3000 47.1\n";
        let header = "12:00:00 size MB/s\n";
        assert_eq!(
            cut(&format!("{header}{rows}")).unwrap(),
            "size MB/s\n1000 45.2\n2000 46.3\n3000 47.1\n"
        );
        assert_eq!(cut("kB reclen write\n 64 4 100\n 64 4 200\n 64 4 300\n"), None);
        assert_eq!(
            cut("a: b\nn|1000|45.2\nn|2000|46.3\nn|3000|47.1\n").unwrap().lines().nth(1),
            Some("1000|45.2")
        );
        // Without a header no reader knows the columns.
        assert_eq!(cut(rows).unwrap(), "45.2\n46.3\n47.1\n");
    }
}
