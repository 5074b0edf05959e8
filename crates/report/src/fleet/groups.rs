//! Groups of nodes with the same facts.

use proofmark_model::{
    DifferingFact, FactId, FactValue, FleetGroup, FleetReport, GroupDifference, NodeFact,
};

use super::words::{self, group_name, named};
use crate::view::{clean, counted, joined};

/// Maximum of values of a fact that are listed; the others are counted.
const VALUES: usize = 8;

pub struct Group {
    /// `Group A`; empty where there is only one.
    pub name: String,
    /// `3 nodes (fewer than 4: not compared)`.
    pub size: String,
    /// `usable CPUs 4; memory 7.8 GiB`.
    pub facts: String,
    /// The same with the number of instruction sets.
    pub brief_facts: String,
    /// `usable CPUs 4 (8 in group A)`.
    pub differences: Vec<String>,
    /// `CPU quota 0.6 CPUs on n3 (none on the others)`.
    pub differing: Vec<String>,
    /// Results that nodes sent and by which no node is judged, in a sentence.
    pub not_judged: Option<String>,
    /// `I/O limits, network interface (known with --pairs)`: facts that no node reports.
    pub unknown: String,
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
        let brief = |f: &NodeFact| match FactId::named(&f.what) {
            Some(id @ FactId::InstructionSets) => {
                format!("{} {}", f.value.split_whitespace().count(), id.as_str())
            }
            _ => clean(&format!("{} {}", f.what, f.value)),
        };
        let unknown = group.unknown.iter().map(|what| match FactId::named(what) {
            Some(FactId::NetworkInterface) => format!("{} (known with --pairs)", clean(what)),
            _ => clean(what),
        });
        Self {
            name,
            size: words::size(group.nodes.len(), group.comparable),
            facts: joined(facts, "; "),
            brief_facts: joined(group.facts.iter().map(brief), "; "),
            unknown: joined(unknown, ", "),
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
    // One more value is as short as its count.
    let listed = if fact.others.len() > VALUES + 1 { VALUES } else { fact.others.len() };
    let (listed, rest) = fact.others.split_at(listed);
    let mut values = joined(listed.iter().map(value), ", ");
    if !rest.is_empty() {
        let nodes: usize = rest.iter().map(|one| one.nodes.len()).sum();
        values += &format!(" and {} more values on {}", rest.len(), counted(nodes as u64, "node"));
    }
    let usual = fact.usual.as_deref().map(|usual| format!(" ({} on the others)", clean(usual)));
    format!("{} {values}{}", clean(&fact.what), usual.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fact with so many values, each on one of 40 nodes, that most nodes do not have.
    fn distinct(values: usize, usual: Option<&str>) -> DifferingFact {
        let other = |i| FactValue { value: format!("v{i}"), nodes: vec![format!("n{i}")] };
        DifferingFact {
            what: "disk".into(),
            usual: usual.map(str::to_owned),
            others: (1..=values).map(other).collect(),
        }
    }

    #[test]
    fn values_beyond_the_list_are_counted_with_their_nodes() {
        let first = "disk v1 on n1, v2 on n2, v3 on n3, v4 on n4, v5 on n5, v6 on n6, v7 on n7, v8 \
                     on n8";
        let many = |fact: &DifferingFact| differing(fact).strip_prefix(first).unwrap().to_owned();
        assert_eq!(
            many(&distinct(19, Some("sda"))),
            " and 11 more values on 11 nodes (sda on the others)"
        );
        let mut shared = distinct(10, None);
        shared.others[9].nodes.push("n11".into());
        assert_eq!(many(&shared), " and 2 more values on 3 nodes");
        assert_eq!(many(&distinct(9, Some("sda"))), ", v9 on n9 (sda on the others)");
        assert_eq!(many(&distinct(8, None)), "");
    }
}
