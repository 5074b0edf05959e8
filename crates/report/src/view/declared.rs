//! Properties that workloads declare and the report uses. No workload is known by its id.

use proofmark_model::{Measurement, Property, Run, Traffic, WorkloadSpec, key};

use super::label::Group;
use super::text::clean;

/// The workloads in a table with the names of their rows, in the order of rows.
pub fn rows_of<'g, 'a: 'g>(
    groups: impl IntoIterator<Item = &'g Group<'a>>,
    table: &str,
) -> Vec<(&'g Group<'a>, String)> {
    let in_trials = groups.into_iter().filter(|g| !g.over_time);
    let place = |g: &'g Group<'a>| Some((g.spec?.role.place_in(table)?, g));
    let mut rows: Vec<_> = in_trials.filter_map(place).collect();
    rows.sort_by_key(|(place, _)| place.row);
    rows.into_iter().map(|(place, g)| (g, clean(&place.label))).collect()
}

/// The workloads that give a property, those with main results first.
pub fn giving(run: &Run, property: Property) -> Vec<(&str, &WorkloadSpec)> {
    let all = run.workloads.iter().map(|(id, spec)| (id.as_str(), spec));
    let mut all: Vec<_> = all.filter(|(_, s)| s.role.gives(property)).collect();
    let place = |s: &WorkloadSpec| s.role.main_rows.first().map_or(u32::MAX, |row| row.place);
    all.sort_by_key(|(_, s)| place(s));
    all
}

/// Bytes counted for one block: its size once where no traffic is declared.
pub fn block_bytes(group: &Group, m: &Measurement) -> Option<f64> {
    let traffic = group.spec.and_then(|s| s.work.traffic(&m.params));
    Some(m.params.get(key::BLOCK_SIZE)? as f64 * traffic.map_or(1.0, Traffic::counted))
}
