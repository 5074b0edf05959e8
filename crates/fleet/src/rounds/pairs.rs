//! The network between nodes, in rounds of pairs of which each node is in one at most: after a round
//! robin every node of a group has measured with every other. Then the pairs that look slow once more,
//! and their nodes with others.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    FLEET_ROUNDS, FleetLine, NodeRound, Pairs, PairsAgain, Pass, RoundRobin, rounds_needed,
};

use super::{Coordinator, Unfinished};
use crate::log::unordered;
use crate::protocol::{Order, PairKey, Work};
use crate::subnet::Subnet;

/// What is asked of the network between nodes.
pub struct NetworkPass<'a> {
    /// With how many partners.
    pub pairs: Pairs,
    /// Only by addresses in it.
    pub subnet: Option<Subnet>,
    /// Makes a key.
    pub key: &'a dyn Fn() -> Result<String, String>,
    /// By the fleet's file, which nodes are compared with each other.
    pub groups: &'a dyn Fn() -> Result<Vec<Vec<String>>, String>,
    /// By the fleet's file, which pairs to measure again.
    pub again: &'a dyn Fn() -> Result<PairsAgain, String>,
}

/// How nodes reach each other, and how often they did.
#[derive(Default)]
pub(super) struct PairHistory {
    keys: BTreeMap<String, PairKey>,
    /// By node, the pairs of the first pass with a result.
    times: BTreeMap<String, usize>,
    /// Pairs that failed, the lesser name first.
    failed: BTreeSet<[String; 2]>,
}

impl PairHistory {
    /// A pair has a result.
    pub(super) fn add(&mut self, round: &NodeRound) {
        if let (Pass::Pairs, Some(partner)) = (round.pass, &round.partner) {
            self.add_pair([&round.node, partner]);
        }
    }

    /// A pair has none.
    pub(super) fn fail(&mut self, node: &str, partner: &str) {
        self.failed.insert(unordered([node, partner]));
    }

    fn has_failed(&self, pair: &[String; 2]) -> bool {
        self.failed.contains(&unordered(pair.each_ref().map(String::as_str)))
    }

    fn add_pair(&mut self, pair: [&str; 2]) {
        pair.into_iter().for_each(|node| *self.times.entry(node.to_owned()).or_default() += 1);
    }
}

impl Coordinator<'_> {
    /// Both passes over pairs, if the network is measured.
    pub(super) fn network_pass(&mut self) -> Result<(), Unfinished> {
        let Some(round_robin) = self.round_robin()? else { return Ok(()) };
        self.serve(&round_robin.groups.concat())?;
        for ([node, partner], has_result) in self.fleet.known.pairs() {
            match has_result {
                true => self.pairs.add_pair([node, partner]),
                false => self.pairs.fail(node, partner),
            }
        }
        for round in 1..=round_robin.rounds + RoundRobin::FURTHER {
            let of = |group: &Vec<String>| {
                let pairs = RoundRobin::pairs(group.len(), round).into_iter();
                pairs.map(|pair| pair.map(|place| group[place].clone())).collect::<Vec<_>>()
            };
            // Further rounds are for groups that lack some, and make up for a partner that was lost only.
            let is_planned = round <= round_robin.rounds;
            let groups = round_robin.groups.iter();
            let groups: Vec<_> =
                groups.filter(|g| is_planned || self.lacks(&round_robin, g)).collect();
            if groups.is_empty() {
                break;
            }
            let mut pairs: Vec<[String; 2]> = groups.into_iter().flat_map(of).collect();
            pairs.retain(|pair| is_planned || !self.pairs.has_failed(pair));
            self.round(Pass::Pairs, (round, round_robin.rounds.max(round)), pairs)?;
        }
        let again = self.again()?.rounds;
        let rounds = again.len() as u32;
        for (round, pairs) in (1..).zip(again) {
            self.round(Pass::PairsAgain, (round, rounds), pairs)?;
        }
        Ok(())
    }

    /// Who is to measure with whom: as the file says, if it does.
    fn round_robin(&mut self) -> Result<Option<RoundRobin>, Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(None) };
        if let Some(round_robin) = &self.fleet.known.round_robin {
            return Ok(Some(round_robin.clone()));
        }
        let groups = (network.groups)().map_err(Unfinished::Failed)?;
        let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
        if network.pairs == Pairs::All && largest > RoundRobin::MOST_ROUNDS as usize {
            let most = RoundRobin::MOST_ROUNDS;
            return Err(Unfinished::Failed(format!(
                "--pairs all: a group has {largest} nodes, more than {most}; name a number of partners \
                 such as --pairs 64"
            )));
        }
        let round_robin = RoundRobin { rounds: rounds(network.pairs, &groups), groups };
        self.keep(FleetLine::RoundRobin(round_robin.clone()))?;
        Ok(Some(round_robin))
    }

    /// Which pairs are measured again: as the file says, if it does.
    fn again(&mut self) -> Result<PairsAgain, Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(PairsAgain::default()) };
        if let Some(again) = &self.fleet.known.pairs_again {
            return Ok(again.clone());
        }
        let again = (network.again)().map_err(Unfinished::Failed)?;
        self.keep(FleetLine::PairsAgain(again.clone()))?;
        Ok(again)
    }

    /// Whether a node of a group has too few results since its partners were lost.
    fn lacks(&self, round_robin: &RoundRobin, group: &[String]) -> bool {
        let here = |node: &String| !self.gone.contains(node) && self.addresses.contains_key(node);
        let few = |(place, node): (usize, &String)| {
            let needed = rounds_needed(round_robin.planned(group.len(), place));
            here(node) && self.pairs.times.get(node).copied().unwrap_or(0) < needed
        };
        // Two are left to meet.
        group.iter().filter(|node| here(node)).count() > 1 && group.iter().enumerate().any(few)
    }

    /// Has all nodes answer others from now on.
    fn serve(&mut self, nodes: &[String]) -> Result<(), Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(()) };
        let (subnet, pass, round) = (network.subnet, Pass::Pairs, 1);
        let mut orders = Vec::new();
        for node in nodes.iter().filter(|node| !self.gone.contains(*node)) {
            let key = PairKey((network.key)().map_err(Unfinished::Failed)?);
            self.pairs.keys.insert(node.clone(), key.clone());
            let work = Work::Serve { key, subnet };
            orders.push(Order { nodes: vec![node.clone()], pass, round, work });
        }
        self.ask((pass, round), &orders)
    }

    /// A round, of which what is known from before is left out.
    fn round(
        &mut self,
        pass: Pass,
        (round, rounds): (u32, u32),
        mut pairs: Vec<[String; 2]>,
    ) -> Result<(), Unfinished> {
        let all = pairs.len();
        pairs.retain(|[client, server]| {
            !self.fleet.known.has_pair(pass, round, [client.as_str(), server.as_str()])
        });
        let at_once = self.fleet.plan.at_once.map_or(usize::MAX, |n| (n as usize / 2).max(1));
        let mut asked = all - pairs.len();
        for batch in disjoint(pairs, at_once) {
            let orders: Vec<Order> =
                batch.into_iter().filter_map(|pair| self.pair(pass, round, pair)).collect();
            asked += orders.len();
            self.ask((pass, round), &orders)?;
        }
        let again = if pass == Pass::PairsAgain { " second pass:" } else { "" };
        self.tell(&format!("[{round}/{rounds}]{again} asked {asked} of {all} pairs"));
        Ok(())
    }

    /// The order for a pair; `None` if one of its nodes is gone or does not serve.
    fn pair(&self, pass: Pass, round: u32, [client, partner]: [String; 2]) -> Option<Order> {
        let serves = |node: &String| self.addresses.get(node).filter(|_| !self.gone.contains(node));
        let (addresses, key) =
            (serves(&client).and(serves(&partner))?, self.pairs.keys.get(&partner)?);
        let (addresses, key, task) = (addresses.clone(), key.clone(), self.fleet.plan.task.clone());
        Some(Order {
            nodes: vec![client],
            pass,
            round,
            work: Work::Pair { partner, addresses, key, task },
        })
    }
}

/// How many rounds it takes until each node has measured with as many partners as asked. In a group of
/// an odd number of nodes one is left out in each round.
fn rounds(pairs: Pairs, groups: &[Vec<String>]) -> u32 {
    let of = |nodes: u32| {
        let each = match pairs {
            Pairs::Rounds(rounds) => rounds,
            Pairs::All => nodes.saturating_sub(1).max(*FLEET_ROUNDS.start()),
        };
        let left_out = |rounds: u32| if nodes % 2 == 1 { rounds.div_ceil(nodes) } else { 0 };
        (each..).find(|rounds| rounds - left_out(*rounds) >= each).unwrap_or(each)
    };
    groups
        .iter()
        .map(Vec::len)
        .filter(|nodes| *nodes > 1)
        .map(|nodes| of(nodes as u32))
        .max()
        .unwrap_or(0)
}

/// The pairs in batches, in each of which a node is in one pair at most.
fn disjoint(pairs: Vec<[String; 2]>, at_once: usize) -> Vec<Vec<[String; 2]>> {
    let mut batches: Vec<Vec<[String; 2]>> = Vec::new();
    for pair in pairs {
        let fits = |batch: &&mut Vec<[String; 2]>| {
            batch.len() < at_once && !batch.iter().flatten().any(|node| pair.contains(node))
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(pair),
            None => batches.push(vec![pair]),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|n| format!("n{n}")).collect()
    }

    #[test]
    fn nodes_measure_as_often_as_asked() {
        let rounds = |pairs, counts: &[usize]| {
            rounds(pairs, &counts.iter().map(|n| names(*n)).collect::<Vec<_>>())
        };
        assert_eq!(rounds(Pairs::Rounds(8), &[32]), 8);
        assert_eq!(rounds(Pairs::Rounds(8), &[33]), 9);
        assert_eq!(rounds(Pairs::Rounds(8), &[5]), 10);
        assert_eq!(rounds(Pairs::All, &[32]), 31);
        assert_eq!(rounds(Pairs::All, &[33, 4]), 33);
        assert_eq!(rounds(Pairs::All, &[4]), 8);
        assert_eq!(rounds(Pairs::All, &[1]), 0);
    }

    #[test]
    fn a_node_is_in_one_pair_of_a_batch() {
        let pair = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let all = vec![pair("a", "b"), pair("a", "c"), pair("c", "d"), pair("e", "f")];
        let batches = disjoint(all.clone(), usize::MAX);
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(disjoint(all, 1).len(), 4);
    }
}
