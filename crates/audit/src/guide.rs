//! Text of `proofmark explain audit`: an example, the words of the table and of the machine's file,
//! and the needs of each rule.

use std::fmt::Write as _;

use crate::columns::COLUMNS;
use crate::facts::TEXTS;
use crate::machine::{FACTS, Fact, UNUSED};
use crate::quantity::Metric;
use crate::rules;
use crate::words::{self, METRICS, STATISTICS, UNITS};

/// Example: a table and its machine's file. Both can be audited.
pub const EXAMPLE: [(&str, &str); 2] = [
    ("figures.csv", include_str!("guide/figures.csv")),
    ("machines.toml", include_str!("guide/machines.toml")),
];

/// Returns the guide that follows the example, one paragraph or list entry per line.
pub fn guide() -> String {
    let mut out =
        "Rules compare each figure with the machine's facts, or with other figures. It is \
        valid if at least one rule could compare it and none found a problem, and *not checked* if \
        none could: a fact is not declared, or no rule bounds such a figure. Unknown columns, \
        words, units and facts are errors.\n\n\
        Columns of the CSV, in any order, separated by commas, semicolons or tabs (*: required):\n"
            .to_owned();
    for column in &COLUMNS {
        let star = if column.required { "*" } else { "" };
        let _ = writeln!(out, "  {}{star}: {}", column.name, column.about);
    }
    out.push_str("\nTheir words:\n");
    for entry in vocabulary() {
        let _ = writeln!(out, "  {entry}");
    }
    out.push_str("\nFacts of the TOML, one table per machine; leave out what is not known:\n");
    let (unused, used): (Vec<&Fact>, Vec<_>) =
        FACTS.iter().partition(|fact| fact.about.ends_with(UNUSED));
    for fact in used {
        let _ = writeln!(out, "  {}: {}", fact.key, fact.about);
    }
    let unused: Vec<&str> = unused.iter().map(|fact| fact.key).collect();
    let texts = TEXTS.map(|(key, _)| key).join(", ");
    let _ = writeln!(out, "  {}: numbers that no rule uses; {texts}: text", unused.join(", "));
    out.push_str("\nRules, and what each needs ('proofmark explain RULE' has the limits):\n");
    for rule in rules::ALL {
        let _ = writeln!(out, "  {}: {}", rule.id, rule.needs);
    }
    out
}

/// Iterates over the words that the cells of `metric`, `unit_as_written` and `trial` may hold.
fn vocabulary() -> impl Iterator<Item = String> {
    let metrics = METRICS.iter().map(|(metric, names)| {
        let units: Vec<&str> = UNITS
            .iter()
            .filter(|(base, _)| base.metric() == *metric)
            .flat_map(|(_, words)| words.split(' '))
            .collect();
        let units = match metric {
            Metric::Other => "any; no rule reads these".to_owned(),
            Metric::Rate => format!("{}; with k, M, G, T; and /s, /sec, ps", units.join(", ")),
            Metric::Latency => format!("{}; with m, u, n, p; also ns/access", units.join(", ")),
            Metric::Throughput => format!(
                "{}; with k, M, G, T (of 1000), Ki, Mi, Gi, Ti (of 1024); and /s, /sec, ps. mb/s \
                 and MBPS may be bits or bytes: write MB/s or Mbit/s",
                units.join(", ")
            ),
        };
        format!("metric {}, in units {units}", names.replace(' ', ", "))
    });
    let trial = words::all(STATISTICS).map(|(_, word)| word).collect::<Vec<_>>().join(", ");
    metrics.chain([format!(
        "trial: a number from 0 or 1 on; {trial}; a percentile such as p99; empty: not stated, read \
         as a mean"
    )])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_word_fact_and_rule_is_explained() {
        let guide = guide();
        let columns = COLUMNS.iter().map(|column| column.name);
        for id in columns.chain(rules::ALL.iter().map(|rule| rule.id)) {
            let starts = [format!("\n  {id}: "), format!("\n  {id}*: ")];
            assert!(starts.iter().any(|start| guide.contains(start)), "{id}");
        }
        assert!(FACTS.iter().all(|fact| guide.contains(fact.key)));
        let words = words::all(METRICS).map(|(_, word)| word);
        let words = words.chain(words::all(STATISTICS).map(|(_, word)| word));
        for word in words.chain(words::all(UNITS).map(|(_, word)| word)) {
            assert!(guide.contains(word), "{word}");
        }
    }
}
