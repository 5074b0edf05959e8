//! Words that tables, charts and lists print and that are no ids: columns, signs, states.
//!
//! `explain` finds a word as it is printed: `B / A`, `95 %`, `✓ valid`, `queue depth`.

mod aliases;
mod others;
mod results;

use self::aliases::ALIASES;
use super::ids::Words;

/// Returns every word.
pub fn words() -> impl Iterator<Item = &'static Words> {
    results::RESULTS.iter().chain(others::OTHERS)
}

/// Returns the form by which a word is found: `B / A` and `b_a` are the same.
pub fn normal(word: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '.' | '±');
    let spaced: String =
        word.to_lowercase().chars().map(|c| if keeps(c) { c } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Returns the id that a printed word stands for, in its normal form.
pub fn id_of(word: &str) -> String {
    let normal = normal(word);
    let alias = ALIASES.iter().find(|(printed, _)| *printed == normal);
    alias.map_or(normal, |(_, id)| (*id).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proofmark_model::Comparability;

    use super::*;
    use crate::command::explain::texts;

    /// The titles of columns in a file of the report.
    fn titles(text: &str) -> Vec<String> {
        let starts = [".column(\"", ".number(\"", ".measured(\"", "title: \""];
        let after = |start: &&str| {
            let parts: Vec<&str> = text.split(*start).skip(1).collect();
            parts
                .into_iter()
                .filter_map(|part| Some(part.split_once('"')?.0.to_owned()))
                .collect::<Vec<_>>()
        };
        starts.iter().flat_map(after).collect()
    }

    fn files(folder: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => files(&path, all),
                // The titles of tests and of charts are no columns.
                false if path.extension().is_some_and(|e| e == "rs") => {
                    let text = fs::read_to_string(&path).unwrap();
                    all.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
                }
                false => {}
            }
        }
    }

    #[test]
    fn every_title_of_a_column_is_explained() {
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src"), &mut all);
        let mut titles: Vec<String> = all.iter().flat_map(|text| titles(text)).collect();
        titles.retain(|t| t.len() < 30 && !t.contains('{'));
        titles.sort();
        titles.dedup();
        assert!(titles.len() > 90, "the titles were not found: {titles:?}");
        let lacking: Vec<&String> = titles.iter().filter(|t| texts(t).is_empty()).collect();
        assert!(lacking.is_empty(), "not explained: {lacking:?}");
    }

    #[test]
    fn every_fact_and_every_column_of_csv_is_explained() {
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src"), &mut all);
        let quoted = |start: &str, until: &str| {
            let parts = all.iter().flat_map(|text| text.split(start).skip(1));
            let names = parts.filter_map(|part| {
                let (name, rest) = part.split_once('"')?;
                rest.starts_with(until).then(|| name.to_owned())
            });
            names.filter(|name| !name.contains(['{', ' ']) || until.is_empty()).collect::<Vec<_>>()
        };
        let facts = [quoted("Fact::probe(\"", ""), quoted("Fact::plain(\"", "")].concat();
        let columns = quoted("(\"", ", |");
        assert!(facts.len() > 30 && columns.len() > 60, "not found: {facts:?} {columns:?}");
        let all = facts.iter().chain(&columns).filter(|name| !name.is_empty());
        let lacking: Vec<&String> = all.filter(|name| texts(name).is_empty()).collect();
        assert!(lacking.is_empty(), "not explained: {lacking:?}");
    }

    #[test]
    fn words_of_verdicts_and_states_are_explained() {
        use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower, Undecided};
        for outcome in [Faster, Slower, NoDifferenceShown, Undecided, NotComparable] {
            assert!(!texts(outcome.as_str()).is_empty(), "{}", outcome.as_str());
        }
        for word in [
            "✓ valid",
            "~ coarse",
            "~ no interval",
            "- not run",
            "! suspect",
            "✗ invalid",
            "moved",
            "device",
            "lost",
            "margin",
            "p90",
            "±",
            "placement",
            "near",
            "far",
            "not comparable",
            "gone",
            "undecided",
            "coarse",
            "of ceiling",
            "✗ slow",
            "✓ healthy",
            "! unverified",
            "- not compared",
            "met",
            "✗ missed",
            "queue depth",
            "threads",
            "B / A",
            "95 %",
            "other processes",
            "steal",
            "throttled",
            "i note",
        ] {
            assert!(!texts(word).is_empty(), "{word}");
        }
        assert!(texts("zebra").is_empty());
    }

    #[test]
    fn each_other_name_stands_for_a_word() {
        for (printed, id) in ALIASES {
            assert_eq!(normal(printed), *printed);
            assert!(!texts(id).is_empty(), "{printed}: {id}");
        }
        for (id, ..) in words() {
            assert_eq!(normal(id), *id);
        }
    }
}
