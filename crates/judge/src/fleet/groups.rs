//! Nodes of the same kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofmark_model::{DifferingFact, FactId, FactValue, GroupDifference, NodeFact, Pass};

use super::lines::{Lines, Node};
use super::rule::FEWEST_NODES;

/// Value of a fact that the system does not report.
pub(super) const UNKNOWN: &str = "unknown";

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

    /// Facts in which its nodes differ, in the order of the first node's. Those that make the group
    /// are the same.
    pub(super) fn differing(&self, lines: &Lines) -> Vec<DifferingFact> {
        let nodes: Vec<&Node> = self.nodes.iter().map(|place| &lines.nodes[*place]).collect();
        let own: Vec<Vec<&NodeFact>> = nodes.iter().map(|node| other_facts(node)).collect();
        let mut names: Vec<&str> = Vec::new();
        for fact in own.iter().flatten() {
            if !names.contains(&fact.what.as_str()) {
                names.push(&fact.what);
            }
        }
        let differing = |what: &str| {
            let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for (node, facts) in nodes.iter().zip(&own) {
                let value = facts.iter().find(|f| f.what == what);
                let value = value.map_or("not reported", |f| f.value.as_str());
                values.entry(value).or_default().push(node.name.clone());
            }
            let most = |names: &Vec<String>| 2 * names.len() > nodes.len();
            let usual = values.iter().find(|(_, names)| most(names)).map(|(v, _)| (*v).to_owned());
            let others = values.into_iter().filter(|(value, _)| Some(*value) != usual.as_deref());
            let others = others.map(|(value, nodes)| FactValue { value: value.to_owned(), nodes });
            let others: Vec<FactValue> = others.collect();
            (!others.is_empty()).then(|| DifferingFact { what: what.to_owned(), usual, others })
        };
        names.into_iter().filter_map(differing).collect()
    }

    /// Names of facts that none of its nodes reports, in the order of the first node's.
    pub(super) fn unknown(&self, lines: &Lines) -> Vec<String> {
        let nodes = self.nodes.iter().map(|place| &lines.nodes[*place]);
        let unknown = |node: &Node| -> Vec<String> {
            let kind = self.facts.iter().filter(|f| f.value == UNKNOWN);
            let others = other_facts(node).into_iter().filter(|f| f.value == UNKNOWN);
            let mut names: Vec<String> = kind.chain(others).map(|f| f.what.clone()).collect();
            // Without pairs no node knows its interface to the others.
            if node.facts_in_pairs().is_none() {
                names.push(FactId::NetworkInterface.as_str().to_owned());
            }
            names
        };
        let mut all = nodes.map(unknown);
        let mut names = all.next().unwrap_or_default();
        all.for_each(|own| names.retain(|name| own.contains(name)));
        names
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

/// The facts of a node that do not make its group. The way to other nodes is known from pairs; without
/// them the MTU is that of the default route.
fn other_facts(node: &Node) -> Vec<&NodeFact> {
    let is = |f: &NodeFact, ids: &[FactId]| ids.iter().any(|id| id.as_str() == f.what);
    let in_pairs = node.facts_in_pairs();
    let from_pairs: &[FactId] = match in_pairs {
        Some(_) => &[FactId::NetworkInterface, FactId::Mtu],
        None => &[FactId::NetworkInterface],
    };
    let own = facts(node).map(|all| all.iter()).into_iter().flatten();
    let own = own.filter(|f| !f.groups && !is(f, from_pairs));
    let of_pairs = in_pairs.map(|all| all.iter()).into_iter().flatten();
    own.chain(of_pairs.filter(|f| is(f, from_pairs))).collect()
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
