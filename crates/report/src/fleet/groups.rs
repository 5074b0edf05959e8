//! Groups of nodes with the same facts.

use proofmark_model::{DifferingFact, FactValue, FleetGroup, FleetReport, GroupDifference};

use super::words::{self, group_name, named};
use crate::view::{clean, joined};

pub struct Group {
    /// `Group A`; empty where there is only one.
    pub name: String,
    /// `3 nodes (fewer than 4: not compared)`.
    pub size: String,
    /// `usable CPUs 4; memory 7.8 GiB`.
    pub facts: String,
    /// `usable CPUs 4 (8 in group A)`.
    pub differences: Vec<String>,
    /// `CPU quota 0.6 CPUs on n3 (none on the others)`.
    pub differing: Vec<String>,
    /// Results that nodes sent and by which no node is judged, in a sentence.
    pub not_judged: Option<String>,
    pub nodes: Vec<String>,
}

impl Group {
    /// Returns all groups, the largest first.
    pub fn all(report: &FleetReport) -> Vec<Self> {
        let several = report.groups.len() > 1;
        let name = |at| if several { format!("Group {}", group_name(at)) } else { String::new() };
        report.groups.iter().enumerate().map(|(at, g)| Self::new(name(at), g)).collect()
    }

    fn new(name: String, group: &FleetGroup) -> Self {
        let facts = group.facts.iter().map(|f| clean(&format!("{} {}", f.what, f.value)));
        Self {
            name,
            size: words::size(group.nodes.len(), group.comparable),
            facts: joined(facts, "; "),
            differences: group.differences.iter().map(difference).collect(),
            differing: group.differing.iter().map(differing).collect(),
            not_judged: group.not_judged.as_ref().map(words::not_judged),
            nodes: group.nodes.iter().map(|n| clean(n)).collect(),
        }
    }
}

fn difference(d: &GroupDifference) -> String {
    if let Some(sets) = d.instruction_sets() {
        return clean(&format!("instruction sets {sets}, unlike group A"));
    }
    let [what, here, largest] = [&d.what, &d.here, &d.largest].map(|text| clean(text));
    format!("{what} {here} ({largest} in group A)")
}

/// Describes the values of a fact that most nodes do not have.
fn differing(fact: &DifferingFact) -> String {
    let value = |one: &FactValue| {
        let nodes = named(one.nodes.iter().map(String::as_str));
        format!("{} on {nodes}", clean(&one.value))
    };
    let values = joined(fact.others.iter().map(value), ", ");
    let usual = fact.usual.as_deref().map(|usual| format!(" ({} on the others)", clean(usual)));
    format!("{} {values}{}", clean(&fact.what), usual.unwrap_or_default())
}
