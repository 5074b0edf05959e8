//! The order in which configurations are wanted, if a time limit cannot hold them all.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Configured, Isa, MainRow, Params, Plan, Point, Subsystem, key, pick};

use super::estimate::point_costs;
use crate::planned::Planned;
use crate::registry::find;

/// Why a configuration is wanted, most wanted first. Of configurations that are wanted alike, those
/// that take the least time come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Want {
    /// The first row of the summary of a subsystem.
    FirstRow,
    /// The row of the summary of another workload.
    Row,
    /// A further row of the summary.
    FurtherRow,
    /// The first of its table, or the first that a reference tool of the table repeats.
    Table,
    /// The first of its workload in the table.
    Workload,
    /// The n-th further one of its workload in the table.
    Further(usize),
}

/// Returns the rank of each configuration of a plan: 0 is wanted most.
pub(crate) fn ranks(planned: &Planned) -> Vec<usize> {
    let mut ranks = vec![0; planned.plan.points.len()];
    by_rank(planned).iter().enumerate().for_each(|(rank, (place, _))| ranks[*place] = rank);
    ranks
}

/// Returns the place of each configuration of a plan, the most wanted first. Where the tables of the
/// profile are not known, each workload is one.
pub(crate) fn by_rank(planned: &Planned) -> Vec<(usize, Want)> {
    let Planned { plan, tables, usable_cpus, .. } = planned;
    let costs = point_costs(plan);
    let mut order: Vec<usize> = (0..plan.points.len()).collect();
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]).then(a.cmp(b)));
    let wants = wants((plan, *usable_cpus), tables, &order);
    order.sort_by_key(|place| wants[*place]);
    order.into_iter().map(|place| (place, wants[place])).collect()
}

fn wants((plan, cpus): (&Plan, u64), tables: &[usize], by_cost: &[usize]) -> Vec<Want> {
    let mut wants: Vec<Option<Want>> = vec![None; plan.points.len()];
    for (place, want) in rows(plan, cpus) {
        let most = wants[place].map_or(want, |known: Want| known.min(want));
        wants[place] = Some(most);
    }
    let table_of = |place: usize| tables.get(place).copied();
    let own = |place: usize| (table_of(place), plan.points[place].workload.as_str());
    let mut tables_seen: BTreeSet<(Option<usize>, &str)> = BTreeSet::new();
    // A table of a profile; without one, that of the workload.
    let table = |place: usize| (table_of(place), if tables.is_empty() { own(place).1 } else { "" });
    let mut counts: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
    let compared = compared(plan);
    for place in by_cost.iter().copied().filter(|place| wants[*place].is_some()) {
        tables_seen.insert(table(place));
        counts.insert(own(place), 0);
    }
    for place in compared.iter().copied() {
        tables_seen.insert(table(place));
        counts.insert(own(place), 0);
        wants[place].get_or_insert(Want::Table);
    }
    for place in by_cost.iter().copied() {
        if wants[place].is_some() {
            continue;
        }
        let is_new = tables_seen.insert(table(place));
        let further = counts.get(&own(place)).map_or(0, |n| n + 1);
        counts.insert(own(place), further);
        wants[place] = Some(match (is_new, further) {
            (true, _) => Want::Table,
            (false, 0) => Want::Workload,
            (false, n) => Want::Further(n),
        });
    }
    wants.into_iter().map(|want| want.unwrap_or(Want::Further(0))).collect()
}

/// The places where each tool repeats a workload in the shortest time: the comparisons to keep.
fn compared(plan: &Plan) -> BTreeSet<usize> {
    let mut shortest: BTreeMap<(&str, &str), (f64, usize)> = BTreeMap::new();
    for (tool, all) in &plan.references {
        for r in all.iter().filter(|r| !r.second) {
            let Some(point) = plan.points.get(r.point) else { continue };
            let key = (tool.as_str(), point.workload.as_str());
            let best = shortest.entry(key).or_insert((r.run_s, r.point));
            if r.run_s < best.0 {
                *best = (r.run_s, r.point);
            }
        }
    }
    shortest.into_values().map(|(_, place)| place).collect()
}

/// The places of the configurations that fill the rows of the summary. The last row of a workload is
/// its main one, as with all CPUs.
fn rows(plan: &Plan, cpus: u64) -> Vec<(usize, Want)> {
    let mut of_workload: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, point) in plan.points.iter().enumerate() {
        if plan.series_of(place).is_none() {
            of_workload.entry(&point.workload).or_default().push(place);
        }
    }
    // The places of the rows, by workload.
    let mut found: Vec<(Subsystem, u32, Vec<usize>)> = Vec::new();
    for (id, places) in of_workload {
        let Some(spec) = find(id).map(|w| w.spec()) else { continue };
        let rows = spec.role.main_rows.iter();
        let all: Vec<Place> = places.iter().map(|at| Place(*at, &plan.points[*at])).collect();
        let fills = |row: &MainRow| pick((Some(spec), cpus), &row.picks, all.clone());
        let own: Vec<usize> = rows.clone().filter_map(fills).map(|place| place.0).collect();
        if let Some(first) = rows.map(|row| row.place).min() {
            found.push((spec.subsystem, first, own));
        }
    }
    found.sort_by_key(|(subsystem, first, _)| (*subsystem, *first));
    let mut seen = BTreeSet::new();
    let mut wants = Vec::new();
    for (subsystem, _, own) in found {
        let main = if seen.insert(subsystem) { Want::FirstRow } else { Want::Row };
        wants.extend(own.iter().map(|place| (*place, Want::FurtherRow)));
        wants.extend(own.last().map(|place| (*place, main)));
    }
    wants
}

/// A planned configuration and its place.
#[derive(Clone, Copy)]
pub(super) struct Place<'a>(pub(super) usize, pub(super) &'a Point);

impl Configured for Place<'_> {
    fn params(&self) -> &Params {
        &self.1.params
    }

    /// Which is best nobody knows yet: the widest instruction set is expected to be.
    fn best(all: &[Self]) -> Option<Self> {
        let width = |place: &&Self| {
            Isa::ALL.iter().position(|isa| place.1.params.get(key::ISA) == Some(isa.name()))
        };
        all.iter().max_by_key(width).copied()
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{PlannedReference, PlannedSeries, key};

    use super::*;

    fn point(workload: &str, threads: u64, isa: &str) -> Point {
        let params = Params::default().with(key::THREADS, threads).with(key::ISA, isa);
        let params = params.with(key::MATRIX_BLOCK, 64).with(key::MATRIX_SIZE, 100);
        Point { workload: workload.to_owned(), params }
    }

    /// Places of the configurations, the most wanted first.
    fn wanted(points: Vec<Point>, tables: &[usize], tools: &[(&str, usize, f64)]) -> Vec<usize> {
        let mut plan = Plan { points, ..Plan::default() };
        for (tool, point, run_s) in tools {
            let pair = PlannedReference { point: *point, runs: 3, run_s: *run_s, second: false };
            plan.references.entry((*tool).to_owned()).or_default().push(pair);
        }
        let planned =
            Planned { plan, tables: tables.to_vec(), usable_cpus: 2, ..Planned::default() };
        let ranks = ranks(&planned);
        let mut places: Vec<usize> = (0..ranks.len()).collect();
        places.sort_by_key(|place| ranks[*place]);
        places
    }

    #[test]
    fn rows_of_the_summary_are_those_of_all_cpus_and_not_of_more() {
        let points = [(1, "scalar"), (2, "scalar"), (1, "avx512"), (2, "avx512"), (8, "avx512")];
        let points = points.map(|(threads, isa)| point("cpu.flops", threads, isa)).into();
        let order = wanted(points, &[], &[]);
        assert_eq!(order[..2], [3, 2], "all CPUs, then one: {order:?}");
    }

    #[test]
    fn each_table_has_a_result_before_any_has_two_and_each_workload_of_it_before_a_third() {
        // Two tables of two workloads without a row, and one of a workload with a row.
        let of = |id: &str| [1, 2, 4].map(|threads| point(id, threads, "sse2")).to_vec();
        let points = [of("cpu.mix.int"), of("cpu.mix.float"), of("cpu.mix.int"), of("cpu.iops")];
        let order = wanted(points.concat(), &[0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2], &[]);
        let table = |place: &usize| [0, 0, 1, 2][place / 3];
        assert_eq!(order[0], 10, "the row: {order:?}");
        let mut first: Vec<usize> = order[..3].iter().map(table).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2], "{order:?}");
        let workloads: BTreeSet<usize> = order[..4].iter().map(|place| place / 3).collect();
        assert_eq!(workloads.len(), 4, "{order:?}");
    }

    #[test]
    fn the_comparison_with_a_tool_is_its_tables_first_result() {
        let points: Vec<Point> =
            [4, 2, 1].map(|threads| point("cpu.mix.int", threads, "sse2")).into();
        let all = wanted(
            [points.clone(), points].concat(),
            &[0, 0, 0, 1, 1, 1],
            &[("own", 5, 20.0), ("own", 4, 10.0)],
        );
        let place = |wanted: usize| all.iter().position(|place| *place == wanted).unwrap();
        assert!(place(4) < 2, "the shortest pair: {all:?}");
        assert!(place(5) >= 2 && all[..2].iter().any(|place| *place < 3), "{all:?}");
    }

    #[test]
    fn a_series_fills_no_row() {
        let points = vec![point("cpu.iops", 2, "avx512"), point("cpu.iops", 2, "sse2")];
        let series = vec![PlannedSeries { point: 0, for_s: 600.0, every_s: 1.0 }];
        let plan = Plan { points, series, ..Plan::default() };
        assert_eq!(ranks(&Planned { plan, usable_cpus: 2, ..Planned::default() }), [1, 0]);
    }
}
