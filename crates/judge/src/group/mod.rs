//! Several runs of one plan: each result over all runs, and what changed between them.

mod over_runs;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    FigureKind, GROUP_SCHEMA, GroupChange, GroupedResult, GroupedRun, MainResult, Measurement,
    Params, Run, RunGroup, RunValue, clean, median, placement_words,
};

use crate::compare::{Names, clock_under_load, facts_that_differ};
use crate::levels::level_shifts;
use crate::statistics::most_frequent;
pub(crate) use over_runs::{over_runs, successive};

/// A run and where it was read.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Path of the run.
    pub name: &'a str,
    /// The run.
    pub run: &'a Run,
}

/// Takes runs together, in the order of their starts.
pub fn group(members: &[Member]) -> RunGroup {
    let mut members = members.to_vec();
    members.sort_by_key(|m| m.run.started);
    let changes = members.windows(2).enumerate().filter_map(|(i, pair)| {
        let differences = facts_that_differ(pair[0].run, pair[1].run);
        (!differences.is_empty()).then_some(GroupChange { run: i + 1, differences })
    });
    RunGroup {
        schema: Cow::Borrowed(GROUP_SCHEMA),
        changes: changes.collect(),
        results: results(&members),
        runs: members.into_iter().map(grouped_run).collect(),
    }
}

fn grouped_run(member: Member) -> GroupedRun {
    let run = member.run;
    let placements = &run.cpu_placements;
    GroupedRun {
        name: clean(member.name),
        started: run.started,
        seconds: run.ended.map(|ended| ended.since(run.started)),
        label: run.label.as_deref().map(clean).filter(|label| !label.is_empty()),
        machine: run.machine_words(),
        verdicts: run.measurements.iter().map(|m| m.verdict).collect(),
        clock_hz: clock_under_load(run),
        placements: (!placements.is_empty()).then(|| placement_words(placements)),
        at_work: run.time_account().map(|time| time.at_work()),
        others_of_one_cpu: run.programs_of_one_cpu,
    }
}

/// A run with what its results are looked up by, which is made once.
struct Indexed<'a> {
    run: &'a Run,
    names: Names<'a>,
    rows: Vec<MainResult<'a>>,
    results: BTreeMap<Key<'a>, &'a Measurement>,
}

type Key<'a> = (&'a str, &'a Params);

impl<'a> Indexed<'a> {
    fn new(run: &'a Run) -> Self {
        let mut results = BTreeMap::new();
        for m in each_result(run) {
            results.entry(key(m)).or_insert(m);
        }
        let rows = run.main_results().into_iter().flat_map(|(_, rows)| rows).collect();
        Self { run, names: Names::collect(run, run), rows, results }
    }

    /// Place and title on the first screen.
    fn row(&self, m: &Measurement) -> Option<(usize, String)> {
        let (place, row) =
            self.rows.iter().enumerate().find(|(_, row)| std::ptr::eq(row.measurement, m))?;
        Some((place, row.title(self.run)?))
    }
}

/// The results of a run. A series over time is none: it has no single value.
fn each_result(run: &Run) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.series.is_none())
}

fn key(m: &Measurement) -> Key<'_> {
    (&m.workload, &m.params)
}

/// The results of all runs, in the order of the first run that has each.
fn results(members: &[Member]) -> Vec<GroupedResult> {
    let runs: Vec<Indexed> = members.iter().map(|member| Indexed::new(member.run)).collect();
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for own in &runs {
        let new = each_result(own.run).filter(|m| seen.insert(key(m)));
        all.extend(new.map(|first| result(&runs, own, first)));
    }
    all
}

fn result(runs: &[Indexed], own: &Indexed, first: &Measurement) -> GroupedResult {
    let in_each: Vec<Option<&Measurement>> = runs
        .iter()
        .map(|run| run.results.get(&key(first)).copied().filter(|m| m.unit == first.unit))
        .map(|m| m.filter(|m| m.verdict.is_usable() && m.summary.is_some()))
        .collect();
    let headlines = in_each.iter().flatten().filter_map(|m| Some(m.summary.as_ref()?.headline));
    let figure = most_frequent(headlines);
    let values: Vec<Option<RunValue>> =
        in_each.iter().map(|m| value(m.as_ref()?, figure)).collect();
    let placed: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(place, v)| Some((place, v.as_ref()?.value)))
        .collect();
    let half_widths: Vec<f64> =
        in_each.iter().filter_map(|m| Some(m.as_ref()?.precision?.half_width)).collect();
    let spec = own.run.workloads.get(&first.workload);
    let (main_row, title) = own.row(first).unzip();
    GroupedResult {
        workload: clean(&first.workload),
        name: own.names.name(first),
        main_row,
        title: title.unwrap_or_else(|| own.names.title(first)),
        subsystem: first.subsystem,
        params: first.params.clone(),
        unit: first.unit,
        random: spec.is_some_and(|spec| spec.work.is_random()),
        better: first.better,
        figure,
        within: median(&half_widths),
        over_runs: over_runs(&placed, first.subsystem.info().tolerance),
        level_changes: level_shifts(&placed),
        values,
    }
}

fn value(m: &Measurement, figure: FigureKind) -> Option<RunValue> {
    let value = m.summary.as_ref()?.figure(figure).value.filter(|v| v.is_finite())?;
    Some(RunValue { value, verdict: m.verdict })
}
