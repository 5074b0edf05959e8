//! What the tables of a workload share: columns for the parameters that vary, captions, verdicts, and
//! reasons for what is missing.

use proofmark_model::Measurement;

use super::label::{Group, title, why_missing, why_no_trials};
use super::table::{Cell, Table};
use super::text::clean;

/// A table whose first columns are the parameters that vary.
pub fn keyed(group: &Group, caption: String, without: &[&str]) -> Table {
    let mut table = Table::new(caption);
    for name in group.varying.iter().filter(|n| !without.contains(n)) {
        let numeric = group.all.iter().any(|m| m.params.int(name).is_some());
        let title = title(name);
        table = if numeric { table.number(title) } else { table.column(title) };
        table = table.spare(if group.implied_parameters.contains(name) { 2 } else { 0 });
        table.keys += 1;
    }
    table
}

/// The cells of those columns for one measurement.
pub fn keys(group: &Group, m: &Measurement, table: &mut Table, without: &[&str]) -> Vec<Cell> {
    group
        .varying
        .iter()
        .filter(|n| !without.contains(n))
        .map(|name| {
            table.maybe(group.text(m, name), || "not a parameter of this configuration".to_owned())
        })
        .collect()
}

/// `Floating-point peak; iterations 1 000 in all rows`.
pub fn caption(group: &Group, what: &str) -> String {
    named(group, what, "")
}

/// The same, where more is the same in all rows.
pub fn named(group: &Group, what: &str, more: &str) -> String {
    let title = group.heading();
    let same = [group.fixed_phrase(), more.to_owned()];
    let same: Vec<String> = same.into_iter().filter(|s| !s.is_empty()).collect();
    match same.join(", ") {
        same if same.is_empty() => format!("{title}: {what}"),
        same => format!("{title}: {what} ({same} in every row)"),
    }
}

/// The verdict, with a note if the threads shared CPUs.
pub fn verdict(group: &Group, m: &Measurement, table: &mut Table) -> Cell {
    let note = (group.oversubscribed(m) && m.summary.is_some()).then(|| table.note(group.turns()));
    Cell { note, ..Cell::verdict(m.verdict) }
}

/// Why there is no ceiling.
pub fn why_no_ceiling(m: &Measurement) -> String {
    let why = why_missing(m, "ceiling", "no ceiling is known, and no reason was recorded");
    // A ceiling that bears the workload's own name need not be named.
    let own = format!("{}: ", clean(&m.workload));
    why.strip_prefix(&own).unwrap_or(&why).to_owned()
}

/// Why there is no efficiency.
pub fn why_no_efficiency(m: &Measurement) -> String {
    match (&m.summary, &m.ceiling) {
        (None, _) => why_no_trials(m),
        (_, None) => why_no_ceiling(m),
        _ => why_missing(m, "efficiency", "no efficiency, and no reason was recorded"),
    }
}
