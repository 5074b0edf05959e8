//! Selection of the nodes that measure the network with each other, and of the pairs that do so
//! again.
//!
//! In each round of the second pass a suspected node measures with another node of its group, and
//! that node with a third one. The two pairs are compared. Both nodes of a suspected link measure
//! with others, too.

use proofmark_model::{FleetLine, PairsAgain};

use super::groups::Group;
use super::strips::Judged;
use super::{Fleet, links};

/// Most nodes that are measured again: the slowest. In a large group, many pairs were disturbed in
/// their only round.
const MOST_NODES_AGAIN: usize = 32;
/// Most links that are measured again.
const MOST_LINKS_AGAIN: usize = 256;

/// Returns the groups of nodes that measure the network with each other.
pub fn pair_groups(lines: impl IntoIterator<Item = FleetLine>) -> Result<Vec<Vec<String>>, String> {
    let fleet = Fleet::judge(lines)?;
    let names = |group: &Group| {
        let here = group.nodes.iter().map(|node| &fleet.lines.nodes[*node]);
        here.filter(|node| !node.gone()).map(|node| node.name.clone()).collect()
    };
    Ok(fleet.groups.iter().map(names).collect())
}

/// Returns the pairs to measure again; none if nothing is slow.
pub fn pairs_again(lines: impl IntoIterator<Item = FleetLine>) -> Result<PairsAgain, String> {
    let fleet = Fleet::judge(lines)?;
    let all = fleet.groups.iter().zip(&fleet.judged);
    let suspects: Vec<SecondPassPairs> =
        all.map(|(g, judged)| SecondPassPairs::new(&fleet, g, judged)).collect();
    let name = |node: usize| fleet.lines.nodes[node].name.clone();
    let round = |round: usize| {
        let pairs = suspects.iter().flat_map(|suspects| suspects.pairs(round));
        pairs.map(|pair| pair.map(name)).collect::<Vec<_>>()
    };
    let rounds = (0..fleet.lines.plan.rounds as usize).map(round);
    Ok(PairsAgain { rounds: rounds.filter(|pairs| !pairs.is_empty()).collect() })
}

/// The nodes and links of a group that are measured again, by place in the plan.
struct SecondPassPairs {
    nodes: Vec<usize>,
    links: Vec<[usize; 2]>,
    /// Nodes that are not suspected.
    peers: Vec<usize>,
}

impl SecondPassPairs {
    fn new(fleet: &Fleet, group: &Group, judged: &Judged) -> Self {
        let network = judged.figures.iter().filter(|f| f.subsystem.info().has_server);
        let worst = |place: usize| {
            let strips = network.clone().map(|f| &f.strips[place]);
            let ratios = strips.filter(|s| s.outcome.is_slow()).filter_map(|s| s.ratio);
            ratios.min_by(f32::total_cmp)
        };
        let mut nodes: Vec<(f32, usize)> = (0..group.nodes.len())
            .filter_map(|place| Some((worst(place)?, group.nodes[place])))
            .collect();
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let slow: Vec<usize> = nodes.iter().map(|(_, node)| *node).collect();
        let links = links::all(&fleet.lines, group, judged);
        let links: Vec<[usize; 2]> = links
            .iter()
            .take(MOST_LINKS_AGAIN)
            .map(|l| l.nodes.map(|place| group.nodes[place]))
            .collect();
        let is_peer = |node: &usize| {
            !slow.contains(node)
                && !links.iter().flatten().any(|end| end == node)
                && fleet.lines.nodes[*node].can_pair()
        };
        let mut peers: Vec<usize> = group.nodes.iter().copied().filter(is_peer).collect();
        // If most nodes are ends of a suspected link, all that are not slow are peers.
        if peers.len() < 2 {
            let can = |node: &usize| !slow.contains(node) && fleet.lines.nodes[*node].can_pair();
            peers = group.nodes.iter().copied().filter(can).collect();
        }
        Self { nodes: slow.into_iter().take(MOST_NODES_AGAIN).collect(), links, peers }
    }

    /// The pairs of a round, each once.
    fn pairs(&self, round: usize) -> Vec<[usize; 2]> {
        let mut all: Vec<[usize; 2]> = Vec::new();
        let mut add = |a: usize, b: Option<usize>| {
            let pair = b
                .filter(|b| *b != a)
                .map(|b| if round.is_multiple_of(2) { [a, b] } else { [b, a] });
            let new = |pair: &[usize; 2]| !all.contains(pair) && !all.contains(&[pair[1], pair[0]]);
            if let Some(pair) = pair.filter(new) {
                all.push(pair);
            }
        };
        // Another peer than these, a different one in each round.
        let peer = |at: usize, but: [usize; 2]| {
            let peers: Vec<usize> =
                self.peers.iter().copied().filter(|peer| !but.contains(peer)).collect();
            peers.get((at + round) % peers.len().max(1)).copied()
        };
        for (at, node) in self.nodes.iter().copied().enumerate() {
            let partner = peer(2 * at, [node; 2]);
            add(node, partner);
            if let Some(partner) = partner {
                add(partner, peer(2 * at + 1, [node, partner]));
            }
        }
        for (at, link) in self.links.iter().copied().enumerate() {
            let [a, b] = link;
            add(a, Some(b));
            add(a, peer(2 * at, link));
            add(b, peer(2 * at + 1, link));
        }
        all
    }
}
