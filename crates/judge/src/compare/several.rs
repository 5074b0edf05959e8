//! Several runs of one side, compared as one: each result is that of the run in the middle, with the
//! medians over all runs in place of its figures.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    Figure, FigureKind, Measurement, OverRuns, Params, Run, Summary, Verdict, counted,
};

use crate::group::over_runs;
use crate::statistics::most_frequent;

/// The runs of one side, at least one, and one run that stands for them.
#[derive(Debug, Clone)]
pub struct Several {
    runs: Vec<Run>,
    /// `None`: a single run stands for itself.
    merged: Option<Run>,
}

impl Several {
    /// Takes runs together; `None` without any. A single run stands for itself.
    pub fn new(mut runs: Vec<Run>) -> Option<Self> {
        runs.sort_by_key(|run| run.started);
        let merged = match runs.as_slice() {
            [] => return None,
            [_] => None,
            all => Some(merged(all)),
        };
        Some(Self { runs, merged })
    }

    /// Returns the runs, the earliest first.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the run that stands for all: the machine of the last one, and the results of all.
    pub fn merged(&self) -> &Run {
        self.merged.as_ref().unwrap_or(&self.runs[0])
    }
}

/// What identifies a result in several runs.
pub(super) type Key<'a> = (&'a str, &'a Params, bool);

pub(super) fn key(m: &Measurement) -> Key<'_> {
    (&m.workload, &m.params, m.series.is_some())
}

/// Returns the methods of a workload in two runs: figures of two methods are not comparable.
pub(super) fn methods(runs: [&Run; 2], workload: &str) -> [Option<u32>; 2] {
    runs.map(|run| run.workloads.get(workload).map(|spec| spec.method))
}

/// Returns true if a result of a run may be taken together with those of another.
pub(super) fn has_method_of(run: &Run, other: &Run, m: &Measurement) -> bool {
    let [own, others] = methods([run, other], &m.workload);
    own == others
}

fn merged(runs: &[Run]) -> Run {
    let last = &runs[runs.len() - 1];
    let mut by_key: BTreeMap<Key, Vec<&Measurement>> = BTreeMap::new();
    for run in runs {
        let counts = |m: &&Measurement| has_method_of(run, last, m);
        for m in run.measurements.iter().filter(counts) {
            by_key.entry(key(m)).or_default().push(m);
        }
    }
    // In the order of the last run, then that of those before.
    let mut seen = BTreeSet::new();
    let in_order = runs.iter().rev().flat_map(|run| &run.measurements);
    let results = in_order.filter(|m| seen.insert(key(m)));
    let results =
        results.map(|m| merged_result(by_key.get(&key(m)).map_or(&[][..], Vec::as_slice), m));
    Run { interrupted: None, ..last.with_measurements(results.collect()) }
}

/// Merges one result of all runs. A series stays that of the last run. If more runs have the result
/// unusable than usable, the last unusable one stands for it.
fn merged_result(all: &[&Measurement], last: &Measurement) -> Measurement {
    if last.series.is_some() {
        return last.clone();
    }
    let unit = last.unit;
    let usable = all.iter().copied().filter(|m| m.verdict.is_usable() && m.unit == unit);
    let usable: Vec<(&Measurement, &Summary)> =
        usable.filter_map(|m| Some((m, m.summary.as_ref()?))).collect();
    let headline = most_frequent(usable.iter().map(|(_, s)| s.headline));
    let value = |s: &Summary| s.figure(headline).value.filter(|v| v.is_finite());
    let mut of_kind: Vec<(&Measurement, &Summary, f64)> =
        usable.iter().filter_map(|(m, s)| Some((*m, *s, value(s)?))).collect();
    of_kind.sort_by(|a, b| a.2.total_cmp(&b.2));
    let middle = of_kind.get(of_kind.len().saturating_sub(1) / 2);
    let mut unusable = all.iter().copied().filter(|m| !m.verdict.is_usable());
    let worse = unusable.clone().count() > of_kind.len();
    let Some((middle, summary, _)) = middle.filter(|_| !worse) else {
        return unusable.next_back().unwrap_or(last).clone();
    };
    let over = |kind: FigureKind| {
        let each = usable.iter().map(|(_, s)| s.figure(kind));
        let values = each.enumerate().filter_map(|(i, figure)| {
            Some((i, figure.value.filter(|v| v.is_finite() && *v > 0.0)?))
        });
        over_all(&values.collect::<Vec<_>>(), summary.figure(kind))
    };
    let mut verdicts: Vec<Verdict> = usable.iter().map(|(m, _)| m.verdict).collect();
    verdicts.sort_unstable();
    Measurement {
        summary: Some(Summary {
            headline,
            attainable: over(FigureKind::Attainable),
            typical: over(FigureKind::Typical),
            delivered: over(FigureKind::Delivered),
            trials: summary.trials.clone(),
        }),
        precision: None,
        verdict: verdicts[verdicts.len() / 2],
        ..(*middle).clone()
    }
}

/// A figure over all runs; where no run has it, as the run in the middle has it.
fn over_all(values: &[(usize, f64)], middle: &Figure) -> Figure {
    match over_runs(values, 0.0) {
        None => values.first().map_or_else(
            || middle.clone(),
            |(_, value)| Figure::alone(*value, "only one run has it"),
        ),
        Some(OverRuns::One(level)) => match level.ci95 {
            Some(ci95) => {
                Figure { value: Some(level.median), ci95: Some(ci95), ..Figure::default() }
            }
            None => Figure::alone(
                level.median,
                format!("{} are too few for an interval over runs", counted(level.runs, "run")),
            ),
        },
        Some(OverRuns::Two { states }) => {
            let [low, high] = states;
            let more = if low.runs > high.runs { low } else { high };
            Figure::alone(more.median, "the runs have one of two values")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, host, run};

    fn with_rate(value: f64) -> Run {
        let mut m = flops(1);
        if let Some(s) = &mut m.summary {
            let factor = value / s.value();
            proofmark_model::testing::rescale(s, factor);
        }
        run(host(), vec![m])
    }

    #[test]
    fn runs_are_one_by_their_medians() {
        assert!(Several::new(Vec::new()).is_none());
        let single = Several::new(vec![with_rate(1e9)]).unwrap();
        assert_eq!(single.merged(), &single.runs()[0]);
        let mut runs: Vec<Run> = [3e9, 1e9, 9e9].map(with_rate).into();
        runs[2].measurements[0].verdict = Verdict::Suspect;
        let three = Several::new(runs.clone()).unwrap();
        let m = &three.merged().measurements[0];
        let summary = m.summary.as_ref().unwrap();
        assert_eq!((summary.value(), m.verdict), (3e9, Verdict::Valid));
        assert!(summary.ci95().is_some_and(|[low, high]| low < 1e9 && high > 9e9));
        // Of another method they are not comparable.
        let mut other = runs.clone();
        other[0].workloads.get_mut("cpu.flops").unwrap().method += 1;
        let others = Several::new(other).unwrap();
        let m = &others.merged().measurements[0];
        assert_eq!(m.summary.as_ref().unwrap().value(), 5e9);
        // More unusable ones are unusable.
        let mut most = runs.clone();
        most[0].measurements[0].verdict = Verdict::Invalid;
        most[1].measurements[0].verdict = Verdict::Invalid;
        let most = Several::new(most).unwrap();
        assert_eq!(most.merged().measurements[0].verdict, Verdict::Invalid);
        // What is unusable does not count, and no result is lost.
        runs[2].measurements[0].verdict = Verdict::Invalid;
        runs[0].measurements.push(flops(2));
        let two = Several::new(runs).unwrap();
        let all = &two.merged().measurements;
        assert_eq!(all.len(), 2);
        let first = all.iter().find(|m| m.params.threads() == 1).unwrap();
        let summary = first.summary.as_ref().unwrap();
        assert_eq!((summary.value(), summary.ci95()), (2e9, None));
    }
}
