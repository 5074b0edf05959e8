//! Many machines measured in rounds: the lines of a fleet's file. The launcher appends them as
//! nodes answer. All conclusions follow from these lines alone.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, FigureKind, Params, Program, Reliance, Severity, Subsystem, TimeAccount, Timestamp,
    Tool, Unit, Verdict,
};

/// Version of the lines' shape.
pub const FLEET_SCHEMA: &str = "proofmark.fleet/1";

/// A line of a fleet's file. The first one is the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum FleetLine {
    /// The plan: measurements and nodes.
    Plan(Box<FleetPlan>),
    /// The results of a node in a round.
    Round(Box<NodeRound>),
    /// A node without a result in a round, or from that round on.
    Failure(NodeFailure),
    /// Nodes that are to measure everything again, such as repaired ones: their earlier lines of
    /// every pass do not count.
    MeasureAgain(NodesAgain),
    /// The nodes of the second pass. A later such line replaces it: earlier results of the second
    /// pass of other nodes do not count.
    NodesAgain(NodesAgain),
    /// The nodes that are to measure the network in pairs.
    RoundRobin(RoundRobin),
    /// The pairs that are to measure again.
    PairsAgain(PairsAgain),
}

/// Rounds that a user may request: from the fewest that decide to the most that a fleet's file may
/// have.
pub const FLEET_ROUNDS: RangeInclusive<u32> = 8..=64;

/// Returns how many of these rounds must count, and must lie below the margin for a slow node: 7 of
/// 8; of fewer all.
pub const fn rounds_needed(rounds: usize) -> usize {
    rounds - rounds / 8
}

/// The plan of a fleet: measurements and nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPlan {
    /// Always [`FLEET_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The launcher's program, which every node must have too.
    pub tool: Tool,
    /// Start time.
    pub started: Timestamp,
    /// The launcher: `ssh`, `slurm` or `kubernetes`.
    pub launcher: String,
    /// The user's name for the fleet (`--label`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Every node by name. A node that no line mentions never answered.
    pub nodes: Vec<String>,
    /// Rounds of the first pass, and of the second.
    pub rounds: u32,
    /// The task of each node in a round.
    pub task: FleetTask,
    /// Number of nodes that measure at the same time, where not all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Partners with which each node measures the network; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// The subnet by which nodes reach each other; null: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
    /// A test's description of nodes that are no machines of their own; null for a real fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<String>,
}

/// The task of a node in a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetTask {
    /// Name of the profile.
    pub profile: String,
    /// Text of the profile, where it is not a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_text: Option<String>,
    /// Longest time for a round, in seconds; null: the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// Folder whose disk is measured; null: one on a disk of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_path: Option<String>,
    /// True if a disk that other nodes use too may be measured.
    #[serde(default)]
    pub shared_storage: bool,
}

/// The number of partners with which each node of a group measures the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// A number of partners, one per round. Nodes of a small group meet some of them several times.
    Rounds(u32),
    /// Every other node of the group.
    All,
}

/// Rounds of pairs in which each node is in at most one pair. After a round robin every node of a
/// group has met every other. With an odd number of nodes, each round leaves one out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundRobin {
    /// Nodes that measure with each other, by name.
    pub groups: Vec<Vec<String>>,
    /// Number of planned rounds. Further rounds replace those whose partner was lost.
    pub rounds: u32,
}

impl RoundRobin {
    /// Maximum number of rounds.
    pub const MAX_ROUNDS: u32 = 1024;
    /// Maximum number of rounds beyond the planned ones.
    pub const FURTHER: u32 = 8;

    /// Returns the pairs of a round in a group of `nodes`, by place, by the circle method. One node
    /// stays, the others move on by a place each round. The first node of a pair measures; the
    /// order alternates.
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

    /// Returns true if a node is in a group.
    pub fn has(&self, node: &str) -> bool {
        self.groups.iter().flatten().any(|name| name == node)
    }

    /// Returns in how many of the planned rounds a node of a group of `nodes` has a partner.
    pub fn planned(&self, nodes: usize, node: usize) -> usize {
        (1..=self.rounds).filter(|round| Self::left_out(nodes, *round) != Some(node)).count()
    }

    /// Returns the node of an odd number that has no partner in a round: it sits opposite the empty
    /// seat.
    fn left_out(nodes: usize, round: u32) -> Option<usize> {
        let moved = round as usize % nodes.max(1);
        let opposite = if moved == 0 { 0 } else { nodes - moved };
        (nodes % 2 == 1).then(|| Self::seat(nodes, round, opposite))
    }

    /// Returns the node at a place in a round: node 0 stays at place 0, the `others` move.
    fn seat(others: usize, round: u32, at: usize) -> usize {
        let moved = round as usize % others;
        if at == 0 { 0 } else { 1 + (at - 1 + others - moved) % others }
    }
}

/// Nodes that measure once more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodesAgain {
    /// The nodes by name; in a second pass those that looked slow, and some of their group.
    pub nodes: Vec<String>,
    /// Time when a user asked for it, by the launcher's clock; null for a second pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// The pairs that measure once more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairsAgain {
    /// Pairs by round, in any order.
    pub rounds: Vec<Vec<[String; 2]>>,
}

/// The pass of a round.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// The first pass: all nodes.
    First,
    /// The second pass: nodes that looked slow, with some of their group that did not.
    Again,
    /// The network between nodes, in pairs. Each node is in at most one pair at a time.
    Pairs,
    /// The second pass of the network: pairs that looked slow, and their nodes with others.
    PairsAgain,
}

impl Pass {
    /// Returns true if two nodes share each line of the pass.
    pub fn of_pairs(self) -> bool {
        matches!(self, Self::Pairs | Self::PairsAgain)
    }
}

/// The results of a node in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeRound {
    /// The node as the launcher calls it; of a pair the one that measured.
    pub node: String,
    /// The other node of a pair, the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<String>,
    /// The pass.
    pub pass: Pass,
    /// Round of the pass, from 1.
    pub round: u32,
    /// Start time, by the node's clock.
    pub started: Timestamp,
    /// The node's program.
    pub tool: Tool,
    /// The kernel's random id of the node's boot, where it is known: nodes that share one are one
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The facts about the node.
    pub facts: Vec<NodeFact>,
    /// The node's results.
    pub figures: Vec<NodeFigure>,
    /// The account of all threads' time.
    #[serde(default)]
    pub time_account: Option<TimeAccount>,
    /// Amounts that limits grant it.
    #[serde(default)]
    pub limits: NodeLimits,
    /// Other programs that used the node's CPUs, most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// CPU time of all other programs as a share of that of one CPU; null where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs_of_one_cpu: Option<f64>,
    /// The part of the profile that the node did not measure, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Amounts that limits grant a node; null: no limit, or an unknown one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NodeLimits {
    /// CPUs of the quota.
    pub cpus: Option<f64>,
    /// Bytes per second read, the lowest of its devices.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes per second written, likewise.
    pub write_bytes_per_s: Option<f64>,
    /// Reads per second, likewise.
    pub reads_per_s: Option<f64>,
    /// Writes per second, likewise.
    pub writes_per_s: Option<f64>,
}

/// A fact about a node: `CPU`, `AMD EPYC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFact {
    /// Name of the fact.
    pub what: String,
    /// Value in words.
    pub value: String,
    /// True if nodes that differ in it are in different groups.
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
    /// Title in reports: `Triad, 2 CPUs`.
    pub title: String,
    /// Base unit.
    pub unit: Unit,
    /// True if the order is random: reports count such disk I/O in operations per second.
    #[serde(default)]
    pub random: bool,
    /// The better direction.
    pub better: Better,
    /// The kind of the headline.
    pub headline: FigureKind,
    /// The attainable figure; null where it was not seen.
    pub attainable: Option<f64>,
    /// The delivered figure; null where there is none.
    pub delivered: Option<f64>,
    /// The theoretical limit.
    pub ceiling: Option<f64>,
    /// The share by which a figure may exceed the ceiling; null: an older file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_margin: Option<f64>,
    /// Headline / ceiling; null where the ceiling is too vague.
    pub efficiency: Option<f64>,
    /// The reliance that a share of the ceiling deserves; left out for a known ceiling.
    #[serde(default, skip_serializing_if = "Reliance::is_known")]
    pub reliance: Reliance,
    /// The resource that limited the result.
    pub bottleneck: Option<String>,
    /// Findings of the checks.
    pub findings: Vec<NodeFinding>,
    /// The verdict that follows.
    pub verdict: Verdict,
    /// Reason why there is no figure; null where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFinding {
    /// Id of the check.
    pub check: String,
    /// Weight.
    pub severity: Severity,
    /// The cause, in one sentence.
    pub message: String,
}

/// A node without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFailure {
    /// The node as the launcher calls it.
    pub node: String,
    /// The other node of the pair, if it was to measure the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<String>,
    /// The pass.
    pub pass: Pass,
    /// Round of the pass, from 1.
    pub round: u32,
    /// The event, in one sentence.
    pub reason: String,
    /// True if the launcher asked the node no more.
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
