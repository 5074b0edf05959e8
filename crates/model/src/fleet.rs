//! Many machines measured in rounds: the lines of a fleet's file, which a launcher appends as nodes
//! answer. All that is concluded follows from these lines alone.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, FigureKind, Params, Severity, Subsystem, TimeAccount, Timestamp, Tool, Unit, Verdict,
};

/// Version of the lines' shape.
pub const FLEET_SCHEMA: &str = "proofmark.fleet/1";

/// A line of a fleet's file. The first one is the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum FleetLine {
    /// What was to be measured, where.
    Plan(Box<FleetPlan>),
    /// What a node measured in a round.
    Round(Box<NodeRound>),
    /// A node without a result in a round, or from that round on.
    Failure(NodeFailure),
    /// Which nodes are to measure again.
    NodesAgain(NodesAgain),
    /// Who is to measure the network with whom.
    RoundRobin(RoundRobin),
    /// Which pairs are to do so again.
    PairsAgain(PairsAgain),
}

/// Rounds that a user may ask for: as many as decide, and as many as a fleet's file may have.
pub const FLEET_ROUNDS: RangeInclusive<u32> = 8..=64;

/// Of so many rounds, how many must count, and lie below the margin where a node is slow: 7 of 8; of
/// fewer all.
pub const fn rounds_needed(rounds: usize) -> usize {
    rounds - rounds / 8
}

/// What is to be measured, where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPlan {
    /// Always [`FLEET_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The launcher's program, which every node must have too.
    pub tool: Tool,
    /// When it began.
    pub started: Timestamp,
    /// How nodes are reached: `ssh`, `slurm` or `kubernetes`.
    pub launcher: String,
    /// What the user calls the fleet (`--label`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Every node by name; one that is missing in all lines was never heard of.
    pub nodes: Vec<String>,
    /// Rounds of the first pass, and of the second.
    pub rounds: u32,
    /// What each node measures in a round.
    pub task: FleetTask,
    /// Nodes that measure at the same time, where not all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// With how many partners each node measures the network; null: with none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// The subnet by which nodes reach each other; null: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
    /// What a test says of nodes that are no machines of their own; null for a real fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<String>,
}

/// What a node measures in a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetTask {
    /// Name of the profile.
    pub profile: String,
    /// Its text, where it is not a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_text: Option<String>,
    /// Longest time for a round, in seconds; null: the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// Folder whose disk is measured; null: one on a disk of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_path: Option<String>,
    /// Whether a disk that other nodes use too may be measured.
    #[serde(default)]
    pub shared_storage: bool,
}

/// With how many partners each node of a group measures the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// With so many, in as many rounds; of a small group with some of them several times.
    Rounds(u32),
    /// With every other node of its group.
    All,
}

/// Rounds of pairs, of which each node is in one at most: after a round robin every node of a group has
/// met every other. Of an odd number of nodes one is left out in each round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundRobin {
    /// Nodes that measure with each other, by name.
    pub groups: Vec<Vec<String>>,
    /// Rounds that are planned. Further ones make up for those whose partner was lost.
    pub rounds: u32,
}

impl RoundRobin {
    /// Rounds at the most.
    pub const MOST_ROUNDS: u32 = 1024;
    /// Rounds beyond the planned ones at the most.
    pub const FURTHER: u32 = 8;

    /// The pairs of a round of a group of so many nodes, by place, by the circle method: one node stays,
    /// the others move on by a place each round. The first node of a pair measures, which changes from
    /// round to round.
    pub fn pairs(nodes: usize, round: u32) -> Vec<[usize; 2]> {
        let seats = nodes + nodes % 2;
        if seats < 2 {
            return Vec::new();
        }
        let seat = |at: usize| Self::seat(seats - 1, round, at);
        let pairs = (0..seats / 2).map(|at| [seat(at), seat(seats - 1 - at)]);
        let met = pairs.filter(|pair| pair.iter().all(|node| *node < nodes));
        met.map(|[a, b]| if round.is_multiple_of(2) { [a, b] } else { [b, a] }).collect()
    }

    /// In how many of the planned rounds a node of a group of so many has a partner.
    pub fn planned(&self, nodes: usize, node: usize) -> usize {
        (1..=self.rounds).filter(|round| Self::left_out(nodes, *round) != Some(node)).count()
    }

    /// The node of an odd number that has no partner in a round: the empty seat has the moved-on place
    /// of the last one.
    fn left_out(nodes: usize, round: u32) -> Option<usize> {
        let moved = round as usize % nodes.max(1);
        let opposite = if moved == 0 { 0 } else { nodes - moved };
        (nodes % 2 == 1).then(|| Self::seat(nodes, round, opposite))
    }

    /// Who sits at a place in a round, of so many who move and one who stays at place 0.
    fn seat(others: usize, round: u32, at: usize) -> usize {
        let moved = round as usize % others;
        if at == 0 { 0 } else { 1 + (at - 1 + others - moved) % others }
    }
}

/// Which nodes measure once more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodesAgain {
    /// Those that looked slow, and some of their group.
    pub nodes: Vec<String>,
}

/// Which pairs measure once more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairsAgain {
    /// By round, in any order.
    pub rounds: Vec<Vec<[String; 2]>>,
}

/// Which time round.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// All nodes.
    First,
    /// The slow ones once more, with some of their group that are not.
    Again,
    /// The network between nodes, in pairs of which each node is in one at most.
    Pairs,
    /// The same of pairs that looked slow, and of their nodes with others.
    PairsAgain,
}

impl Pass {
    /// Whether its lines are of two nodes each.
    pub fn of_pairs(self) -> bool {
        matches!(self, Self::Pairs | Self::PairsAgain)
    }
}

/// What a node measured in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeRound {
    /// The node as the launcher calls it; of a pair the one that measured.
    pub node: String,
    /// The other node of a pair, which answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<String>,
    /// Which pass.
    pub pass: Pass,
    /// Round of the pass, from 1.
    pub round: u32,
    /// When it began, by the node's clock.
    pub started: Timestamp,
    /// The node's program.
    pub tool: Tool,
    /// The kernel's random id of its boot, where it is known: nodes that share one are one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// What the node is.
    pub facts: Vec<NodeFact>,
    /// Its results.
    pub figures: Vec<NodeFigure>,
    /// Where the time of all threads went.
    #[serde(default)]
    pub time_account: Option<TimeAccount>,
    /// Other programs that took time on its CPUs, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<String>,
    /// What of the profile it did not measure, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// A fact about a node: `CPU`, `AMD EPYC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFact {
    /// What it is.
    pub what: String,
    /// In words.
    pub value: String,
    /// Whether nodes that differ in it are of different groups.
    pub groups: bool,
}

/// One result of a node in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFigure {
    /// Workload id.
    pub workload: String,
    /// The workload's method: figures of different methods are not comparable.
    pub method: u32,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Every parameter.
    pub params: Params,
    /// What a report calls it: `Triad, 2 CPUs`.
    pub title: String,
    /// Base unit.
    pub unit: Unit,
    /// Whether its order is random: reports count such I/O of a disk in operations per second.
    #[serde(default)]
    pub random: bool,
    /// Which direction is good.
    pub better: Better,
    /// Which figure is the headline.
    pub headline: FigureKind,
    /// What the hardware does when it is left alone; null where that was not seen.
    pub attainable: Option<f64>,
    /// What the node got; null where it got nothing.
    pub delivered: Option<f64>,
    /// The most that it could show.
    pub ceiling: Option<f64>,
    /// Measured / ceiling.
    pub efficiency: Option<f64>,
    /// What limited it.
    pub bottleneck: Option<String>,
    /// What the checks found.
    pub findings: Vec<NodeFinding>,
    /// What they add up to.
    pub verdict: Verdict,
    /// Why there is no figure; null where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFinding {
    /// Id of the check.
    pub check: String,
    /// How much it weighs.
    pub severity: Severity,
    /// The cause, in one sentence.
    pub message: String,
}

/// A node without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFailure {
    /// The node as the launcher calls it.
    pub node: String,
    /// The node that it measured the network with, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<String>,
    /// Which pass.
    pub pass: Pass,
    /// Round of the pass, from 1.
    pub round: u32,
    /// What happened, in one sentence.
    pub reason: String,
    /// Whether it was asked no more.
    pub gone: bool,
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn seven_of_eight_rounds_are_needed() {
        assert_eq!([1, 3, 7, 8, 12, 16, 64].map(rounds_needed), [1, 3, 7, 7, 11, 14, 56]);
    }

    #[test]
    fn every_node_meets_every_other_and_none_is_in_two_pairs() {
        for nodes in 2..=12 {
            let rounds = (nodes + nodes % 2 - 1) as u32;
            let round_robin = RoundRobin { groups: Vec::new(), rounds };
            let mut met: BTreeMap<[usize; 2], u32> = BTreeMap::new();
            let mut measured = vec![0; nodes];
            for round in 1..=rounds {
                let pairs = RoundRobin::pairs(nodes, round);
                assert_eq!(pairs.len(), nodes / 2);
                assert_eq!(pairs.iter().flatten().collect::<BTreeSet<_>>().len(), nodes / 2 * 2);
                for [a, b] in pairs {
                    *met.entry([a.min(b), a.max(b)]).or_default() += 1;
                    (measured[a], measured[b]) = (measured[a] + 1, measured[b] + 1);
                }
            }
            assert_eq!(met.len(), nodes * (nodes - 1) / 2, "of {nodes} nodes");
            assert!(met.values().all(|times| *times == 1));
            for (node, times) in measured.into_iter().enumerate() {
                assert_eq!(round_robin.planned(nodes, node), times);
            }
        }
        assert!(RoundRobin::pairs(1, 1).is_empty() && RoundRobin::pairs(0, 1).is_empty());
    }
}
