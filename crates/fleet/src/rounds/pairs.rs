//! The network between nodes, in rounds of pairs of which each node is in one at most: after a round
//! robin every node of a group has measured with every other. Then the pairs that look slow once more,
//! and their nodes with others.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use proofmark_model::{Pairs, Pass};

use super::{Asking, Unfinished};
use crate::protocol::{Order, Serving, Work};

/// What is asked of the network between nodes.
pub struct Between<'a> {
    /// With how many partners.
    pub pairs: Pairs,
    /// How nodes reach each other.
    pub serving: Serving,
    /// By the fleet's file, which nodes are compared with each other.
    pub groups: &'a dyn Fn() -> Result<Vec<Vec<String>>, String>,
    /// By the fleet's file, which pairs to measure again: by round, in any order.
    pub again: &'a dyn Fn() -> Result<Vec<Vec<[String; 2]>>, String>,
}

impl Asking<'_> {
    /// Both passes over pairs, if the network is measured.
    pub(super) fn between(&mut self) -> Result<(), Unfinished> {
        let Some(between) = &self.fleet.between else { return Ok(()) };
        let (pairs, serving) = (between.pairs, between.serving.clone());
        let groups = (between.groups)().map_err(Unfinished::Failed)?;
        self.serve(groups.concat(), serving)?;
        let rounds = rounds(pairs, &groups);
        for round in 1..=rounds {
            let here = groups.iter().map(|group| self.here(group));
            let pairs = here.flat_map(|group| partners(&group, round)).collect();
            self.round(Pass::Pairs, (round, rounds), pairs)?;
        }
        let Some(between) = &self.fleet.between else { return Ok(()) };
        let again = (between.again)().map_err(Unfinished::Failed)?;
        let rounds = again.len() as u32;
        for (round, pairs) in (1..).zip(again) {
            self.round(Pass::PairsAgain, (round, rounds), pairs)?;
        }
        Ok(())
    }

    fn here(&self, nodes: &[String]) -> Vec<String> {
        nodes.iter().filter(|node| !self.gone.contains(*node)).cloned().collect()
    }

    /// Has all nodes answer others from now on.
    fn serve(&mut self, nodes: Vec<String>, serving: Serving) -> Result<(), Unfinished> {
        let (pass, round, nodes) = (Pass::Pairs, 1, self.here(&nodes));
        let order = Order { nodes, pass, round, work: Work::Serve(serving) };
        self.ask((pass, round), &[order])?;
        self.at = own_addresses(&self.at);
        Ok(())
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
            let pair = [client.as_str(), server.as_str()];
            !self.fleet.known.iter().any(|known| known.answers_pair(pass, round, pair))
        });
        let at_once = self.fleet.plan.at_once.map_or(usize::MAX, |n| (n as usize / 2).max(1));
        for batch in disjoint(pairs, at_once) {
            let orders: Vec<Order> =
                batch.into_iter().filter_map(|pair| self.pair(pass, round, pair)).collect();
            self.ask((pass, round), &orders)?;
        }
        let again = if pass == Pass::PairsAgain { " again" } else { "" };
        self.tell(&format!("[{round}/{rounds}] {all} pairs measured{again}"));
        Ok(())
    }

    /// The order for a pair; `None` if one of its nodes is gone.
    fn pair(&self, pass: Pass, round: u32, [client, partner]: [String; 2]) -> Option<Order> {
        let is_here = |node: &String| !self.gone.contains(node);
        let at = self.at.get(&partner).filter(|_| is_here(&client) && is_here(&partner))?.clone();
        let key = self.fleet.between.as_ref()?.serving.key.clone();
        let work = Work::Pair { partner, at, key, task: self.fleet.plan.task.clone() };
        Some(Order { nodes: vec![client], pass, round, work })
    }
}

/// Addresses without those that several nodes have, such as that of a bridge of their containers.
fn own_addresses(at: &BTreeMap<String, Vec<SocketAddr>>) -> BTreeMap<String, Vec<SocketAddr>> {
    let mut nodes: BTreeMap<_, u32> = BTreeMap::new();
    for own in at.values() {
        let ips: BTreeSet<_> = own.iter().map(SocketAddr::ip).collect();
        ips.into_iter().for_each(|ip| *nodes.entry(ip).or_default() += 1);
    }
    let of_one = |at: &&SocketAddr| nodes.get(&at.ip()) == Some(&1);
    at.iter()
        .map(|(node, own)| (node.clone(), own.iter().filter(of_one).copied().collect()))
        .collect()
}

/// How many rounds it takes until each node has measured with as many partners as asked. In a group of
/// an odd number of nodes one is left out in each round.
fn rounds(pairs: Pairs, groups: &[Vec<String>]) -> u32 {
    /// As many as decide whether a node is slow.
    const LEAST: u32 = 8;
    let of = |nodes: u32| {
        let each = match pairs {
            Pairs::Rounds(rounds) => rounds,
            Pairs::All => LEAST.max(nodes.saturating_sub(1)),
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

/// The pairs of a round, by the circle method: one node stays, the others move on by a place each round.
/// Who measures and who answers changes from round to round.
fn partners(nodes: &[String], round: u32) -> Vec<[String; 2]> {
    let mut seats: Vec<Option<&String>> = nodes.iter().map(Some).collect();
    if seats.len() % 2 == 1 {
        seats.push(None);
    }
    let Some(others) = seats.get_mut(1..).filter(|others| !others.is_empty()) else {
        return Vec::new();
    };
    others.rotate_right(round as usize % others.len());
    let (half, rest) = seats.split_at(seats.len() / 2);
    let pair = |(a, b): (&Option<&String>, &Option<&String>)| {
        let (a, b) = ((*a)?.clone(), (*b)?.clone());
        Some(if round.is_multiple_of(2) { [a, b] } else { [b, a] })
    };
    half.iter().zip(rest.iter().rev()).filter_map(pair).collect()
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
    fn every_node_meets_every_other_and_none_twice_at_once() {
        for count in 2..=12 {
            let (group, mut met) = (names(count), BTreeMap::<[String; 2], u32>::new());
            let all = rounds(Pairs::All, std::slice::from_ref(&group));
            let mut measured: BTreeMap<String, u32> = BTreeMap::new();
            for round in 1..=all {
                let pairs = partners(&group, round);
                assert_eq!(pairs.len(), count / 2);
                let nodes: BTreeSet<&String> = pairs.iter().flatten().collect();
                assert_eq!(nodes.len(), count / 2 * 2, "each in one pair");
                for mut pair in pairs.clone() {
                    pair.iter().for_each(|node| *measured.entry(node.clone()).or_default() += 1);
                    pair.sort();
                    *met.entry(pair).or_default() += 1;
                }
            }
            assert_eq!(met.len(), count * (count - 1) / 2, "of {count} nodes");
            assert!(measured.values().all(|n| *n >= 8), "{measured:?}");
        }
        assert!(partners(&names(1), 1).is_empty() && partners(&[], 1).is_empty());
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

    #[test]
    fn an_address_that_several_nodes_have_leads_to_none() {
        let at = |own: &[&str]| own.iter().map(|a| a.parse().unwrap()).collect::<Vec<SocketAddr>>();
        let all = BTreeMap::from([
            ("n1".to_owned(), at(&["172.17.0.1:7", "10.0.0.1:7", "[fd00::1]:7"])),
            ("n2".to_owned(), at(&["10.0.0.2:7", "172.17.0.1:8"])),
        ]);
        let own = own_addresses(&all);
        assert_eq!(own["n1"], at(&["10.0.0.1:7", "[fd00::1]:7"]));
        assert_eq!(own["n2"], at(&["10.0.0.2:7"]));
    }
}
