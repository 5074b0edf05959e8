//! Report of a fleet: nodes that are slow compared with their group, by how much and why, and
//! unverified nodes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Decision, FactId, FigureKind, FleetPlan, NodeFact, Params, Pass, Reliance, Subsystem,
    Unit, and_list,
};

/// Version of the report's shape.
pub const FLEET_REPORT_SCHEMA: &str = "proofmark.fleet-report/1";

/// Minimum number of nodes of a kind that can be compared with each other.
pub const FEWEST_NODES: usize = 4;

/// A fleet, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetReport {
    /// Always [`FLEET_REPORT_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The plan: measurements and nodes.
    pub plan: FleetPlan,
    /// Nodes of the same kind, the largest group first.
    pub groups: Vec<FleetGroup>,
    /// Every node of the plan, worst first.
    pub nodes: Vec<FleetNode>,
    /// The pass that is not complete: the fleet was stopped, or is still measured. Null if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedPass>,
}

/// A pass over a fleet that lacks rounds. Later passes have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnfinishedPass {
    /// The pass.
    pub pass: Pass,
    /// Its complete rounds.
    pub rounds: u32,
    /// Its planned rounds.
    pub planned: u32,
}

/// Nodes of the same kind, which are compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroup {
    /// The facts that make the group: all its nodes share them, and nodes of other groups may not.
    pub facts: Vec<NodeFact>,
    /// Further facts in which its nodes differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<DifferingFact>,
    /// Names of facts that no node reports, so that they are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Differences from the largest group; empty for that one.
    pub differences: Vec<GroupDifference>,
    /// The group's nodes by name, in the order of the plan.
    pub nodes: Vec<String>,
    /// True if there are enough nodes for a comparison: 4 or more.
    pub comparable: bool,
    /// The figures, in the order of a run's first screen; attainable before delivered.
    pub figures: Vec<FleetFigure>,
    /// Results that nodes sent, with a value or a reason, and that are not required because most
    /// nodes of the group lack them. Null without any, or if the nodes are not compared.
    pub not_judged: Option<NotJudged>,
    /// Results that are suspect for one reason in most rounds of the nodes. They are compared with
    /// each other, but none may be what its name says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<SuspectResult>,
    /// The place of a node's partner in `nodes`, by node and round of pairs; empty without pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partners: Vec<Vec<Option<u32>>>,
    /// Links that are slow, or may be, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<FleetLink>,
}

/// A fact in which nodes of a group differ, such as a setting or the firmware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferingFact {
    /// Name of the fact.
    pub what: String,
    /// The value of most nodes; null if there is none.
    pub usual: Option<String>,
    /// The other values.
    pub others: Vec<FactValue>,
}

/// A value of a fact, and the nodes that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactValue {
    /// The value in words.
    pub value: String,
    /// The nodes by name, in the order of the plan.
    pub nodes: Vec<String>,
}

/// Two nodes between which the network is slow while both are as fast with others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetLink {
    /// Places of the nodes in [`FleetGroup::nodes`].
    pub nodes: [usize; 2],
    /// The figure at which it is slowest: its place in [`FleetGroup::figures`].
    pub figure: usize,
    /// Speed as a share of the median of the group's pairs of the same round.
    pub ratio: f32,
    /// Speed in each round of the second pass, as a share of that of its nodes with others.
    pub again: Vec<Option<f32>>,
    /// True if the second pass shows it too. A link that the second pass shows to be as fast is not
    /// listed.
    pub confirmed: bool,
    /// The slowdown and its cause, in a sentence.
    pub cause: String,
}

/// A result that is suspect in most rounds of a group's nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuspectResult {
    /// Title in reports: `Triad, 2 CPUs`.
    pub title: String,
    /// Id of the check.
    pub check: String,
    /// Its message in one of the rounds.
    pub message: String,
    /// Rounds of nodes that have the finding.
    pub rounds: u32,
    /// Rounds of nodes that have the result.
    pub of: u32,
}

/// Results that at least one node of a group sent and that are not required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotJudged {
    /// Number of results.
    pub results: u32,
    /// Titles of the first ones, at most 3.
    pub titles: Vec<String>,
}

/// A fact that a group does not share with the largest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupDifference {
    /// Name of the fact: `usable CPUs`.
    pub what: String,
    /// The value in this group.
    pub here: String,
    /// The value in the largest group.
    pub largest: String,
}

impl GroupDifference {
    /// Describes the instruction sets that only one of the two has: `without avx512f and with
    /// fma4`. `None` for another fact.
    pub fn instruction_sets(&self) -> Option<String> {
        const MOST: usize = 8;
        if self.what != FactId::InstructionSets.as_str() {
            return None;
        }
        let [here, largest]: [BTreeSet<&str>; 2] =
            [&self.here, &self.largest].map(|sets| sets.split(' ').collect());
        let only = |a: &BTreeSet<&str>, b: &BTreeSet<&str>, word: &str| {
            let all: Vec<&str> = a.difference(b).copied().collect();
            let more = all.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = all.iter().take(MOST).copied().collect::<Vec<_>>().join(" ");
            (!all.is_empty()).then(|| format!("{word} {named}{more}"))
        };
        let parts = [only(&largest, &here, "without"), only(&here, &largest, "with")];
        Some(and_list(parts.into_iter().flatten()))
    }
}

/// A figure of all nodes of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetFigure {
    /// Workload id.
    pub workload: String,
    /// Every parameter.
    pub params: Params,
    /// Title in reports: `Triad, 2 CPUs`.
    pub title: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Base unit.
    pub unit: Unit,
    /// True if the order is random: reports count such disk I/O in operations per second.
    #[serde(default)]
    pub random: bool,
    /// The better direction.
    pub better: Better,
    /// Attainable or delivered.
    pub kind: FigureKind,
    /// True if most nodes of the group have it, so that each of them must.
    pub required: bool,
    /// True if it is required and its margin is at most 15 %, which is narrow enough to call a node
    /// level. A node may be slow at any figure that has a margin.
    pub judged: bool,
    /// Median over the rounds of the median over the group's nodes, in the unit; where nodes are not
    /// compared, the median of their values. Null without any.
    pub median: Option<f64>,
    /// Standard deviation between the group's nodes, as a share, of the round that decides: the 7th
    /// of 8 from below. It is robust, and moderated by the other figures of the subsystem. Null for
    /// a figure that is not compared or not required.
    pub spread: Option<f64>,
    /// A round lies below the margin if its ratio is below 1 - margin. The margin is at least 2 %,
    /// and so large that chance makes a node slow in at most 1 % of healthy fleets. Null for a
    /// figure that is not compared or not required.
    pub margin: Option<f64>,
    /// Each node's rounds, in the order of the group's nodes. A pair's rounds are those of both
    /// nodes.
    pub strips: Vec<FleetStrip>,
}

impl FleetFigure {
    /// Returns the workload and parameters, which both figures of a result share.
    pub fn result(&self) -> (&str, &Params) {
        (&self.workload, &self.params)
    }
}

/// A node's rounds at a figure.
///
/// A ratio is the node's speed as a share of its group's median of the same round: below 1 is
/// worse, for times too. Ratios are rounded to 4 decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetStrip {
    /// Ratios by round of the first pass; for the network by round of pairs. Null for a round that
    /// does not count.
    pub ratios: Vec<Option<f32>>,
    /// Median of the ratios; null without one.
    pub ratio: Option<f32>,
    /// Number of rounds that lie below the margin; 7 of 8 make it slow.
    pub below: u32,
    /// Number of rounds that count: with a ratio; where nodes are not compared, with a value.
    pub usable: u32,
    /// Median value in the unit; null where no round counts.
    pub value: Option<f64>,
    /// Median share of the ceiling that this figure reaches; null where the result's other figure
    /// comes first.
    pub of_ceiling: Option<f32>,
    /// The reliance that this share deserves; left out for a known ceiling.
    #[serde(default, skip_serializing_if = "Reliance::is_known")]
    pub reliance: Reliance,
    /// The conclusion.
    pub outcome: StripOutcome,
    /// Ratios by round of the second pass; empty where the node was not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Option<f32>>,
}

/// The conclusion from a node's rounds at a figure.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StripOutcome {
    /// At least as fast as the group.
    Level,
    /// Slow in both passes.
    Slow,
    /// Slow in the first pass, with all nodes. The second pass, with few, does not show it or did
    /// not take place.
    SlowNotConfirmed,
    /// The figure is required and too few rounds count.
    TooFewRounds,
    /// No slowdown, but the group's nodes differ too much at each figure of this result to say
    /// more.
    TooUneven,
    /// There is nothing to compare it with, the figure is not required, or another figure of the
    /// result is judged.
    NotJudged,
}

impl StripOutcome {
    /// Returns true if the first pass shows it to be slow.
    pub fn is_slow(self) -> bool {
        matches!(self, Self::Slow | Self::SlowNotConfirmed)
    }

    /// Returns the word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Slow => "slow",
            Self::SlowNotConfirmed => "slow, not confirmed",
            Self::TooFewRounds => "too few rounds",
            Self::TooUneven => "nodes differ too much",
            Self::NotJudged => "not judged",
        }
    }
}

/// The conclusions about a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetNode {
    /// The node as the launcher calls it.
    pub name: String,
    /// The verdict.
    pub state: NodeState,
    /// The group's place in [`FleetReport::groups`]; null for a node that sent nothing.
    pub group: Option<usize>,
    /// Reasons for this state, a sentence each; empty for a healthy node.
    pub reasons: Vec<String>,
    /// Events without effect on the state, a sentence each: a round of a healthy node that does not
    /// count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The slowdown of a slow node and its cause, in a sentence that starts with its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// True if a reason lies in the node itself. False if it is in all nodes, such as load that they
    /// share.
    #[serde(default)]
    pub to_fix: bool,
    /// Figures at which it is slow, or slow and not confirmed, worst first.
    pub figures: Vec<NodeSlowAt>,
    /// Rounds of the first pass in which it sent a result.
    pub rounds: u32,
    /// Rounds of the second pass in which it sent a result.
    pub rounds_again: u32,
    /// Seconds from the start of the fleet until the node was asked to measure again (`--again`);
    /// null if it was not, or if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_again_after_s: Option<f64>,
}

/// A figure at which a node is slow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeSlowAt {
    /// The figure's place in [`FleetGroup::figures`].
    pub figure: usize,
    /// The node's speed as a share of its group's.
    pub ratio: f32,
    /// True if the second pass shows it too.
    pub confirmed: bool,
}

/// Verdict on a node. The order is that of a report, worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Slow compared with its group, in both passes.
    Slow,
    /// Too little data to call it healthy or slow; the reasons say what is missing.
    Unverified,
    /// No comparison: the fleet has at most 3 nodes. Shares of ceilings are shown.
    NotCompared,
    /// At least as fast as its group at every required figure.
    Healthy,
}

impl NodeState {
    /// All states, worst first.
    pub const ALL: [Self; 4] = [Self::Slow, Self::Unverified, Self::NotCompared, Self::Healthy];

    /// Returns the word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Unverified => "unverified",
            Self::NotCompared => "not compared",
            Self::Healthy => "healthy",
        }
    }
}

impl FleetReport {
    /// Counts the nodes in a state.
    pub fn count(&self, state: NodeState) -> usize {
        self.nodes.iter().filter(|n| n.state == state).count()
    }

    /// Returns missed if a node or a link is slow, or no node was measured; undecided if one is
    /// unverified. Nodes that are not compared do not count: a fleet of up to 3 nodes has only
    /// these.
    pub fn decision(&self) -> Decision {
        let any = |state| self.nodes.iter().any(|n| n.state == state);
        let mut links = self.groups.iter().flat_map(|g| &g.links).map(|link| link.confirmed);
        let doubted = links.clone().next().is_some();
        match () {
            () if self.nodes.is_empty() || any(NodeState::Slow) || links.any(|slow| slow) => {
                Decision::Missed
            }
            () if any(NodeState::Unverified) || doubted => Decision::Undecided,
            () => Decision::Met,
        }
    }
}

/// Returns the JSON schema of a fleet's report.
pub fn fleet_report_schema() -> schemars::Schema {
    schemars::schema_for!(FleetReport)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_state_sorts_first() {
        let mut sorted = NodeState::ALL;
        sorted.sort();
        assert_eq!(sorted, NodeState::ALL);
        assert_eq!(sorted[0].as_str(), "slow");
    }
}
