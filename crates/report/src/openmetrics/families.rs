//! Which families there are, and the series of each.

use proofmark_model::{Measurement, Reference, Run, Timestamp, Unit, Verdict};

use super::labels::{self, Label, Labels, Unique, label};
use crate::view::interval;

/// A metric family; its name in the output ends in the unit.
#[derive(Debug)]
pub struct Family {
    /// Name between `proofmark_` and the unit.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Unit, in the plural, as the name ends.
    pub unit: Option<&'static str>,
    /// Labels and value of each series.
    pub series: Vec<(Labels, f64)>,
}

/// Further labels and the value of each series of a measurement.
type Values = Vec<(Option<Label>, Option<f64>)>;

type Read = fn(&Measurement) -> Values;

/// A family about measurements: name, what it is, unit, series.
type OfMeasurements = (&'static str, &'static str, Option<&'static str>, Read);

/// Families in the measurement's own unit: one for each unit.
const IN_UNIT: &[(&str, &str, Read)] = &[
    ("measurement", "The headline figure.", |m| {
        vec![(None, m.summary.as_ref().map(|s| s.value()))]
    }),
    ("measurement_interval", "Bounds of its 95 % interval.", |m| {
        let bound = |word, at: usize| (Some(label("bound", word)), interval(m).map(|c| c[at]));
        vec![bound("low", 0), bound("high", 1)]
    }),
    ("ceiling", "Theoretical limit of the result.", |m| {
        vec![(None, m.ceiling.as_ref().map(|c| c.value))]
    }),
    ("reference", "Median of a reference tool.", |m| references(m, |r| r.value)),
];

const VERDICT_AND_TRIALS: &[OfMeasurements] = &[
    ("measurement_verdict", "1 for the verdict of the result, 0 for the others.", None, |m| {
        let all = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        all.map(|v| (Some(label("verdict", v.as_str())), Some(flag(v == m.verdict)))).to_vec()
    }),
    ("measurement_trials", "Trials taken.", None, |m| vec![(None, Some(m.trials.len() as f64))]),
];

const OTHER: &[OfMeasurements] = &[
    (
        "efficiency",
        "Measured value divided by the ceiling; inverted where lower is better.",
        Some("ratio"),
        |m| vec![(None, m.efficiency)],
    ),
    (
        "latency",
        "Time of single operations: the quantile of this share.",
        Some("seconds"),
        latencies,
    ),
    (
        "reference",
        "proofmark's value divided by the reference tool's: the median of the pairs.",
        Some("ratio"),
        |m| references(m, |r| r.ratio.median),
    ),
];

/// A unit as names of metrics write it.
fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::FlopPerSecond => "flops_per_second",
        Unit::OpPerSecond => "operations_per_second",
        Unit::Hertz => "hertz",
        Unit::BytePerSecond => "bytes_per_second",
        Unit::BitPerSecond => "bits_per_second",
        Unit::Second => "seconds",
    }
}

/// Every family; some have no series.
pub fn from_run(run: &Run) -> Vec<Family> {
    let mut unique = Unique::default();
    let labelled = |m| (m, unique.distinct(labels::for_measurement(m), "repeat"));
    let all: Vec<(&Measurement, Labels)> = run.measurements.iter().map(labelled).collect();
    let of_all = |(name, help, unit, values): &OfMeasurements| {
        let series = all.iter().flat_map(|(m, labels)| with_labels(labels, values(m)));
        family(name, help, *unit, series)
    };
    let mut families = of_run(run);
    families.extend(VERDICT_AND_TRIALS.iter().map(of_all));
    for unit in Unit::ALL {
        let here = || all.iter().filter(move |(m, _)| m.unit == unit);
        families.extend(IN_UNIT.iter().map(|(name, help, values)| {
            let series = here().flat_map(|(m, labels)| with_labels(labels, values(m)));
            family(name, help, Some(unit_name(unit)), series)
        }));
    }
    families.extend(OTHER.iter().map(of_all));
    families
}

/// About the run as a whole.
fn of_run(run: &Run) -> Vec<Family> {
    let seconds = |t: Timestamp| t.0.as_nanosecond() as f64 / 1e9;
    let mut info = vec![label("version", &run.tool.version), label("profile", &run.plan.profile)];
    info.extend(run.imported.as_ref().map(|tool| label("imported", tool)));
    info.extend(run.host.cpu.model_name.get().map(|name| label("cpu", name)));
    info.extend(run.host.os.kernel.get().map(|name| label("os_kernel", name)));
    // An import is of a run that somebody else began and ended.
    let complete = run.ended.is_some() && run.interrupted.is_none();
    let complete = run.imported.is_none().then(|| flag(complete));
    let began = Some(seconds(run.started));
    let one = |name, help, unit, labels: Labels, value| family(name, help, unit, [(labels, value)]);
    vec![
        one(
            "run_info",
            "Program, profile and machine of the run; always 1.",
            None,
            info,
            Some(1.0),
        ),
        one(
            "run_start_timestamp",
            "When the run began, in seconds since 1970.",
            Some("seconds"),
            Vec::new(),
            began,
        ),
        one(
            "run_end_timestamp",
            "When the run ended, in seconds since 1970; missing if it never did.",
            Some("seconds"),
            Vec::new(),
            run.ended.map(seconds),
        ),
        one(
            "run_complete",
            "1 if the run ended by itself, 0 if it was stopped or killed.",
            None,
            Vec::new(),
            complete,
        ),
    ]
}

/// A family of the series that have a finite value.
fn family(
    name: &'static str,
    help: &'static str,
    unit: Option<&'static str>,
    series: impl IntoIterator<Item = (Labels, Option<f64>)>,
) -> Family {
    let mut unique = Unique::default();
    let finite = |(labels, value): (Labels, Option<f64>)| {
        let value = value.filter(|v| v.is_finite())?;
        // Only two references of one measurement have the same labels.
        Some((unique.distinct(labels, "reference_repeat"), value))
    };
    Family { name, help, unit, series: series.into_iter().filter_map(finite).collect() }
}

fn with_labels(labels: &Labels, values: Values) -> impl Iterator<Item = (Labels, Option<f64>)> {
    values.into_iter().map(|(more, v)| (labels.iter().cloned().chain(more).collect(), v))
}

fn latencies(m: &Measurement) -> Values {
    let Some(l) = &m.latency else { return Vec::new() };
    let shares = [
        ("0.5", Some(l.p50)),
        ("0.9", l.p90),
        ("0.99", l.p99),
        ("0.999", l.p999),
        ("1", Some(l.max)),
    ];
    shares.map(|(share, v)| (Some(label("share", share)), v)).to_vec()
}

/// One series for each reference tool of a measurement, by the tool's name.
fn references(m: &Measurement, value: fn(&Reference) -> f64) -> Values {
    m.references.iter().map(|r| (Some(label("reference", &r.tool)), Some(value(r)))).collect()
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}
