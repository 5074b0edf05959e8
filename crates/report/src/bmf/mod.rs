//! Bencher Metric Format: JSON for Bencher, which draws measures over time and alerts on changes.
//!
//! A benchmark is a configuration, named as in a requirement: `cpu.flops[isa=avx2,threads=2]`. Its
//! measures have the slugs and units of Bencher's own where it has them:
//!
//! - `throughput`: the delivered rate, in the base unit of the workload per second;
//! - `latency`: the delivered time of one operation, in nanoseconds. Where a workload counts
//!   operations, it is their mean;
//! - `throughput-attainable`, `latency-typical` and so on: the headline, where it is another figure;
//! - `latency-p50`, `latency-p99`: percentiles of single operations, in nanoseconds;
//! - `frequency`: the core clock, in hertz.
//!
//! `lower_value` and `upper_value` are the ends of a 95 % interval, and missing without one. The
//! format has no verdict: invalid results are left out. It has no host either: Bencher's testbed is
//! named when the file is uploaded.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Figure, FigureKind, Measurement, Run, Unit, Verdict, clean_excerpt};
use serde::{Serialize, Serializer};

use crate::view::{counted, interval, joined, plain_spaces};
use crate::{Options, RenderError};

/// Maximum length of a benchmark's name in Bencher, less room for a number.
const LONGEST: usize = 1000;
/// Maximum number of results that a message names.
const NAMED: usize = 3;

const NANOSECONDS: f64 = 1e9;

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

type Measures = BTreeMap<String, Metric>;

/// The measures of each benchmark by its name, in the order of the run.
struct Benchmarks(Vec<(String, Measures)>);

impl Serialize for Benchmarks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, measures)| (name, measures)))
    }
}

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut all = Vec::new();
    let mut taken = BTreeSet::new();
    for m in run.measurements.iter().filter(|m| m.verdict != Verdict::Invalid) {
        let measures = measures(m);
        if !measures.is_empty() {
            all.push((unique(&mut taken, &name(m)), measures));
        }
    }
    Ok(serde_json::to_string_pretty(&Benchmarks(all))? + "\n")
}

/// Returns the line on results that are left out, because they are invalid.
pub(crate) fn left_out(run: &Run) -> Option<String> {
    let invalid = run.measurements.iter().filter(|m| m.verdict == Verdict::Invalid);
    let names: Vec<String> = invalid.map(name).collect();
    if names.is_empty() {
        return None;
    }
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = counted(names.len() as u64, "invalid result");
    Some(format!("bmf leaves out {count}: {}{more}", joined(names.iter().take(NAMED), ", ")))
}

fn name(m: &Measurement) -> String {
    let parameters = m.params.0.iter().map(|(name, value)| format!("{name}={value}"));
    let over_time = if m.series.is_some() { " over time" } else { "" };
    let name = match joined(parameters, ",") {
        none if none.is_empty() => m.workload.clone(),
        parameters => format!("{}[{parameters}]", m.workload),
    };
    clean_excerpt(&plain_spaces(&format!("{name}{over_time}")), LONGEST)
}

/// Returns the name, with a number if another configuration has it.
fn unique(taken: &mut BTreeSet<String>, name: &str) -> String {
    let mut unique = name.to_owned();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = format!("{name} #{number}");
    }
    unique
}

fn measures(m: &Measurement) -> Measures {
    let mut all = Measures::new();
    let Some(summary) = &m.summary else { return all };
    let (measure, factor) = match m.unit {
        Unit::Second => ("latency", NANOSECONDS),
        Unit::Hertz => ("frequency", 1.0),
        _ => ("throughput", 1.0),
    };
    // Several levels over time have no interval.
    let has_interval = m.series.is_none() || interval(m).is_some();
    let mut add = |name: String, value: Option<f64>, ends: Option<[f64; 2]>| {
        let ends = ends.filter(|ends| ends.iter().all(|v| v.is_finite()));
        if let Some(value) = value.filter(|v| v.is_finite()) {
            let [lower_value, upper_value] = [0, 1].map(|at| ends.map(|ends: [f64; 2]| ends[at]));
            all.insert(name, Metric { value, lower_value, upper_value });
        }
    };
    let mut figure = |name: String, Figure { value, ci95, .. }: &Figure| {
        let ends = ci95.filter(|_| has_interval).map(|ends| ends.map(|v| v * factor));
        add(name, value.map(|v| v * factor), ends);
    };
    let headline = summary.headline;
    let main = if m.unit.is_work() { FigureKind::Delivered } else { headline };
    figure(measure.to_owned(), summary.figure(main));
    if headline != main {
        figure(format!("{measure}-{}", headline.as_str()), summary.figure(headline));
    }
    if let Some(l) = &m.latency {
        let times = [
            ("latency", Some(l.mean), None),
            ("latency-p50", Some(l.p50), l.ci95.p50),
            ("latency-p99", l.p99, l.ci95.p99),
        ];
        let skip = usize::from(m.unit == Unit::Second);
        for (name, seconds, ci95) in times.into_iter().skip(skip) {
            let ends = ci95.map(|ends| ends.map(|s| s * NANOSECONDS));
            add(name.to_owned(), seconds.map(|s| s * NANOSECONDS), ends);
        }
    }
    all
}
