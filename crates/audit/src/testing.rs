//! Small made-up reports for the tests of rules.

use proofmark_model::{Finding, Severity};

use crate::{Figure, Machine, Outcome, Rule, Sheet, choose, read_figures, read_machines};

/// Two CPUs at 2 GHz with a disk behind SATA.
pub(crate) const MACHINE: &str = "vcpus = 2\nclock_hz_nominal = 2_000_000_000\n\
    disk_link_bytes_per_s = 600_000_000\n";

/// Severity that a test expects of a rule.
pub(crate) const SUSPECT: Option<Severity> = Some(Severity::Suspect);
pub(crate) const INVALID: Option<Severity> = Some(Severity::Invalid);

pub(crate) fn figures(rows: &str) -> Vec<Figure> {
    let header = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,\
                  unit_as_written,value_si,si_unit\n";
    read_figures(&format!("{header}{rows}")).unwrap()
}

/// Returns a machine with these declared facts.
pub(crate) fn machine(facts: &str) -> Machine {
    choose(&read_machines(&format!("[m]\n{facts}\n")).unwrap(), None, None).unwrap()
}

/// Returns a row of the table from its subsystem, operation, metric and value in base units (`disk
/// seq_read throughput 6e8`), then other cells (`block=4096 threads=2`).
pub(crate) fn row(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [subsystem, operation, metric, value, others @ ..] = &words[..] else { panic!("{text}") };
    let other = |name: &str, usual: &str| -> String {
        let mut named = others.iter().filter_map(|word| word.split_once('='));
        named.find(|(n, _)| *n == name).map_or(usual, |(_, v)| v).to_owned()
    };
    let base_unit = match (*subsystem, *metric) {
        ("network", "throughput") => "bits/s",
        (_, "throughput") => "bytes/s",
        (_, "latency") => "seconds",
        (_, "rate") => "ops/s",
        _ => "",
    };
    let (tool, block) = (other("tool", "x"), other("block", ""));
    let (threads, trial) = (other("threads", "1"), other("trial", "1"));
    let (printed, unit) = (other("printed", value), other("unit", ""));
    let base_unit = other("base_unit", base_unit);
    format!(
        "{subsystem},{tool},{operation},{metric},{block},{threads},{trial},{printed},{unit},\
         {value},{base_unit}\n"
    )
}

/// Returns a rule's finding for each row.
pub(crate) fn findings<R: AsRef<str>>(
    rule: &Rule,
    facts: &str,
    rows: &[R],
) -> Vec<Option<Finding>> {
    let rows: String = rows.iter().map(|text| row(text.as_ref())).collect();
    let sheet = Sheet::new(machine(facts), figures(&rows));
    let found = |figure| match rule.examine(&sheet, figure) {
        Some(Outcome::Found(finding)) => Some(finding),
        _ => None,
    };
    sheet.figures().iter().map(found).collect()
}

/// Returns the severity that a rule gives each row.
pub(crate) fn severities<R: AsRef<str>>(
    rule: &Rule,
    facts: &str,
    rows: &[R],
) -> Vec<Option<Severity>> {
    findings(rule, facts, rows).into_iter().map(|found| found.map(|f| f.severity)).collect()
}

/// Returns which rows a rule flags or notes.
pub(crate) fn flagged<R: AsRef<str>>(rule: &Rule, facts: &str, rows: &[R]) -> Vec<bool> {
    findings(rule, facts, rows).iter().map(Option::is_some).collect()
}

/// Asserts the severity that a rule gives each row by itself.
pub(crate) fn judges(rule: &Rule, facts: &str, expected: &[(&str, Option<Severity>)]) {
    for (row, severity) in expected {
        assert_eq!(severities(rule, facts, &[row]), [*severity], "{facts}: {row}");
    }
}
