//! Splits measurements into charts that hold no more lines than a reader can follow.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param};

use crate::view::grouping::grouped;
use crate::view::label::Group;

/// Maximum number of charts of one kind per workload.
const PANELS: usize = 6;

/// A part of a workload's measurements that fits into one chart.
pub struct Panel<'a> {
    /// Values of the parameters that split the charts, for the title.
    pub name: String,
    /// The parameters of the panels and of the axis, which a line's name leaves out.
    pub named: Vec<&'a str>,
    pub members: Vec<&'a Measurement>,
}

/// Splits by one parameter after another, the one with the fewest values first, until
/// no chart has more combinations of the other parameters than `most`.
pub fn panels<'a>(
    group: &Group<'a>,
    members: &[&'a Measurement],
    axis: &[&'a str],
    most: usize,
) -> Vec<Panel<'a>> {
    let mut named: Vec<&str> = axis.to_vec();
    let mut splitting: Vec<&str> = Vec::new();
    loop {
        let key = |m: &Measurement| splitting.iter().map(|n| m.params.named(n).cloned()).collect();
        let parts = grouped(members.iter().map(|m| (key(m), *m)));
        let parts: Vec<(Vec<Option<Param>>, Vec<&Measurement>)> = parts;
        let crowded = parts.iter().any(|(_, p)| combinations(group, p, &named) > most);
        let values = |n| members.iter().map(|m| m.params.named(n)).collect::<BTreeSet<_>>().len();
        let unnamed = group.varying.iter().copied().filter(|n| !named.contains(n));
        let next = unnamed.map(|n| (values(n), n)).filter(|(values, _)| *values > 1).min();
        match next {
            Some((values, name)) if crowded && parts.len() * values <= PANELS => {
                named.push(name);
                splitting.push(name);
            }
            _ => {
                let all = group.varying.iter().chain(&group.fixed).copied();
                let others: Vec<&str> = all.filter(|n| !splitting.contains(n)).collect();
                let panel = |(_, members): (Vec<Option<Param>>, Vec<&'a Measurement>)| {
                    let first = members.first();
                    let name = first.map_or_else(String::new, |m| group.short_without(m, &others));
                    Panel { name, named: named.clone(), members }
                };
                return parts.into_iter().map(panel).collect();
            }
        }
    }
}

fn combinations(group: &Group, members: &[&Measurement], named: &[&str]) -> usize {
    let names: BTreeSet<String> = members.iter().map(|m| group.short_without(m, named)).collect();
    names.len()
}
