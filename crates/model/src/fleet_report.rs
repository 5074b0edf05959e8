//! Report of a fleet: nodes that are slow compared with their group, by how much and why, and
//! unverified nodes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Decision, FactId, FigureKind, FleetPlan, NodeFact, Params, Subsystem, Unit};

/// Version of the report's shape.
pub const FLEET_REPORT_SCHEMA: &str = "proofmark.fleet-report/1";

/// Nodes of a kind that can be compared with each other, at the least.
pub const FEWEST_NODES: usize = 4;

/// A fleet, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetReport {
    /// Always [`FLEET_REPORT_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// What was to be measured, where.
    pub plan: FleetPlan,
    /// Nodes of the same kind, the largest group first.
    pub groups: Vec<FleetGroup>,
    /// Every node of the plan, worst first.
    pub nodes: Vec<FleetNode>,
}

/// Nodes of the same kind, which are compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroup {
    /// What makes them a group: the facts that all of them share and that nodes of other groups may
    /// not.
    pub facts: Vec<NodeFact>,
    /// What differs from the largest group; empty for that one.
    pub differences: Vec<GroupDifference>,
    /// Its nodes by name, in the order of the plan.
    pub nodes: Vec<String>,
    /// Whether they are enough to be compared: 4 or more.
    pub comparable: bool,
    /// What they measured, in the order of the first screen of a run; attainable before delivered.
    pub figures: Vec<FleetFigure>,
    /// Results that nodes sent, with a value or with the reason why there is none, and that are not
    /// required since most nodes of the group lack them; null without any, or if they are not compared.
    pub not_judged: Option<NotJudged>,
    /// By node and round of pairs, the place of the node's partner in `nodes`; empty without pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partners: Vec<Vec<Option<u32>>>,
    /// Links that are slow, or may be, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<FleetLink>,
}

/// Two nodes between which the network is slow while both are as fast with others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetLink {
    /// Their places in [`FleetGroup::nodes`].
    pub nodes: [usize; 2],
    /// The figure at which it is slowest: its place in [`FleetGroup::figures`].
    pub figure: usize,
    /// Its speed as a share of the median of the group's pairs of the same round.
    pub ratio: f32,
    /// By round of the second pass, its speed as a share of that of its nodes with others.
    pub again: Vec<Option<f32>>,
    /// Whether the second pass shows it too. One that it shows to be as fast is not listed.
    pub confirmed: bool,
    /// How slow it is and why, in a sentence.
    pub cause: String,
}

/// Results that at least one node of a group sent and that are not required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotJudged {
    /// How many.
    pub results: u32,
    /// What the first ones are called, at most 3.
    pub titles: Vec<String>,
}

/// A fact that a group does not share with the largest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupDifference {
    /// What it is: `usable CPUs`.
    pub what: String,
    /// In this group.
    pub here: String,
    /// In the largest group.
    pub largest: String,
}

impl GroupDifference {
    /// Of instruction sets, which only one of the two has: `without avx512f and with fma4`. `None` of
    /// another fact.
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
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}

/// A figure of all nodes of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetFigure {
    /// Workload id.
    pub workload: String,
    /// Every parameter.
    pub params: Params,
    /// What a report calls it: `Triad, 2 CPUs`.
    pub title: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Base unit.
    pub unit: Unit,
    /// Whether its order is random: reports count such I/O of a disk in operations per second.
    #[serde(default)]
    pub random: bool,
    /// Which direction is good.
    pub better: Better,
    /// Attainable or delivered.
    pub kind: FigureKind,
    /// Whether most nodes of the group have it, so that each of them must.
    pub required: bool,
    /// Whether its margin is narrow enough to call a node level: it is required, and its margin is at
    /// most 15 %. A node may be slow at any figure that has a margin.
    pub judged: bool,
    /// Median over the rounds of the median over the group's nodes, in the unit; null where no round
    /// has one.
    pub median: Option<f64>,
    /// Standard deviation between the group's nodes, as a share: of the round that decides, the 7th
    /// of 8 from below; robust, and moderated by the other figures of the subsystem. Null where they
    /// are not compared, and for a figure that is not required.
    pub spread: Option<f64>,
    /// A round lies below the margin if its ratio is below 1 - margin. At least 2 %, and so large
    /// that chance makes a healthy fleet's node slow in 1 % of fleets at most; null where they are
    /// not compared, and for a figure that is not required.
    pub margin: Option<f64>,
    /// Each node's rounds, in the order of the group's nodes. A pair's rounds are those of both nodes.
    pub strips: Vec<FleetStrip>,
}

impl FleetFigure {
    /// Which result it is of: both its figures have the same.
    pub fn result(&self) -> (&str, &Params) {
        (&self.workload, &self.params)
    }
}

/// A node's rounds at a figure.
///
/// A ratio is the node's speed as a share of its group's median of the same round: below 1 is worse,
/// for times too. Ratios are rounded to 4 decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetStrip {
    /// By round of the first pass, of the network by round of pairs; null where there is none that
    /// counts.
    pub ratios: Vec<Option<f32>>,
    /// Their median; null without one.
    pub ratio: Option<f32>,
    /// Rounds that lie below the margin; 7 of 8 make it slow.
    pub below: u32,
    /// Rounds that count: with a ratio; where nodes are not compared, with a value.
    pub usable: u32,
    /// Median value in the unit; null where no round counts.
    pub value: Option<f64>,
    /// Median share of the ceiling; null where the other kind of figure is the headline.
    pub of_ceiling: Option<f32>,
    /// What follows.
    pub outcome: StripOutcome,
    /// By round of the second pass; empty where the node was not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Option<f32>>,
}

/// What a node's rounds at a figure say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StripOutcome {
    /// As fast as the group, or faster.
    Level,
    /// Slow in both passes.
    Slow,
    /// Slow in the first pass, with all nodes; the second, with few, does not show it, or was not
    /// made.
    SlowNotConfirmed,
    /// The figure is required and too few rounds count.
    TooFewRounds,
    /// Not slow, but the group's nodes differ too much at each figure of this result to say more.
    TooUneven,
    /// There is nothing to compare it with, the figure is not required, or another figure of the
    /// result is judged.
    NotJudged,
}

impl StripOutcome {
    /// Whether the first pass shows it to be slow.
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

/// What is said of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetNode {
    /// The node as the launcher calls it.
    pub name: String,
    /// What follows.
    pub state: NodeState,
    /// Its group's place in [`FleetReport::groups`]; null for a node that sent nothing.
    pub group: Option<usize>,
    /// Why it is in this state, a sentence each; empty for a healthy node.
    pub reasons: Vec<String>,
    /// What befell it all the same, a sentence each: a round of a healthy node that does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Of a slow node, how slow it is and why, in a sentence that starts with its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Figures at which it is slow, or slow and not confirmed, worst first.
    pub figures: Vec<NodeSlowAt>,
    /// Rounds of the first pass in which it sent a result.
    pub rounds: u32,
    /// The same of the second pass.
    pub rounds_again: u32,
}

/// A figure at which a node is slow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeSlowAt {
    /// Its place in [`FleetGroup::figures`].
    pub figure: usize,
    /// The node's speed as a share of its group's.
    pub ratio: f32,
    /// Whether the second pass shows it too.
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
    /// Too little data to call it healthy or slow; its reasons say what is missing.
    Unverified,
    /// The fleet has at most 3 nodes: none is compared. Shares of ceilings are shown.
    NotCompared,
    /// As fast as its group at every required figure.
    Healthy,
}

impl NodeState {
    /// All, worst first.
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
    /// unverified. Nodes that are not compared do not count: a fleet of up to 3 nodes has only these.
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

/// The JSON schema of a fleet's report.
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
