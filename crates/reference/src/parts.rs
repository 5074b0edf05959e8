//! Texts that contain the outputs of several programs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::Malformed;

/// The maximum number of programs in one text whose lines keep their numbers.
pub(crate) const PROGRAMS: usize = 32;

/// A text without one layer. `parts` has a text for each program, if several printed it.
pub(crate) struct Form {
    pub(crate) text: String,
    pub(crate) parts: Option<Vec<Part>>,
}

impl Form {
    pub(crate) fn whole(text: String) -> Self {
        Self { text, parts: None }
    }
}

/// The output of one program; the lines of the others are empty.
pub(crate) struct Part {
    pub(crate) text: String,
    /// The machine or container; `None` if nothing names one.
    pub(crate) place: Option<String>,
}

/// Returns a part for each text, with its name as the place. Two places are never called the same.
pub(crate) fn parts(all: impl IntoIterator<Item = (String, String)>) -> Vec<Part> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut place = |name: &str| {
        let short = Malformed::excerpt(name);
        let times = seen.entry(short.clone()).or_default();
        *times += 1;
        if *times == 1 { short } else { format!("{short} ({times})") }
    };
    let all = all.into_iter();
    all.map(|(name, text)| {
        let named = !name.is_empty() && !is_repetition(&name);
        Part { text, place: named.then(|| place(&name)) }
    })
    .collect()
}

/// Returns the lines of each name, in the order of the names' first lines. `split` returns a line's
/// name and the rest; `place` makes a place of a name, empty for none. `None` for one name, or more
/// than [`PROGRAMS`].
pub(crate) fn by_line<'a>(
    text: &'a str,
    split: impl Fn(&'a str) -> Option<(Cow<'a, str>, &'a str)>,
    place: impl Fn(&str) -> String,
) -> Option<Vec<Part>> {
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    for (found, _) in text.lines().filter_map(&split) {
        if !names.contains(&found) {
            names.push(found);
        }
        if names.len() > PROGRAMS {
            return None;
        }
    }
    let of = |wanted: &Cow<'_, str>| {
        let text = each(text, |line| match split(line) {
            Some((found, rest)) if found == *wanted => rest.into(),
            _ => Cow::Borrowed(""),
        });
        let name = wanted.trim_matches(|c: char| c.is_whitespace() || "[]<>:|".contains(c));
        (place(name), text)
    };
    (names.len() > 1).then(|| parts(names.iter().map(of)))
}

/// Returns the text with each line changed.
pub(crate) fn each<'a>(text: &'a str, change: impl Fn(&'a str) -> Cow<'a, str>) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(&change(line));
        out.push('\n');
    }
    out
}

/// Words before the number of a repetition, and those that are also the names of machines unless a
/// space follows.
const REPETITIONS: [&str; 11] = [
    "iter",
    "iteration",
    "loop",
    "pass",
    "rep",
    "repeat",
    "repetition",
    "round",
    "run",
    "trial",
    "try",
];
const SPACED: [&str; 5] = ["attempt", "measurement", "sample", "step", "test"];

/// The endings of the files of repetitions.
const ENDINGS: [&str; 5] = ["", ".json", ".log", ".out", ".txt"];

/// Returns true if a name is a number, or such a word and a number: `run 3`, `iter-2.log`.
pub(crate) fn is_repetition(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let word = name.strip_suffix(rest).unwrap_or_default();
    let number = rest.trim_start_matches([' ', '#', '_', '-']);
    let ending = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_word =
        if rest.starts_with([' ', '#']) { SPACED.contains(&word) } else { word.is_empty() };
    number.len() > ending.len()
        && ENDINGS.contains(&ending)
        && (is_word || REPETITIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_repetition_is_a_whole_word_and_a_number() {
        for name in [
            "1",
            "run1",
            "Run 1",
            "run #2",
            "iter-3",
            "trial_2.log",
            "test 1",
            "Sample 1",
            "pass 2",
        ] {
            assert!(is_repetition(name), "{name}");
        }
        for name in [
            "run",
            "runner1",
            "replica-1",
            "repo1",
            "passau01",
            "test1",
            "sample-2",
            "run1-node2",
            "run1.example",
            "node 1",
            "10.0.0.1",
            "",
        ] {
            assert!(!is_repetition(name), "{name}");
        }
    }

    #[test]
    fn no_two_places_have_the_same_name() {
        let names = ["a".repeat(50), "a".repeat(51), "b".to_owned()];
        let all = parts(names.map(|name| (name, String::new())));
        let places: BTreeSet<_> = all.iter().filter_map(|part| part.place.as_deref()).collect();
        assert_eq!(places.len(), 3);
    }
}
