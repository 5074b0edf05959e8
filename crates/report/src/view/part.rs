//! The parts of a machine, in the order of a report.

use proofmark_model::Subsystem;

use super::label::Group;

/// The part that a workload is about, as its measurements or its declaration say.
pub fn subsystem(group: &Group) -> Option<Subsystem> {
    group.all.first().map(|m| m.subsystem).or(group.spec.map(|s| s.subsystem))
}

/// The parts that have a workload, each with its workloads.
pub fn each<'a, 'g>(groups: &'g [Group<'a>]) -> Vec<(Subsystem, Vec<&'g Group<'a>>)> {
    let of = |part: Subsystem| {
        (part, groups.iter().filter(|g| subsystem(g) == Some(part)).collect::<Vec<_>>())
    };
    Subsystem::ALL.into_iter().map(of).filter(|(_, all)| !all.is_empty()).collect()
}
