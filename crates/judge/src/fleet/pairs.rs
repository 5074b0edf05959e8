//! Pairs of nodes between which the network was measured: their partners, and the results of the
//! second pass.

use std::collections::HashMap;

use proofmark_model::{FigureKind, Pass};

use super::groups::Group;
use super::lines::{Lines, UsableRound};
use super::rule::rounded;
use crate::statistics::median;

/// Speeds of the second pass over pairs, for one figure.
pub(super) struct PairSpeeds {
    rounds: usize,
    /// Round, nodes and speed.
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

    /// Shares by round: the node's speed with a partner over that partner's speed with another
    /// node. Empty if it was not measured again.
    pub(super) fn for_node(&self, node: usize) -> Vec<Option<f32>> {
        self.ratios(
            |ends| ends.contains(&node),
            |ends, other| {
                let partner = ends.iter().find(|end| **end != node);
                !other.contains(&node) && partner.is_some_and(|partner| other.contains(partner))
            },
        )
    }

    /// Shares by round: the link's speed over its nodes' speeds with others.
    pub(super) fn for_link(&self, link: [usize; 2]) -> Vec<Option<f32>> {
        self.ratios(
            |ends| ends.iter().all(|end| link.contains(end)),
            |_, other| other.iter().filter(|end| link.contains(end)).count() == 1,
        )
    }

    /// Ratios by round: the speed of selected pairs over the median of those that they are compared
    /// with.
    fn ratios(
        &self,
        is_selected: impl Fn([usize; 2]) -> bool,
        is_reference: impl Fn([usize; 2], [usize; 2]) -> bool,
    ) -> Vec<Option<f32>> {
        let mut out: Vec<Option<f32>> = Vec::new();
        for (round, ends, speed) in self.speeds.iter().filter(|(_, ends, _)| is_selected(*ends)) {
            out.resize(self.rounds, None);
            let others =
                self.speeds.iter().filter(|(r, o, _)| r == round && is_reference(*ends, *o));
            let others: Vec<f64> = others.map(|(.., speed)| *speed).collect();
            let ratio = median(&others).map(|other| rounded((speed / other) as f32));
            if let Some(place) = out.get_mut(*round) {
                // With several partners in a round the best one counts.
                *place = [*place, ratio].into_iter().flatten().max_by(f32::total_cmp);
            }
        }
        out
    }
}

/// Places of the partners in the group, by node and round of pairs.
pub(super) fn partners(lines: &Lines, group: &Group) -> Vec<Vec<Option<u32>>> {
    let rounds = lines.rounds(Pass::Pairs);
    if rounds == 0 {
        return Vec::new();
    }
    let places: HashMap<usize, u32> =
        group.nodes.iter().zip(0..).map(|(node, place)| (*node, place)).collect();
    let partners = |node: &usize| {
        let mut partners = vec![None; rounds];
        for (round, seen) in lines.nodes[*node].usable(Pass::Pairs) {
            partners[round] = seen.partner(*node).and_then(|other| places.get(&other).copied());
        }
        partners
    };
    group.nodes.iter().map(partners).collect()
}
