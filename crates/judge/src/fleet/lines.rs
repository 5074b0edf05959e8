//! The lines of a fleet's file, reduced to the judged parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proofmark_model::{
    Better, FLEET_ROUNDS, FigureKind, FleetPlan, NodeFact, NodeLimits, Params, Pass, Reliance,
    RoundRobin, Severity, Subsystem, TimeAccount, Timestamp, UnfinishedPass, Unit,
};

/// The lines of a fleet.
pub(super) struct Lines {
    pub(super) plan: FleetPlan,
    /// Every figure that a node sent.
    pub(super) figures: Vec<Figure>,
    /// Nodes by place in the plan.
    pub(super) nodes: Vec<Node>,
    /// Pairs of the second pass, by round from 0 and the places of their nodes, the lower first.
    pub(super) pairs_again: BTreeMap<(usize, [usize; 2]), Arc<UsableRound>>,
    /// The nodes of each boot id.
    pub(super) boots: BTreeMap<Arc<str>, BTreeSet<usize>>,
    /// The nodes of the second pass; `None` if it was not decided.
    pub(super) nodes_again: Option<BTreeSet<String>>,
    /// True if the pairs of the second pass were decided.
    pub(super) pairs_decided: bool,
    /// The planned pairs of the network; `None` if it was not begun.
    pub(super) round_robin: Option<RoundRobin>,
}

impl Lines {
    /// Another node with the same boot id, hence on the same machine. `None` on a testbed, where
    /// all nodes are.
    pub(super) fn same_machine(&self, place: usize) -> Option<&str> {
        let all = self.boots.get(self.nodes[place].boot_id.as_ref()?)?;
        let other = all.iter().find(|node| **node != place && self.plan.testbed.is_none())?;
        Some(&self.nodes[*other].name)
    }

    /// The pass over nodes that lacks rounds of some that were not given up; `None` if there is none.
    pub(super) fn unfinished(&self) -> Option<UnfinishedPass> {
        let planned = self.plan.rounds;
        let complete =
            |pass: Pass, node: &Node| node.outcomes(pass).iter().flatten().count() as u32;
        let unfinished = |pass: Pass, rounds: Option<u32>| {
            let rounds = rounds.filter(|rounds| *rounds < planned)?;
            Some(UnfinishedPass { pass, rounds, planned })
        };
        let here = || self.nodes.iter().filter(|node| !node.gone());
        match &self.nodes_again {
            None => unfinished(Pass::First, here().map(|node| complete(Pass::First, node)).min()),
            Some(names) => {
                let again = here().filter(|node| names.contains(&node.name));
                unfinished(Pass::Again, again.map(|node| complete(Pass::Again, node)).min())
            }
        }
    }

    /// Number of rounds of the pass in which a figure is measured first.
    pub(super) fn rounds(&self, pass: Pass) -> usize {
        match pass {
            Pass::Pairs => self.nodes.iter().map(|node| node.pairs.len()).max().unwrap_or(0),
            _ => self.plan.rounds as usize,
        }
    }

    /// Returns true if a pair failed because of its other node.
    pub(super) fn is_partners_fault(&self, node: usize, turn: &RoundOutcome) -> bool {
        let RoundOutcome::Failed(_, _, Some(ends)) = turn else { return false };
        self.is_others_fault(node, *ends)
    }

    /// Returns true if the other node of a failed pair is gone, or failed with several, and with
    /// more than this one.
    pub(super) fn is_others_fault(&self, node: usize, ends: [usize; 2]) -> bool {
        let Some(partner) = ends.into_iter().find(|end| *end != node) else { return false };
        let count = |node: usize| self.nodes[node].failed_with().len();
        self.nodes[partner].gone() || count(partner) > count(node).max(1)
    }

    /// Number of planned rounds of a node in a figure's first pass. A round robin of an odd number
    /// of nodes leaves it out of some.
    pub(super) fn planned(&self, node: usize, pass: Pass) -> usize {
        /// Fewest planned rounds.
        const LEAST: usize = *FLEET_ROUNDS.start() as usize;
        if pass != Pass::Pairs {
            return self.plan.rounds as usize;
        }
        let name = &self.nodes[node].name;
        let round_robin = self.round_robin.iter();
        let place = |group: &Vec<String>| group.iter().position(|other| other == name);
        let mut planned = round_robin.flat_map(|round_robin| {
            let groups = round_robin.groups.iter();
            groups.filter_map(move |g| Some(round_robin.planned(g.len(), place(g)?)))
        });
        planned.next().unwrap_or(0).max(LEAST)
    }
}

/// Identity of a figure across nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) workload: String,
    pub(super) params: Params,
    pub(super) method: u32,
    pub(super) subsystem: Subsystem,
    pub(super) unit: Unit,
    pub(super) random: bool,
    pub(super) better: Better,
}

impl Key {
    /// Returns true if it is measured by the method of most nodes.
    pub(super) fn is_usual(&self, methods: &BTreeMap<String, u32>) -> bool {
        methods.get(&self.workload) == Some(&self.method)
    }

    /// The pass in which it is measured first.
    pub(super) fn pass(&self) -> Pass {
        if self.subsystem.info().has_server { Pass::Pairs } else { Pass::First }
    }

    /// Converts a value into a speed, and a speed into a value: a time becomes operations per
    /// second.
    pub(super) fn speed(&self, value: f64) -> f64 {
        match self.better {
            Better::Higher => value,
            Better::Lower => 1.0 / value,
        }
    }
}

/// A figure that nodes sent.
pub(super) struct Figure {
    pub(super) key: Arc<Key>,
    /// First place in a line.
    pub(super) place: usize,
    /// Number of lines by title.
    pub(super) titles: BTreeMap<Arc<str>, u32>,
    /// Lines in which the attainable figure is not the headline, and in which it is.
    pub(super) headlines: [u32; 2],
}

impl Figure {
    /// The title in most lines.
    pub(super) fn title(&self) -> &str {
        let most = self.titles.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map_or("", |(title, _)| title)
    }

    /// Returns true if the attainable figure is the headline in most lines.
    pub(super) fn attainable_first(&self) -> bool {
        self.headlines[1] > self.headlines[0]
    }
}

/// A node's lines.
#[derive(Default)]
pub(super) struct Node {
    /// Place in the plan.
    pub(super) place: usize,
    pub(super) name: String,
    /// Boot id that it sent last.
    pub(super) boot_id: Option<Arc<str>>,
    /// Time when it was asked to measure everything again.
    pub(super) asked_again: Option<Timestamp>,
    pub(super) first: Vec<Option<RoundOutcome>>,
    pub(super) again: Vec<Option<RoundOutcome>>,
    /// Outcomes by round of pairs; `None` in a round in which it was in no pair.
    pub(super) pairs: Vec<Option<RoundOutcome>>,
    /// Failures of this node alone in passes over pairs.
    pub(super) lost: Vec<Lost>,
    /// Failures of its pairs in the second pass: reason, the places of both nodes, and the round.
    pub(super) failed_again: Vec<(Arc<str>, [usize; 2], u32)>,
}

/// A failure of a node alone in a pass over pairs.
pub(super) struct Lost {
    pub(super) reason: Arc<str>,
    /// Place of the node that it was to measure with.
    pub(super) partner: Option<usize>,
    pub(super) pass: Pass,
    pub(super) round: u32,
    /// True if it was not asked again.
    pub(super) gone: bool,
}

/// Outcome of a node in a round.
#[derive(Clone)]
pub(super) enum RoundOutcome {
    /// A usable line; that of a pair counts for both nodes.
    Usable(Arc<UsableRound>),
    /// Failed, with the reason, true if the node was not asked again, and the pair.
    Failed(Arc<str>, bool, Option<[usize; 2]>),
    /// A line that does not count.
    Refused(Arc<str>),
}

impl RoundOutcome {
    /// The places of the nodes of a pair.
    pub(super) fn ends(&self) -> Option<[usize; 2]> {
        match self {
            Self::Usable(seen) => seen.ends,
            Self::Failed(_, _, ends) => *ends,
            Self::Refused(_) => None,
        }
    }
}

/// A line that counts.
pub(super) struct UsableRound {
    /// Places of the nodes of a pair, first the one that measured.
    pub(super) ends: Option<[usize; 2]>,
    pub(super) facts: Arc<Vec<NodeFact>>,
    /// Results, sorted by the number of the figure.
    pub(super) cells: Box<[Cell]>,
    pub(super) time: Option<TimeAccount>,
    pub(super) limits: NodeLimits,
    /// Other programs with their shares of one CPU.
    pub(super) programs: Box<[(Arc<str>, f64)]>,
    /// The share of all other programs.
    pub(super) programs_of_one_cpu: Option<f64>,
    pub(super) left_out: Option<Arc<str>>,
}

/// A result.
pub(super) struct Cell {
    pub(super) figure: u32,
    pub(super) attainable: Option<f64>,
    pub(super) delivered: Option<f64>,
    pub(super) ceiling: Option<f64>,
    /// Share of the ceiling of the figure that comes first: attainable, else delivered.
    pub(super) efficiency: Option<f32>,
    pub(super) reliance: Reliance,
    pub(super) invalid: bool,
    pub(super) missing: Option<Arc<str>>,
    pub(super) bottleneck: Option<Arc<str>>,
    pub(super) findings: Box<[Found]>,
}

/// A finding.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) check: Arc<str>,
    pub(super) severity: Severity,
    pub(super) message: Arc<str>,
}

impl Cell {
    /// The value, if there is one, even an invalid one.
    pub(super) fn value(&self, kind: FigureKind) -> Option<f64> {
        match kind {
            FigureKind::Attainable => self.attainable,
            _ => self.delivered,
        }
    }

    /// The value, if it is usable.
    pub(super) fn usable(&self, kind: FigureKind) -> Option<f64> {
        self.value(kind).filter(|v| !self.invalid && *v > 0.0)
    }
}

impl UsableRound {
    /// The other node of a pair.
    pub(super) fn partner(&self, node: usize) -> Option<usize> {
        self.ends?.into_iter().find(|end| *end != node)
    }

    pub(super) fn cell(&self, figure: u32) -> Option<&Cell> {
        let at = self.cells.binary_search_by_key(&figure, |cell| cell.figure).ok()?;
        self.cells.get(at)
    }
}

impl Node {
    /// Returns true if it was not asked again after a failure.
    pub(super) fn gone(&self) -> bool {
        let turns = self.first.iter().chain(&self.again).flatten();
        let mut own = turns.filter_map(|turn| match turn {
            RoundOutcome::Failed(_, gone, _) => Some(*gone),
            _ => None,
        });
        own.any(|gone| gone) || self.lost.iter().any(|lost| lost.gone)
    }

    /// Nodes with which it failed to measure the network, in either pass.
    fn failed_with(&self) -> BTreeSet<usize> {
        let ends = self.pairs.iter().flatten().filter_map(|turn| match turn {
            RoundOutcome::Failed(_, _, ends) => *ends,
            _ => None,
        });
        let again = self.failed_again.iter().map(|(_, ends, _)| *ends);
        ends.chain(again).flatten().filter(|end| *end != self.place).collect()
    }

    pub(super) fn outcomes(&self, pass: Pass) -> &[Option<RoundOutcome>] {
        match pass {
            Pass::First => &self.first,
            Pass::Again => &self.again,
            Pass::Pairs => &self.pairs,
            // A round has several pairs of a node, so no single outcome.
            Pass::PairsAgain => &[],
        }
    }

    /// Facts that it sent with its last pair as the measuring node.
    pub(super) fn facts_in_pairs(&self) -> Option<&Arc<Vec<NodeFact>>> {
        let own = self
            .usable(Pass::Pairs)
            .filter(|(_, seen)| seen.ends.map(|e| e[0]) == Some(self.place));
        own.map(|(_, seen)| &seen.facts).last()
    }

    /// Limits that it sent last, with its own results or as the measuring node of a pair.
    pub(super) fn limits(&self, in_pairs: bool) -> Option<NodeLimits> {
        let pass = if in_pairs { Pass::Pairs } else { Pass::First };
        let is_own = |seen: &UsableRound| seen.ends.is_none_or(|ends| ends[0] == self.place);
        self.usable(pass).filter(|(_, seen)| is_own(seen)).map(|(_, seen)| seen.limits).last()
    }

    /// Returns true if it measured the network with others, and can do so again.
    pub(super) fn can_pair(&self) -> bool {
        !self.gone() && self.lost.is_empty() && self.usable(Pass::Pairs).next().is_some()
    }

    /// Number of nodes with which it measured the network.
    pub(super) fn partners(&self) -> usize {
        let ends = self.usable(Pass::Pairs).filter_map(|(_, seen)| seen.ends);
        // The ends include this node.
        ends.flatten().collect::<BTreeSet<usize>>().len().saturating_sub(1)
    }

    /// Usable lines of both first passes.
    pub(super) fn usable_first(&self) -> impl Iterator<Item = &UsableRound> {
        self.usable(Pass::First).chain(self.usable(Pass::Pairs)).map(|(_, seen)| seen)
    }

    /// Usable lines of a pass, with their round from 0.
    pub(super) fn usable(&self, pass: Pass) -> impl Iterator<Item = (usize, &UsableRound)> {
        self.outcomes(pass).iter().enumerate().filter_map(|(round, turn)| match turn {
            Some(RoundOutcome::Usable(seen)) => Some((round, &**seen)),
            _ => None,
        })
    }
}
