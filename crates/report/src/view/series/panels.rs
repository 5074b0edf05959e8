//! Charts that hold no more lines than a reader can follow.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param};

use crate::view::label::Group;

/// Charts of one kind for one workload.
const PANELS: usize = 6;

/// A part of a workload's measurements that fits into one chart.
pub struct Panel<'a> {
    /// Values of the parameters that split the charts, for the title.
    pub name: String,
    /// Those parameters and the ones on the axis: not part of a line's name.
    pub said: Vec<&'a str>,
    /// Its measurements.
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
    let mut said: Vec<&str> = axis.to_vec();
    let mut splitting: Vec<&str> = Vec::new();
    loop {
        let parts = split(members, &splitting);
        let crowded = parts.iter().any(|p| combinations(group, p, &said) > most);
        let next = group
            .varying
            .iter()
            .copied()
            .filter(|n| !said.contains(n))
            .filter_map(|n| {
                let values: BTreeSet<_> = members.iter().map(|m| m.params.get(n)).collect();
                (values.len() > 1).then_some((values.len(), n))
            })
            .min();
        match next {
            Some((values, name)) if crowded && parts.len() * values <= PANELS => {
                said.push(name);
                splitting.push(name);
            }
            _ => {
                return parts
                    .into_iter()
                    .map(|members| Panel {
                        name: members.first().map_or_else(String::new, |m| {
                            let others: Vec<&str> = group
                                .varying
                                .iter()
                                .chain(&group.fixed)
                                .copied()
                                .filter(|n| !splitting.contains(n))
                                .collect();
                            group.short_without(m, &others)
                        }),
                        said: said.clone(),
                        members,
                    })
                    .collect();
            }
        }
    }
}

fn split<'a>(members: &[&'a Measurement], by: &[&str]) -> Vec<Vec<&'a Measurement>> {
    let key = |m: &'a Measurement| -> Vec<Option<&'a Param>> {
        by.iter().map(|n| m.params.get(n)).collect()
    };
    let mut parts: Vec<(Vec<Option<&Param>>, Vec<&Measurement>)> = Vec::new();
    for m in members {
        let key = key(m);
        match parts.iter_mut().find(|(k, _)| *k == key) {
            Some((_, part)) => part.push(m),
            None => parts.push((key, vec![m])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn combinations(group: &Group, members: &[&Measurement], said: &[&str]) -> usize {
    let names: BTreeSet<String> = members.iter().map(|m| group.short_without(m, said)).collect();
    names.len()
}
