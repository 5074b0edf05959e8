//! Pairs of nodes between which the network was measured: who met whom, and what the second pass shows.

use std::collections::HashMap;

use proofmark_model::{FigureKind, Pass};

use super::groups::Group;
use super::lines::{Lines, UsableRound};
use super::rule::rounded;
use crate::statistics::median;

/// What the second pass over pairs shows of a figure.
pub(super) struct PairSpeeds {
    rounds: usize,
    /// By round and nodes, as speeds.
    speeds: Vec<(usize, [usize; 2], f64)>,
}

impl PairSpeeds {
    pub(super) fn new(lines: &Lines, number: u32, kind: FigureKind) -> Self {
        let key = &lines.figures[number as usize].key;
        let speed = |seen: &UsableRound| {
            let value = seen.cell(number)?.usable(kind)?;
            Some(key.speed(value)).filter(|v| v.is_finite() && *v > 0.0)
        };
        let all = lines.pairs_again.iter();
        let speeds = all.filter_map(|((round, ends), seen)| Some((*round, *ends, speed(seen)?)));
        Self { rounds: lines.plan.rounds as usize, speeds: speeds.collect() }
    }

    /// By round, the node's share of its partner's speed with another; empty where it was not measured
    /// again.
    pub(super) fn of_node(&self, node: usize) -> Vec<Option<f32>> {
        self.ratios(
            |ends| ends.contains(&node),
            |ends, other| {
                let partner = ends.iter().find(|end| **end != node);
                !other.contains(&node) && partner.is_some_and(|partner| other.contains(partner))
            },
        )
    }

    /// By round, the link's share of its nodes' speeds with others.
    pub(super) fn of_link(&self, link: [usize; 2]) -> Vec<Option<f32>> {
        self.ratios(
            |ends| ends.iter().all(|end| link.contains(end)),
            |_, other| other.iter().filter(|end| link.contains(end)).count() == 1,
        )
    }

    /// By round, the median of those that are meant as a share of the median of those beside them.
    fn ratios(
        &self,
        is_meant: impl Fn([usize; 2]) -> bool,
        is_beside: impl Fn([usize; 2], [usize; 2]) -> bool,
    ) -> Vec<Option<f32>> {
        let mut out: Vec<Option<f32>> = Vec::new();
        for (round, ends, speed) in self.speeds.iter().filter(|(_, ends, _)| is_meant(*ends)) {
            out.resize(self.rounds, None);
            let others = self.speeds.iter().filter(|(r, o, _)| r == round && is_beside(*ends, *o));
            let others: Vec<f64> = others.map(|(.., speed)| *speed).collect();
            let ratio = median(&others).map(|other| rounded((speed / other) as f32));
            if let Some(place) = out.get_mut(*round) {
                // Of a node with several partners in a round the best one counts.
                *place = [*place, ratio].into_iter().flatten().max_by(f32::total_cmp);
            }
        }
        out
    }
}

/// By node of a group and round of pairs, the place of its partner in the group.
pub(super) fn partners(lines: &Lines, group: &Group) -> Vec<Vec<Option<u32>>> {
    let rounds = lines.rounds(Pass::Pairs);
    if rounds == 0 {
        return Vec::new();
    }
    let places: HashMap<usize, u32> =
        group.nodes.iter().zip(0..).map(|(node, place)| (*node, place)).collect();
    let of = |node: &usize| {
        let mut partners = vec![None; rounds];
        for (round, seen) in lines.nodes[*node].usable(Pass::Pairs) {
            partners[round] = seen.partner(*node).and_then(|other| places.get(&other).copied());
        }
        partners
    };
    group.nodes.iter().map(of).collect()
}
