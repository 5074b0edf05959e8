//! The second pass at a figure: a node beside those of its group that were not slow; of the network its
//! pairs beside those of its partners.

use proofmark_model::{FigureKind, Pass};

use super::groups::Group;
use super::lines::{Figure, Lines};
use super::pairs::PairSpeeds;
use super::rule::{Ruled, RuledNode, median_ratio, rounded};
use crate::statistics::median;

/// Peers that a round needs.
const FEWEST_PEERS: usize = 2;

/// What the second pass shows of a figure's nodes.
pub(super) struct Again {
    /// By node of the group and round, its share of its group; empty where the node was not in it.
    ratios: Vec<Vec<Option<f32>>>,
    margin: Option<f64>,
}

impl Again {
    pub(super) fn new(
        lines: &Lines,
        group: &Group,
        number: u32,
        kind: FigureKind,
        ruled: &Ruled,
    ) -> Self {
        let ratios = match lines.figures[number as usize].key.pass() {
            Pass::Pairs => {
                let pairs = PairSpeeds::new(lines, number, kind);
                group.nodes.iter().map(|node| pairs.of_node(*node)).collect()
            }
            _ => {
                let speeds = Speeds::new(lines, group, number, kind, ruled);
                (0..group.nodes.len()).map(|node| speeds.ratios(node)).collect()
            }
        };
        Self { ratios, margin: ruled.margin }
    }

    /// By round, the node's share of its group; empty where it was not measured again.
    pub(super) fn ratios(&self, node: usize) -> Vec<Option<f32>> {
        self.ratios.get(node).cloned().unwrap_or_default()
    }

    /// Whether the node is slow by these as well.
    pub(super) fn confirms(&self, ratios: &[Option<f32>]) -> bool {
        let judged = self.margin.map(|margin| RuledNode::of(ratios.to_vec(), margin));
        judged.is_some_and(|node| node.slow)
    }
}

/// What the nodes of a group measured in the second pass.
struct Speeds {
    rounds: usize,
    /// By node of the group and round, as speeds; empty where the node was not in it.
    speeds: Vec<Vec<Option<f64>>>,
    /// By node of the group: its share of the group in the first pass, where it was not slow.
    peers: Vec<Option<f64>>,
}

impl Speeds {
    fn new(lines: &Lines, group: &Group, number: u32, kind: FigureKind, ruled: &Ruled) -> Self {
        let rounds = lines.plan.rounds as usize;
        let figure: &Figure = &lines.figures[number as usize];
        let of = |node: &usize| {
            let mut speeds = Vec::new();
            for (round, seen) in lines.nodes[*node].usable(Pass::Again) {
                speeds.resize(rounds, None);
                let value = seen.cell(number).and_then(|cell| cell.usable(kind));
                speeds[round] = value.map(|v| figure.key.speed(v)).filter(|v| v.is_finite());
            }
            speeds
        };
        let share =
            |node: &RuledNode| median_ratio(node.ratios.iter().flatten()).filter(|_| !node.slow);
        Self {
            rounds,
            speeds: group.nodes.iter().map(of).collect(),
            peers: ruled.nodes.iter().map(share).collect(),
        }
    }

    /// What a round shows of the group: the median over the peers, each as a share of what it had
    /// beside its group in the first pass.
    fn group(&self, round: usize, but: usize) -> Option<f64> {
        let peers = self.speeds.iter().zip(&self.peers).enumerate().filter(|(i, _)| *i != but);
        let of = |(_, (speeds, share)): (_, (&Vec<Option<f64>>, &Option<f64>))| {
            Some((*speeds.get(round)?)? / (*share)?)
        };
        let all: Vec<f64> = peers.filter_map(of).filter(|v| v.is_finite() && *v > 0.0).collect();
        median(&all).filter(|_| all.len() >= FEWEST_PEERS)
    }

    /// By round, the node's share of its group; empty where it was not measured again.
    fn ratios(&self, node: usize) -> Vec<Option<f32>> {
        let Some(own) = self.speeds.get(node).filter(|own| !own.is_empty()) else {
            return Vec::new();
        };
        let ratio = |round: usize| {
            let ratio = (own[round]? / self.group(round, node)?) as f32;
            (ratio.is_finite() && ratio > 0.0).then(|| rounded(ratio))
        };
        (0..self.rounds).map(ratio).collect()
    }
}
