//! The second pass at a figure. A node is compared with those of its group that were not slow, for
//! the network its pairs with those of its partners.

use proofmark_model::{FigureKind, Pass};

use super::groups::Group;
use super::lines::{Figure, Lines};
use super::pairs::PairSpeeds;
use super::rule::{Ruled, RuledNode, median_ratio, rounded};
use crate::statistics::median;

/// Fewest peers of a usable round.
const FEWEST_PEERS: usize = 2;

/// Results of the second pass for the nodes of one figure.
pub(super) struct Again {
    /// Share of its group by node of the group and round; empty if the node was not in the pass.
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
                group.nodes.iter().map(|node| pairs.for_node(*node)).collect()
            }
            _ => {
                let speeds = Speeds::new(lines, group, number, kind, ruled);
                (0..group.nodes.len()).map(|node| speeds.ratios(node)).collect()
            }
        };
        Self { ratios, margin: ruled.margin }
    }

    /// Shares of its group by round; empty if the node was not measured again.
    pub(super) fn ratios(&self, node: usize) -> Vec<Option<f32>> {
        self.ratios.get(node).cloned().unwrap_or_default()
    }

    /// Returns true if the node is slow by these ratios as well.
    pub(super) fn confirms(&self, ratios: &[Option<f32>]) -> bool {
        let judged = self.margin.map(|margin| RuledNode::from_ratios(ratios.to_vec(), margin));
        judged.is_some_and(|node| node.slow)
    }
}

/// Speeds of the nodes of a group in the second pass.
struct Speeds {
    rounds: usize,
    /// Speed by node of the group and round; empty if the node was not in the pass.
    speeds: Vec<Vec<Option<f64>>>,
    /// Share of the group in the first pass by node of the group, if it was not slow.
    peers: Vec<Option<f64>>,
}

impl Speeds {
    fn new(lines: &Lines, group: &Group, number: u32, kind: FigureKind, ruled: &Ruled) -> Self {
        let rounds = lines.plan.rounds as usize;
        let figure: &Figure = &lines.figures[number as usize];
        let own_speeds = |node: &usize| {
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
            speeds: group.nodes.iter().map(own_speeds).collect(),
            peers: ruled.nodes.iter().map(share).collect(),
        }
    }

    /// Speed of the group in a round: the median over the peers, each divided by its share of the
    /// group in the first pass.
    fn group(&self, round: usize, but: usize) -> Option<f64> {
        let peers = self.speeds.iter().zip(&self.peers).enumerate().filter(|(i, _)| *i != but);
        let adjusted = |(_, (speeds, share)): (_, (&Vec<Option<f64>>, &Option<f64>))| {
            Some((*speeds.get(round)?)? / (*share)?)
        };
        let all: Vec<f64> =
            peers.filter_map(adjusted).filter(|v| v.is_finite() && *v > 0.0).collect();
        median(&all).filter(|_| all.len() >= FEWEST_PEERS)
    }

    /// Shares of its group by round; empty if the node was not measured again.
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
