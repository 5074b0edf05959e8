//! What `proofmark explain audit` prints: the words of the table and of the machine's file, what
//! each rule needs, and an example.

use std::fmt::Write as _;

use crate::facts::{FACTS, TEXTS};
use crate::figure::Metric;
use crate::{rules, units, words};

/// A table and the file of its machine, as they can be audited.
pub const EXAMPLE: [(&str, &str); 2] = [
    ("figures.csv", include_str!("guide/figures.csv")),
    ("machines.toml", include_str!("guide/machines.toml")),
];

/// The guide without the example: a paragraph, or an entry of a list, a line.
pub fn guide() -> String {
    let mut out = "audit: how published figures are checked\n\n\
        A table has one figure per line; a file describes the machine. Each rule compares figures \
        with the machine's facts, or with each other. A figure is valid if at least one rule could \
        compare it and none found a problem. It is *not checked* if no rule could: a fact is not \
        declared, or no rule bounds such a figure. Unknown columns, words, units and facts are \
        errors.\n\n\
        Columns of the CSV, in any order, separated by commas, semicolons or tabs:\n"
        .to_owned();
    for (column, about) in columns() {
        let _ = writeln!(out, "  {column}: {about}");
    }
    out.push_str("\nFacts of the TOML, one table per machine; leave out what is not known:\n");
    for fact in &FACTS {
        let _ = writeln!(out, "  {}: {}", fact.key, fact.about);
    }
    for (key, about) in TEXTS {
        let _ = writeln!(out, "  {key} (text): {about}");
    }
    out.push_str("\nRules, and what each needs ('proofmark explain RULE' has the limits):\n");
    for rule in rules::ALL {
        let _ = writeln!(out, "  {}: {}", rule.id, rule.needs);
    }
    out
}

/// Each column, and what its cells hold.
fn columns() -> [(&'static str, String); 12] {
    let list = |words: Vec<&str>| {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(", ")
    };
    let bases = words::BASES.iter().map(|(word, _)| *word).collect();
    [
        ("subsystem", list(words::subsystems().iter().map(|(word, _)| *word).collect())),
        ("tool", "the program, as the report calls it".to_owned()),
        ("operation", OPERATION.to_owned()),
        ("metric", metrics()),
        ("block_size_bytes", "bytes of one operation, or of a packet; may be empty".to_owned()),
        ("threads", "threads or streams; may be empty".to_owned()),
        (
            "trial",
            format!(
                "number of the trial; or {}; or a percentile such as p99; or empty",
                list(words::STATISTICS.iter().map(|(word, _)| *word).collect())
            ),
        ),
        ("value", "the number as printed; with semicolons it may have a decimal comma".to_owned()),
        ("unit_as_written", units()),
        ("value_si", "the same number in si_unit; if empty, the figure is not checked".to_owned()),
        ("si_unit", list(bases)),
        ("note", "free text; this column may be left out".to_owned()),
    ]
}

/// Words of an operation that rules look for; all others may be in it too.
const OPERATION: &str = "free text, in which rules look for these words: rand or seq, read, write, \
    rewrite; both, bidir, duplex, rw (two directions); udp; flop; copy, scale, add, triad (STREAM)";

fn metrics() -> String {
    let of = |metric: Metric| {
        let words = words::METRICS.iter().filter(|(_, m)| *m == metric).map(|(word, _)| *word);
        words.collect::<Vec<_>>().join(", ")
    };
    format!(
        "operations per second: {}; bytes or bits per second: {}; time of one operation: {}; what \
         no rule reads: {}",
        of(Metric::Rate),
        of(Metric::Throughput),
        of(Metric::Latency),
        of(Metric::Other)
    )
}

fn units() -> String {
    let data: Vec<&str> = units::DATA.iter().map(|(word, _)| *word).collect();
    let parts: Vec<&str> = units::PARTS.iter().map(|(part, _)| *part).skip(1).collect();
    format!(
        "the unit as printed, or empty, with a remark in brackets if need be. Throughput: {} with \
         a prefix (k, M, G, T; Ki, Mi, Gi, Ti) and /s, /sec, ps. Rate: {} with a prefix and /s, \
         /sec, ps. Latency: {} with a prefix ({}); {}; also per operation (ns/access). Loss: {}",
        data.join(", "),
        units::EVENTS.replace(' ', ", "),
        units::TIMES.join(", "),
        parts.join(", "),
        units::CYCLES.join(", "),
        units::SHARES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{COLUMNS, NOTE};

    #[test]
    fn every_column_fact_and_rule_is_explained() {
        let named: Vec<&str> = columns().iter().map(|(column, _)| *column).collect();
        assert_eq!(named, [&COLUMNS[..], &[NOTE]].concat());
        let guide = guide();
        for id in FACTS.iter().map(|f| f.key).chain(rules::ALL.iter().map(|r| r.id)) {
            assert!(guide.contains(&format!("\n  {id}: ")), "{id}");
        }
    }
}
