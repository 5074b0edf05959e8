//! Tables and charts over several workloads of a subsystem, as the published experiments have them.
//! They do not repeat the charts of one workload, such as rates by threads with one line per block
//! size.

mod blocks;
mod conditions;
mod iozone;
mod lines;
mod stream;

use proofmark_model::Measurement;
use serde::Serialize;

use super::chart::Chart;
use super::label::{Group, best_usable, by_subsystem};
use super::table::Table;

/// Tables and charts over several workloads of one subsystem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// The subsystem's id, such as `cpu`.
    pub subsystem: &'static str,
    /// The subsystem's title: `CPU`.
    pub title: &'static str,
    /// The charts.
    pub lines: Vec<Chart>,
    /// The tables, each with rows.
    pub tables: Vec<Table>,
    /// The number of tables, from the first, that a terminal shows: those that other programs
    /// print.
    pub brief: usize,
}

/// Collects the overviews. A tool's output has its own times of a pass, which its trials do not hold:
/// an import has no listing of STREAM's.
pub fn collect(groups: &[Group], imported: bool) -> Vec<Overview> {
    let parts = by_subsystem(groups).into_iter().map(|(part, all)| {
        let all: Vec<&Group> = all.into_iter().filter(|g| !g.over_time).collect();
        // Workloads declare their tables and charts; a subsystem without such workloads has none.
        let lines = [
            blocks::lines(&all, blocks::MEMORY),
            blocks::lines(&all, blocks::DISK),
            lines::stream(&all),
            lines::network(&all),
            lines::instructions(&all),
        ]
        .concat();
        let mut tables = Vec::new();
        tables.extend((!imported).then(|| stream::listing(&all)));
        tables.extend(iozone::tables(&all));
        tables.retain(|t| !t.rows.is_empty());
        let brief = tables.len();
        tables.extend([blocks::MEMORY, blocks::DISK].map(|table| blocks::times(&all, table)));
        tables.retain(|t| !t.rows.is_empty());
        Overview { subsystem: part.as_str(), title: part.info().title, lines, tables, brief }
    });
    parts.filter(|o| !(o.lines.is_empty() && o.tables.is_empty())).collect()
}

/// The best usable result at each value of a parameter, by value.
fn best_by<'a>(
    of: &[&'a Measurement],
    parameter: impl Fn(&Measurement) -> Option<u64>,
) -> Vec<(u64, &'a Measurement)> {
    let values: std::collections::BTreeSet<u64> = of.iter().filter_map(|m| parameter(m)).collect();
    let at = |value: u64| {
        let here: Vec<&Measurement> =
            of.iter().copied().filter(|m| parameter(m) == Some(value)).collect();
        best_usable(&here).map(|(m, _)| (value, m))
    };
    values.into_iter().filter_map(at).collect()
}
