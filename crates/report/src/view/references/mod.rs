//! proofmark's results compared with those of reference tools.
//!
//! A row per point and tool: what we measured in the pairs, what the tool measured in them, both
//! against the same ceiling, and the ratio of the two. What a tool's figure counts,
//! its version and its command lines are said once a workload.

mod charts;
mod notes;
mod sides;
mod table;

use proofmark_model::{Measurement, Reference};
use serde::Serialize;

pub use self::notes::{Command, ToolNote, unexplained};
pub use self::sides::{factor, paired, phrase};
pub use self::table::{brief, chosen, ratio, ratio_interval};
use super::chart::BarChart;
use super::grouping::distinct;
use super::label::Group;
use super::num::Scale;
use super::table::Table;
use super::text::{clean, plural};

/// Rows that a terminal has room for, besides the rest of a workload.
const ROWS: usize = 4;

pub const RATIO: &str = "proofmark's median over the pairs divided by the tool's. The 95 % interval is \
    that of the ratios within each pair. An interval that contains 1 shows no difference. Above 1, \
    proofmark's result is the larger one. Undecided: the interval does not hold the ratio of the \
    medians; then the median of the pairs' ratios is shown as well.";

/// What the column `ours` means: its term and the meaning.
pub const OURS: [&str; 2] = [
    "proofmark, in pairs",
    "The median over proofmark's trials of the pairs, of the same figure as the tool's. These are extra trials, each in a new process, \
     as the tool's are. Bars, ratio and share of the ceiling are of the same trials. The workload's \
     table has the figure of the regular trials.",
];

/// A measurement with a reference tool that ran the same work.
pub type Compared<'a> = (&'a Measurement, &'a Reference);

/// The reference tools of one workload; empty without one.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct References {
    /// A row per point and tool.
    pub table: Table,
    /// What a terminal has room for: all of it, or a row per tool.
    pub brief: Table,
    /// What that leaves out; empty if nothing is.
    pub left_out: String,
    /// What each tool's figure counts, and how it was run.
    pub tool_notes: Vec<ToolNote>,
    /// Bars side by side.
    pub charts: Vec<BarChart>,
    /// Every pair, with what was taken from either side.
    pub pairs: Table,
    /// Points without a tool, and tools without a figure, with the reasons; a sentence each.
    pub lacking: Vec<String>,
}

pub fn compare(group: &Group, scale: &Scale) -> References {
    let compared = compared(group);
    let lacking = notes::lacking(group);
    if compared.is_empty() {
        return References { lacking, ..References::default() };
    }
    let table = table::table(group, scale, &compared);
    let fits = table.rows.len() <= ROWS;
    let brief = if fits { table.clone() } else { table::table(group, scale, &chosen(group)) };
    let more = table.rows.len() - brief.rows.len();
    let left_out = match more {
        0 => String::new(),
        more => format!("Other formats list {}.", plural(more as u64, "more comparison")),
    };
    References {
        tool_notes: notes::for_tools(group, &compared),
        charts: charts::references(group, scale),
        pairs: table::trials(group, scale, &compared),
        table,
        brief,
        left_out,
        lacking,
    }
}

/// Every measurement with every reference tool of it, in the order of rows.
pub fn compared<'a>(group: &Group<'a>) -> Vec<Compared<'a>> {
    group.all.iter().flat_map(|m| m.references.iter().map(move |r| (*m, r))).collect()
}

/// The names of a workload's reference tools, in the order of rows.
pub fn tools(group: &Group) -> Vec<String> {
    distinct(compared(group).iter().map(|(_, r)| clean(&r.tool)))
}
