//! Network between nodes, in rounds of pairs with each node in at most one. A round robin covers
//! all pairs of a group. Then pairs that look slow are measured again, and their nodes with others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use proofmark_model::{
    FLEET_ROUNDS, FleetLine, NodeRound, Pairs, PairsAgain, Pass, RoundRobin, rounds_needed,
};

use super::{Coordinator, Unfinished, time_left, turns};
use crate::log::unordered;
use crate::protocol::{NodeTask, Order, PairKey};
use crate::subnet::Subnet;

/// Request to measure the network between nodes.
pub struct NetworkPass<'a> {
    /// Number of partners per node.
    pub pairs: Pairs,
    /// Subnet to which addresses are limited.
    pub subnet: Option<Subnet>,
    /// Creates a key.
    pub key: &'a dyn Fn() -> Result<String, String>,
    /// Returns the groups of comparable nodes, from the fleet's file.
    pub groups: &'a dyn Fn() -> Result<Vec<Vec<String>>, String>,
    /// Returns the pairs of the second pass, from the fleet's file.
    pub again: &'a dyn Fn() -> Result<PairsAgain, String>,
}

/// Keys of the nodes' servers, and results and failures of pairs.
#[derive(Default)]
pub(super) struct PairHistory {
    keys: BTreeMap<String, PairKey>,
    /// Results of pairs in the first pass, by node.
    times: BTreeMap<String, usize>,
    /// Pairs that failed; the smaller name is first.
    failed: BTreeSet<[String; 2]>,
    /// Number and seconds of the batches of pairs that were measured.
    measured: (u32, f64),
}

impl PairHistory {
    /// Counts the result of a pair.
    pub(super) fn add(&mut self, round: &NodeRound) {
        if let (Pass::Pairs, Some(partner)) = (round.pass, &round.partner) {
            self.add_pair([&round.node, partner]);
        }
    }

    /// Records the failure of a pair.
    pub(super) fn fail(&mut self, node: &str, partner: &str) {
        self.failed.insert(unordered([node, partner]));
    }

    /// Returns the expected seconds of a batch of pairs: the mean of those measured, else nothing.
    fn seconds_each(&self) -> Option<f64> {
        let (batches, seconds) = self.measured;
        (batches > 0).then(|| seconds / f64::from(batches))
    }

    fn has_failed(&self, pair: &[String; 2]) -> bool {
        self.failed.contains(&unordered(pair.each_ref().map(String::as_str)))
    }

    fn add_pair(&mut self, pair: [&str; 2]) {
        pair.into_iter().for_each(|node| *self.times.entry(node.to_owned()).or_default() += 1);
    }
}

impl Coordinator<'_> {
    /// Measures both passes over pairs, if the network was requested.
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
            let pairs_of = |group: &Vec<String>| {
                let pairs = RoundRobin::pairs(group.len(), round).into_iter();
                pairs.map(|pair| pair.map(|place| group[place].clone())).collect::<Vec<_>>()
            };
            // Extra rounds are for groups that lack results because partners were lost.
            let is_planned = round <= round_robin.rounds;
            let groups = round_robin.groups.iter();
            let groups: Vec<_> =
                groups.filter(|g| is_planned || self.lacks_results(&round_robin, g)).collect();
            if groups.is_empty() {
                break;
            }
            let mut pairs: Vec<[String; 2]> = groups.into_iter().flat_map(pairs_of).collect();
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

    /// Returns the plan of the pairs: that in the file, else a new one.
    fn round_robin(&mut self) -> Result<Option<RoundRobin>, Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(None) };
        if let Some(round_robin) = &self.fleet.known.round_robin {
            return Ok(Some(round_robin.clone()));
        }
        let groups = (network.groups)().map_err(Unfinished::Failed)?;
        let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
        if network.pairs == Pairs::All && largest > RoundRobin::MAX_ROUNDS as usize {
            let most = RoundRobin::MAX_ROUNDS;
            return Err(Unfinished::Failed(format!(
                "--pairs all allows groups of up to {most} nodes, but one has {largest}; give a \
                 number of partners, such as --pairs 64"
            )));
        }
        let round_robin = RoundRobin { rounds: rounds(network.pairs, &groups), groups };
        self.log_line(FleetLine::RoundRobin(round_robin.clone()))?;
        Ok(Some(round_robin))
    }

    /// Returns the pairs of the second pass: those in the file, else those judged now.
    fn again(&mut self) -> Result<PairsAgain, Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(PairsAgain::default()) };
        if let Some(again) = &self.fleet.known.pairs_again {
            return Ok(again.clone());
        }
        let again = (network.again)().map_err(Unfinished::Failed)?;
        self.log_line(FleetLine::PairsAgain(again.clone()))?;
        Ok(again)
    }

    /// True if a node of a group lacks results because its partners were lost.
    fn lacks_results(&self, round_robin: &RoundRobin, group: &[String]) -> bool {
        let here = |node: &String| !self.gone.contains(node) && self.addresses.contains_key(node);
        let few = |(place, node): (usize, &String)| {
            let needed = rounds_needed(round_robin.planned(group.len(), place));
            here(node) && self.pairs.times.get(node).copied().unwrap_or(0) < needed
        };
        // A pair needs two nodes.
        group.iter().filter(|node| here(node)).count() > 1 && group.iter().enumerate().any(few)
    }

    /// Makes all nodes serve others from now on.
    fn serve(&mut self, nodes: &[String]) -> Result<(), Unfinished> {
        let Some(network) = &self.fleet.network else { return Ok(()) };
        let (subnet, pass, round) = (network.subnet, Pass::Pairs, 1);
        let mut orders = Vec::new();
        for node in nodes.iter().filter(|node| !self.gone.contains(*node)) {
            let key = PairKey((network.key)().map_err(Unfinished::Failed)?);
            self.pairs.keys.insert(node.clone(), key.clone());
            let work = NodeTask::Serve { key, subnet };
            orders.push(Order { nodes: vec![node.clone()], pass, round, work });
        }
        self.run_orders((pass, round), &orders)
    }

    /// Measures the pairs of a round that the file lacks.
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
            let begun = (Instant::now(), self.in_vain);
            self.run_orders((pass, round), &orders)?;
            if !orders.is_empty() {
                self.pairs.measured.0 += 1;
                self.pairs.measured.1 += self.seconds_since(begun);
            }
        }
        let again = if pass == Pass::PairsAgain { " second pass:" } else { "" };
        let each = self.pairs.seconds_each().unwrap_or(0.0);
        let batches = turns(2 * all, self.fleet.plan.at_once.map(|n| n.max(2)));
        let time = time_left(each * f64::from(batches * (rounds - round)));
        self.print(&format!("[{round}/{rounds}]{again} asked {asked} of {all} pairs{time}"));
        Ok(())
    }

    /// Returns the order for a pair; `None` if a node failed for good or does not serve.
    fn pair(&self, pass: Pass, round: u32, [client, partner]: [String; 2]) -> Option<Order> {
        let serves = |node: &String| self.addresses.get(node).filter(|_| !self.gone.contains(node));
        let (addresses, key) =
            (serves(&client).and(serves(&partner))?, self.pairs.keys.get(&partner)?);
        let (addresses, key, task) = (addresses.clone(), key.clone(), self.fleet.plan.task.clone());
        Some(Order {
            nodes: vec![client],
            pass,
            round,
            work: NodeTask::Pair { partner, addresses, key, task },
        })
    }
}

/// Counts the rounds until each node has measured with the requested number of partners. An odd
/// group leaves out one node per round.
fn rounds(pairs: Pairs, groups: &[Vec<String>]) -> u32 {
    let rounds_of = |nodes: u32| {
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
        .map(|nodes| rounds_of(nodes as u32))
        .max()
        .unwrap_or(0)
}

/// Splits pairs into batches in which each node is in at most one pair.
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
