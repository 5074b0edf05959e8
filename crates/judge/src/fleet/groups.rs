//! Nodes of the same kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofmark_model::{GroupDifference, NodeFact, Pass};

use super::lines::{Lines, Node};
use super::rule::FEWEST_NODES;

/// Nodes that share the facts of their kind.
pub(super) struct Group {
    pub(super) facts: Vec<NodeFact>,
    /// Places in the plan.
    pub(super) nodes: Vec<usize>,
}

impl Group {
    /// Returns true if it has enough nodes to compare them.
    pub(super) fn comparable(&self) -> bool {
        self.nodes.len() >= FEWEST_NODES
    }

    /// Facts that differ from the largest group.
    pub(super) fn differences(&self, largest: &Self) -> Vec<GroupDifference> {
        let value = |group: &Self, what: &str| {
            let fact = group.facts.iter().find(|f| f.what == what);
            fact.map_or_else(|| "not reported".to_owned(), |f| f.value.clone())
        };
        let difference = |what: &str| {
            let (here, largest) = (value(self, what), value(largest, what));
            (here != largest).then(|| GroupDifference { what: what.to_owned(), here, largest })
        };
        let unknown = |f: &&NodeFact| self.facts.iter().all(|own| own.what != f.what);
        let all = self.facts.iter().chain(largest.facts.iter().filter(unknown));
        all.filter_map(|f| difference(&f.what)).collect()
    }
}

/// The groups of all nodes with a usable line of the first pass, the largest first.
pub(super) fn all(lines: &Lines) -> Vec<Group> {
    let mut kinds: BTreeMap<Vec<(String, String)>, Group> = BTreeMap::new();
    for (i, node) in lines.nodes.iter().enumerate() {
        let Some(facts) = facts(node) else { continue };
        let own: Vec<NodeFact> = facts.iter().filter(|f| f.groups).cloned().collect();
        let mut key: Vec<_> = own.iter().map(|f| (f.what.clone(), f.value.clone())).collect();
        key.sort();
        let new = || Group { facts: own, nodes: Vec::new() };
        kinds.entry(key).or_insert_with(new).nodes.push(i);
    }
    let mut groups: Vec<Group> = kinds.into_values().collect();
    groups.sort_by_key(|g| (std::cmp::Reverse(g.nodes.len()), g.nodes.first().copied()));
    groups
}

/// The facts in most of a node's lines; between equally frequent ones, those of the earlier lines.
pub(super) fn facts(node: &Node) -> Option<&Arc<Vec<NodeFact>>> {
    let mut counts: Vec<(&Arc<Vec<NodeFact>>, usize)> = Vec::new();
    for (_, seen) in node.usable(Pass::First) {
        match counts.iter_mut().find(|(facts, _)| *facts == &seen.facts) {
            Some((_, count)) => *count += 1,
            None => counts.push((&seen.facts, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(facts, _)| facts)
}

/// Facts of a node that changed between rounds: `CPU quota: none in round 1, 1 CPU in round 5`.
pub(super) fn changes(node: &Node) -> Vec<String> {
    let passes = [(Pass::First, ""), (Pass::Again, " of the second pass")];
    let seen = passes.into_iter().flat_map(|(pass, name)| {
        node.usable(pass).map(move |(round, seen)| (format!("round {}{name}", round + 1), seen))
    });
    let seen: Vec<_> = seen.collect();
    let Some((first, before)) = seen.first() else { return Vec::new() };
    let value = |facts: &[NodeFact], what: &str| {
        let found = facts.iter().find(|f| f.what == what);
        found.map_or_else(|| "not reported".to_owned(), |f| f.value.clone())
    };
    let changed = |fact: &NodeFact| {
        let differs = |now: &String| *now != fact.value;
        let (round, now) = seen.iter().find_map(|(round, seen)| {
            Some((round, Some(value(&seen.facts, &fact.what)).filter(differs)?))
        })?;
        Some(format!("{}: {} in {first}, {now} in {round}", fact.what, fact.value))
    };
    before.facts.iter().filter_map(changed).collect()
}
