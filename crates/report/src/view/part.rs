//! The parts of a machine, in the order of a report.

use proofmark_model::Subsystem;

use super::label::Group;

/// The part that a workload is about, as its measurements or its declaration say.
pub fn subsystem(group: &Group) -> Option<Subsystem> {
    group.all.first().map(|m| m.subsystem).or(group.spec.map(|s| s.subsystem))
}

/// The parts that have a workload, each with the places of its workloads among all, and them.
pub fn each<'a, 'g>(groups: &'g [Group<'a>]) -> Vec<(Subsystem, Vec<(usize, &'g Group<'a>)>)> {
    let of_part = |part: Subsystem| {
        let all = groups.iter().enumerate().filter(|(_, g)| subsystem(g) == Some(part)).collect();
        (part, all)
    };
    Subsystem::ALL
        .into_iter()
        .map(of_part)
        .filter(|(_, all): &(_, Vec<_>)| !all.is_empty())
        .collect()
}
