//! Judgement of a fleet: nodes that are slow compared with their group, by how much and why, and
//! unverified nodes.
//!
//! `intake` reduces the file's lines to what is judged, and `check` refuses those that cannot be
//! believed. Nodes of one kind make a group (`groups`). Each figure of a group is judged by the rule
//! in `rule`, which knows numbers alone (`strips`); where its margin is too wide, it is not
//! (`judging`). A node that is slow in the first pass is measured
//! again with some of its group (`second_pass`), and is called slow only if that shows it too (`again`).
//! The network between nodes is measured in pairs, whose rounds are judged as those of both nodes: a
//! node that is slow with all partners is slow, and a pair alone is a slow link (`links`).
//! What is missing is never taken for health: `nodes` says of each node what is, and `cause` why a
//! slow one is slow.

mod again;
mod cause;
mod groups;
mod intake;
mod judging;
mod lines;
mod links;
mod node;
mod nodes;
mod pairs;
mod reasons;
pub mod rule;
mod second_pass;
mod second_pass_pairs;
mod strips;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use proofmark_model::{FLEET_REPORT_SCHEMA, FigureKind, FleetGroup, FleetLine, FleetReport};

use groups::Group;
use lines::Lines;
pub use node::node_round;
pub use second_pass::{SecondPass, nodes_again};
pub use second_pass_pairs::{again as pairs_again, groups as pair_groups};
use strips::Judged;

/// Nodes of a plan at the most.
pub const MOST_NODES: usize = 100_000;

/// Letters of a name and of a title at the most.
const LONGEST_NAME: usize = 120;
/// Letters of a text at the most.
const LONGEST_TEXT: usize = 400;
/// Findings of a result that are kept, most severe first.
const MOST_FINDINGS: usize = 6;

/// The figures that are judged.
const KINDS: [FigureKind; 2] = [FigureKind::Attainable, FigureKind::Delivered];

/// What follows from a fleet's lines. An error if there is no plan among them that can be followed.
///
/// Lines of one node count in their order, of several of one pass and round the last; the order of
/// lines between nodes does not matter. Of a line no more is kept than what is judged, so that the
/// file need not fit into memory.
pub fn fleet_report(lines: impl IntoIterator<Item = FleetLine>) -> Result<FleetReport, String> {
    let fleet = Fleet::judge(lines)?;
    let nodes = nodes::all(&fleet);
    Ok(FleetReport {
        schema: Cow::Borrowed(FLEET_REPORT_SCHEMA),
        nodes,
        groups: fleet.report_groups(),
        plan: fleet.lines.plan,
    })
}

/// All that is known of a fleet.
struct Fleet {
    lines: Lines,
    groups: Vec<Group>,
    /// By group.
    judged: Vec<Judged>,
}

impl Fleet {
    fn judge(lines: impl IntoIterator<Item = FleetLine>) -> Result<Self, String> {
        let lines = intake::collect(lines)?;
        let groups = groups::all(&lines);
        let judged = strips::judge(&lines, &groups);
        Ok(Self { lines, groups, judged })
    }

    fn report_groups(&self) -> Vec<FleetGroup> {
        let largest = self.groups.first();
        let of = |(group, judged): (&Group, &Judged)| FleetGroup {
            facts: group.facts.clone(),
            differences: largest.map(|l| group.differences(l)).unwrap_or_default(),
            nodes: group.nodes.iter().map(|n| self.lines.nodes[*n].name.clone()).collect(),
            comparable: group.comparable(),
            figures: judged.figures.clone(),
            not_judged: judged.not_judged.clone(),
            partners: pairs::partners(&self.lines, group),
            links: links::report(&self.lines, group, judged),
        };
        self.groups.iter().zip(&self.judged).map(of).collect()
    }
}
