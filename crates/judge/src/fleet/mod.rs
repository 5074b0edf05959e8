//! Judgement of a fleet: nodes that are slow compared with their group, by how much and why, and
//! unverified nodes.
//!
//! `intake` reduces the file's lines to the judged parts and refuses implausible ones. Nodes of one
//! kind form a group (`groups`). The rule in `rule`, on plain numbers, judges each figure of a
//! group (`strips`), unless its margin is too wide (`judging`). A node that is slow in the first
//! pass is measured again with some of its group (`second_pass`). It is called slow only if that
//! confirms it (`again`). The network between nodes is measured in pairs, whose rounds count for
//! both nodes. A node that is slow with all partners is slow; a single slow pair is a slow link
//! (`links`). A missing result never counts as healthy: `nodes` reports each node's missing
//! results, and `cause` why a slow one is slow.

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
mod programs;
mod reasons;
pub mod rule;
mod second_pass;
mod second_pass_pairs;
mod strips;
mod suspect;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use proofmark_model::{
    FLEET_REPORT_SCHEMA, FigureKind, FleetGroup, FleetLine, FleetReport, Pass, UnfinishedPass,
};

use groups::Group;
use lines::Lines;
pub use node::{compared_facts, node_round};
pub use second_pass::{SecondPass, nodes_again};
pub use second_pass_pairs::{pair_groups, pairs_again};
use strips::Judged;

/// Most nodes of a plan.
pub const MOST_NODES: usize = 100_000;

/// Most characters of a name or title.
const LONGEST_NAME: usize = 120;
/// Most characters of a text.
const LONGEST_TEXT: usize = 400;
/// Most findings of a result that are kept, the most severe first.
const MOST_FINDINGS: usize = 6;

/// The figures that are judged.
const KINDS: [FigureKind; 2] = [FigureKind::Attainable, FigureKind::Delivered];

/// Judges a fleet's lines. Fails if they have no valid plan.
///
/// Lines of one node count in their order: of several of one pass and round the last. The order of
/// lines between nodes does not matter. Only the judged parts of a line are kept, so the file need
/// not fit into memory.
pub fn fleet_report(lines: impl IntoIterator<Item = FleetLine>) -> Result<FleetReport, String> {
    let fleet = Fleet::judge(lines)?;
    let nodes = nodes::all(&fleet);
    Ok(FleetReport {
        schema: Cow::Borrowed(FLEET_REPORT_SCHEMA),
        nodes,
        groups: fleet.report_groups(),
        unfinished: fleet.unfinished(),
        plan: fleet.lines.plan,
    })
}

/// A fleet with its groups and their judged figures.
struct Fleet {
    lines: Lines,
    groups: Vec<Group>,
    /// Judged figures by group.
    judged: Vec<Judged>,
}

impl Fleet {
    fn judge(lines: impl IntoIterator<Item = FleetLine>) -> Result<Self, String> {
        let lines = intake::collect(lines)?;
        let groups = groups::all(&lines);
        let judged = strips::judge(&lines, &groups);
        Ok(Self { lines, groups, judged })
    }

    /// The pass that is not complete, or the second one if a node that looks slow awaits it.
    fn unfinished(&self) -> Option<UnfinishedPass> {
        let figures = self.judged.iter().flat_map(|judged| &judged.figures);
        let own = figures.filter(|figure| !figure.subsystem.info().has_server);
        let slow = || own.flat_map(|figure| &figure.strips).any(|strip| strip.outcome.is_slow());
        let awaited =
            UnfinishedPass { pass: Pass::Again, rounds: 0, planned: self.lines.plan.rounds };
        let undecided = self.lines.nodes_again.is_none();
        self.lines.unfinished().or_else(|| (undecided && slow()).then_some(awaited))
    }

    fn report_groups(&self) -> Vec<FleetGroup> {
        let largest = self.groups.first();
        let report = |(group, judged): (&Group, &Judged)| FleetGroup {
            facts: group.facts.clone(),
            differing: group.differing(&self.lines),
            unknown: group.unknown(&self.lines),
            differences: largest.map(|l| group.differences(l)).unwrap_or_default(),
            nodes: group.nodes.iter().map(|n| self.lines.nodes[*n].name.clone()).collect(),
            comparable: group.comparable(),
            figures: judged.figures.clone(),
            not_judged: judged.not_judged.clone(),
            suspect: suspect::results(&self.lines, group, judged),
            partners: pairs::partners(&self.lines, group),
            links: links::report(&self.lines, group, judged),
        };
        self.groups.iter().zip(&self.judged).map(report).collect()
    }
}
