//! Distances between all CPUs, as a workload measured them pair by pair.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{CpuDistance, Measurement, median};
use serde::Serialize;

use super::columns::Columns;
use super::label::Group;
use super::num::ends;
use super::shared_parts::caption;
use super::table::Table;
use super::text::counted;

/// Maximum number of CPUs that a table has room for.
const IN_TABLE: usize = 16;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    pub title: String,
    /// The number of pairs and the range of their round trips.
    pub description: String,
    /// The CPUs in ascending order.
    pub cpus: Vec<u32>,
    /// One row per CPU: its pairs with the CPUs before it.
    pub rows: Vec<Vec<Option<Pair>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// Round trip in nanoseconds: the median over the trials.
    pub ns: f64,
    /// True if the two are SMT siblings in most trials.
    pub one_core: bool,
}

/// One map for each configuration that measured all pairs.
pub(super) fn draw(group: &Group) -> Vec<HeatMap> {
    group.all.iter().filter_map(|m| heat_map(group, m)).collect()
}

fn heat_map(group: &Group, m: &Measurement) -> Option<HeatMap> {
    let mut seen: BTreeMap<[u32; 2], Vec<CpuDistance>> = BTreeMap::new();
    // Trials with rounds hold only the pairs that worked, not all.
    for pair in m.trials.iter().filter(|t| t.rounds.is_empty()).flat_map(|t| &t.pairs) {
        let [a, b] = pair.cpus;
        seen.entry([a.min(b), a.max(b)]).or_default().extend(pair.before);
    }
    let cpus: BTreeSet<u32> = seen.keys().flatten().copied().collect();
    let cpus: Vec<u32> = cpus.into_iter().collect();
    let pair = |a: u32, b: u32| {
        let all = seen.get(&[a.min(b), a.max(b)])?;
        let on_one_core = all.iter().filter(|d| d.are_siblings()).count();
        let round_trips: Vec<f64> = all.iter().map(|d| 1e9 * d.round_trip_s).collect();
        Some(Pair { ns: median(&round_trips)?, one_core: 2 * on_one_core > all.len() })
    };
    let before = |at: usize| cpus[..at].iter().map(|other| pair(cpus[at], *other)).collect();
    let rows: Vec<Vec<Option<Pair>>> = (0..cpus.len()).map(before).collect();
    let title = caption(group, "round trips between the CPUs, in ns");
    (cpus.len() > 1).then(|| HeatMap {
        description: describe(rows.iter().flatten().flatten()),
        title,
        cpus: cpus.clone(),
        rows,
    })
}

/// `28 pairs: 4 of SMT siblings, 24 on different cores with 48 to 210 ns round trip.`
fn describe<'a>(pairs: impl Iterator<Item = &'a Pair> + Clone) -> String {
    let (all, on_one) = (pairs.clone().count(), pairs.clone().filter(|p| p.one_core).count());
    let apart = pairs.filter(|p| !p.one_core).map(|p| p.ns);
    let mut text = format!("{}: {on_one} of SMT siblings", counted(all as u64, "pair"));
    if all > on_one {
        let [least, most] = ends(apart).map(|ns| format!("{ns:.0}"));
        let span = if least == most { least } else { format!("{least} to {most}") };
        text += &format!(", {} on different cores with {span} ns round trip", all - on_one);
    }
    text + "."
}

/// The heat map as a table; without rows where there are too many CPUs.
pub fn table(HeatMap { title, cpus, rows, .. }: &HeatMap) -> Table {
    let shown: &[u32] = if cpus.len() > IN_TABLE { &[] } else { cpus };
    let table = Columns::new(title.as_str()).number("CPU", |at: &usize| cpus[*at].to_string());
    let others = shown.iter().take(shown.len().saturating_sub(1)).enumerate();
    let with_others = others.fold(table, |table, (other, cpu)| {
        table.number(&cpu.to_string(), move |at| match rows[*at].get(other) {
            Some(Some(Pair { ns, one_core: true })) => Ok(format!("{ns:.0} SMT")),
            Some(Some(Pair { ns, .. })) => Ok(format!("{ns:.0}")),
            Some(None) => Err("a thread was preempted in every measurement"),
            None => Ok(String::new()),
        })
    });
    with_others.rows(1..shown.len())
}
