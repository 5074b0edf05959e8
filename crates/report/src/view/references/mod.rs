//! proofmark's results compared with those of reference tools.
//!
//! A row per configuration and tool shows what both measured in the pairs, their shares of the same
//! ceiling, and the ratio of the two. The text below states once per workload what a tool's figure
//! counts, its version and its command lines.

mod charts;
mod notes;
mod sides;
mod table;

use proofmark_model::{Measurement, Reference};

use self::notes::ToolNote;
pub use self::notes::unexplained;
use self::sides::{PAIRS, outlying_pair, undecided_by_few};
pub use self::sides::{factor, paired, phrase};
pub use self::table::{brief, chosen, ratio, ratio_interval};
use super::audience::Audience;
use super::block::{Blocks, Details, Drawing, Drawings, Item, Section};
use super::grouping::distinct;
use super::label::Group;
use super::num::Scale;
use super::table::Table;
use super::text::{clean, counted};

/// The heading of a workload's comparison.
const TITLE: &str = "Comparison with reference tools";

/// Maximum number of rows that a terminal shows per workload.
const ROWS: usize = 4;

pub const RATIO: &str = "proofmark's median over the pairs divided by the tool's. The 95 % \
    interval is that of the ratios within each pair. An interval that contains 1 shows no \
    difference. Above 1, proofmark's result is the larger one. Undecided: the interval does not \
    contain the ratio of the medians; then the median of the pairs' ratios is shown as well.";

/// The term and the meaning of the column of proofmark's figures.
pub const OURS: [&str; 2] = [
    "proofmark, in pairs",
    "The median of proofmark's trials in the pairs, for the same figure as the tool's. These are \
     extra trials, each in a new process like the tool's. Bars, ratio and share of the ceiling use \
     the same trials. The workload's table has the figure of the regular trials.",
];

/// A measurement with a reference tool that ran the same work.
pub type Compared<'a> = (&'a Measurement, &'a Reference);

/// The section on the reference tools of one workload; without blocks where nothing is known.
pub fn section(group: &Group, scale: &Scale) -> Section {
    let mut out = Blocks::default();
    let compared = compared(group);
    if !compared.is_empty() {
        add_compared(&mut out, group, scale, &compared);
    }
    // Reasons why no tool ran at all are shown where there is room.
    let audience = if compared.is_empty() { Audience::Document } else { Audience::Everyone };
    out.add_for(audience, "lacking", notes::missing_tools(group));
    Section { title: TITLE.to_owned(), blocks: out.0, ..Section::default() }
}

/// Adds the table, shortened for a terminal, the bars, and what each tool counts.
fn add_compared(out: &mut Blocks, group: &Group, scale: &Scale, compared: &[Compared]) {
    let all = table::table(group, scale, compared);
    let notes = notes::for_tools(group, compared);
    if all.rows.len() > ROWS {
        let brief = table::table(group, scale, &chosen(group));
        let more = (all.rows.len() - brief.rows.len()) as u64;
        out.add_for(Audience::Terminal, "comparison-in-brief", brief);
        let elsewhere = format!("Other formats list {}.", counted(more, "more comparison"));
        let elsewhere = if more > 0 { elsewhere } else { String::new() };
        out.add_for(Audience::Terminal, "left-out", elsewhere);
        out.add_for(Audience::Document, "comparison", all);
    } else {
        out.add("comparison", all);
    }
    let counts = notes.iter().filter(|t| !t.counts.is_empty()).map(ToolNote::sentence);
    out.add_for(Audience::Terminal, "counts", counts.collect::<Vec<String>>());
    let bars = Drawings::new(Drawing::Bars, charts::references(group, scale));
    let key = ["In parentheses: share of the ceiling."];
    out.add_for(Audience::Page, "bars", bars.explained(&key));
    let tools = Details::new("What each tool counts, versions and command lines", |of| {
        of.add("tools", notes.into_iter().map(Item::from).collect::<Vec<Item>>());
    });
    out.add_for(Audience::Document, "tools", tools.on_paper());
}

/// The table of every pair, with the CPU time that was taken from either side.
pub fn pairs(group: &Group, scale: &Scale) -> Table {
    table::trials(group, scale, &compared(group))
}

/// All measurements with their reference tools, in the order of rows.
pub fn compared<'a>(group: &Group<'a>) -> Vec<Compared<'a>> {
    group.all.iter().flat_map(|m| m.references.iter().map(move |r| (*m, r))).collect()
}

/// The names of a workload's reference tools, in the order of rows.
pub fn tools(group: &Group) -> Vec<String> {
    distinct(compared(group).iter().map(|(_, r)| clean(&r.tool)))
}
