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
    // Columns of trials are numbered: `Exp 1`.
    let number = normal.strip_prefix("exp_").and_then(|number| number.parse::<u32>().ok());
    if number.is_some() {
        return "exp".to_owned();
    }
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
    fn a_check_and_its_baseline_are_explained_as_what_they_are() {
        let last_good = texts("last-good").concat();
        assert!(last_good.contains("newest good earlier run of this machine"), "{last_good}");
        let check = texts("check").concat();
        let meanings = ["proofmark check", "fault", "solution passes"];
        assert!(meanings.iter().all(|meaning| check.contains(meaning)), "{check}");
    }

    #[test]
    fn lines_in_flight_are_cache_lines_and_no_queue() {
        let lines = texts("lines in flight").concat();
        assert!(lines.contains("cache lines") && !lines.contains("I/Os"), "{lines}");
        assert!(texts("in flight").concat().contains("I/Os"));
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

    /// The text of a word says what the word is, and not only what another one is: an alias that leads
    /// elsewhere would answer another question.
    #[test]
    fn what_a_workload_or_a_unit_is_called_is_explained() {
        let mut lacking = Vec::new();
        let mut seen = 0;
        let mut check = |word: &str| {
            seen += 1;
            // Texts of fields come last, and need not know the word.
            let known = texts(word).iter().any(|text| {
                let text = normal(text);
                text.split('_').collect::<String>().contains(&normal(word).replace('_', ""))
            });
            if !known {
                lacking.push(word.to_owned());
            }
        };
        for spec in proofmark_workloads::ALL.iter().map(|workload| workload.spec()) {
            for parameter in spec.parameters.iter() {
                check(&parameter.name);
                if let proofmark_model::ParameterKind::Choice(choices) = &parameter.kind {
                    choices.iter().for_each(|choice| check(choice));
                }
            }
        }
        for unit in proofmark_model::Unit::ALL {
            ["", "M", "G"].iter().for_each(|prefix| check(&format!("{prefix}{unit}")));
        }
        for word in [
            "temporal",
            "nontemporal",
            "add16",
            "arith17",
            "GIOPS",
            "GFLOPS",
            "I/O",
            "Exp 1",
            "Average",
            "Std Dev",
            "deviation",
            "lanes",
            "channels",
            "transfers",
            "budget",
            "reference",
            "mean",
            "loopback",
            "load average",
            "IOPS",
        ] {
            check(word);
        }
        assert!(seen > 100 && lacking.is_empty(), "{seen}: not explained: {lacking:?}");
        for (word, kinds) in [
            ("page_cache", ["Check of a run", "Rule of proofmark audit"]),
            ("residual", ["Check of a run", "Column"]),
            ("loopback", ["Rule of proofmark audit", "Network within one machine"]),
        ] {
            for kind in kinds {
                let begins = format!("{word}: {kind}");
                assert!(texts(word).iter().any(|text| text.starts_with(&begins)), "{begins}");
            }
        }
        assert!(!texts("Exp 12").is_empty());
        assert!(texts("mean").iter().all(|text| !text.starts_with("p50")));
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
