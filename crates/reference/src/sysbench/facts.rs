//! What the lines of sysbench's report say, by their labels.

use std::collections::BTreeMap;

use crate::Malformed;
use crate::text::{Labels, lines, number};

/// A value, and its line.
pub(super) type Fact<'a> = (usize, &'a str);

#[derive(Default)]
pub(super) struct Facts<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) labels: Labels<'a>,
    /// Lines without a colon, by their first word: sentences.
    said: BTreeMap<&'a str, Vec<Fact<'a>>>,
}

/// The version in a line, as `sysbench 1.0.20 (using ...)`.
pub(super) fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("sysbench ")?.split(' ').next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

pub(super) fn read(text: &str) -> Result<Facts<'_>, Malformed> {
    let mut facts = Facts::default();
    for (at, line) in lines(text) {
        facts.labels.last = at;
        if line.starts_with("FATAL:") {
            return Err(Malformed::at(at, Malformed::excerpt(line)));
        }
        if let Some(version) = version(line) {
            if facts.version.replace(version).is_some() {
                return Err(Malformed::at(at, "a second report; one at a time"));
            }
        } else if let Some((label, value)) = line.split_once(':') {
            facts.labels.insert(label.trim(), at, value);
        } else if let Some(word) = line.split_whitespace().next() {
            facts.said.entry(word).or_default().push((at, line.trim()));
        }
    }
    Ok(facts)
}

impl<'a> Facts<'a> {
    /// What a sentence says between these two pieces of text; the first is words of its own.
    pub(super) fn between(&self, before: &str, after: &str) -> Option<Fact<'a>> {
        let word = before.split(' ').next()?;
        let mut sentences = self.said.get(word)?.iter();
        sentences.find_map(|(at, s)| Some((*at, s.strip_prefix(before)?.strip_suffix(after)?)))
    }

    /// What is before that end of a line without a colon.
    pub(super) fn ending(&self, end: &str) -> Option<Fact<'a>> {
        let mut sentences = self.said.values().flatten();
        sentences.find_map(|(at, s)| Some((*at, s.strip_suffix(end)?)))
    }
}

/// Bytes of `16KiB`; `None` where it has a fraction, which sysbench rounds.
pub(super) fn size((at, text): Fact) -> Result<Option<u64>, Malformed> {
    let wrong = || Malformed::quoting(at, text, "is no size");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let power = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|known| *known == unit);
    let power = power.ok_or_else(wrong)?;
    if digits.contains('.') {
        return number(digits, at).map(|_| None);
    }
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << (10 * power)));
    bytes.map(Some).ok_or_else(wrong)
}
