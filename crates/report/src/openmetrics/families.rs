//! Which families there are, and the series of each.

use proofmark_model::{Measurement, Reference, Run, Timestamp, Unit, Verdict};

use super::labels::{self, Labels, Unique, label};
use crate::view::interval;

/// A metric family; its name in the output ends in the unit.
#[derive(Debug)]
pub struct Family {
    /// Name without the unit.
    pub name: String,
    /// What it is.
    pub help: &'static str,
    /// Unit, in the plural, as the name ends.
    pub unit: Option<&'static str>,
    /// Labels and value of each series.
    pub series: Vec<(Labels, f64)>,
}

/// Every unit, in the order of the output.
const UNITS: [Unit; 6] = [
    Unit::FlopPerSecond,
    Unit::OpPerSecond,
    Unit::Hertz,
    Unit::BytePerSecond,
    Unit::BitPerSecond,
    Unit::Second,
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

/// A measurement and the labels that identify it.
type Labelled<'a> = (&'a Measurement, Labels);

/// Every family; some have no series.
pub fn from_run(run: &Run) -> Vec<Family> {
    let mut unique = Unique::default();
    let all: Vec<Labelled> = run
        .measurements
        .iter()
        .map(|m| (m, unique.distinct(labels::for_measurement(m), "repeat")))
        .collect();
    let mut families = run_families(run);
    families.push(verdicts(&all));
    families.push(each(&all, "measurement_trials", "Trials taken.", None, |m| {
        vec![(None, Some(m.trials.len() as f64))]
    }));
    for unit in UNITS {
        families.extend(in_unit(&all, unit));
    }
    families.push(each(
        &all,
        "efficiency",
        "Measured value divided by the ceiling; inverted where lower is better.",
        Some("ratio"),
        |m| vec![(None, m.efficiency)],
    ));
    families.push(latencies(&all));
    families.push(references(
        &all,
        "reference",
        "proofmark's value divided by the reference tool's: the median of the pairs.",
        Some("ratio"),
        |_, r| Some(r.ratio.median),
    ));
    families
}

/// About the run as a whole.
fn run_families(run: &Run) -> Vec<Family> {
    let one = |name: &str, help, unit, labels: Labels, value: Option<f64>| Family {
        name: format!("proofmark_{name}"),
        help,
        unit,
        series: value.into_iter().filter(|v| v.is_finite()).map(|v| (labels.clone(), v)).collect(),
    };
    let seconds = |t: Timestamp| t.0.as_nanosecond() as f64 / 1e9;
    let mut info = vec![label("version", &run.tool.version), label("profile", &run.plan.profile)];
    info.extend(run.imported.as_ref().map(|tool| label("imported", tool)));
    info.extend(run.host.cpu.model_name.get().map(|name| label("cpu", name)));
    info.extend(run.host.os.kernel.get().map(|name| label("os_kernel", name)));
    let no = Labels::new;
    // An import is of a run that somebody else began and ended.
    let own = run.imported.is_none();
    let complete = own.then_some(run.ended.is_some() && run.interrupted.is_none());
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
            no(),
            Some(seconds(run.started)),
        ),
        one(
            "run_end_timestamp",
            "When the run ended, in seconds since 1970; missing if it never did.",
            Some("seconds"),
            no(),
            run.ended.map(seconds),
        ),
        one(
            "run_complete",
            "1 if the run ended by itself, 0 if it was stopped or killed.",
            None,
            no(),
            complete.map(|c| f64::from(u8::from(c))),
        ),
    ]
}

/// One family; `values` gives further labels and a value, for each series of a measurement.
fn each(
    all: &[Labelled],
    name: &str,
    help: &'static str,
    unit: Option<&'static str>,
    values: impl Fn(&Measurement) -> Vec<(Option<(String, String)>, Option<f64>)>,
) -> Family {
    let mut series = Vec::new();
    for (m, labels) in all {
        for (further, value) in values(m) {
            let Some(value) = value.filter(|v| v.is_finite()) else { continue };
            series.push((labels.iter().cloned().chain(further).collect(), value));
        }
    }
    Family { name: format!("proofmark_{name}"), help, unit, series }
}

fn verdicts(all: &[Labelled]) -> Family {
    let help = "1 for the verdict of the result, 0 for the others.";
    each(all, "measurement_verdict", help, None, |m| {
        let state = |v: Verdict| {
            let is = f64::from(u8::from(v == m.verdict));
            (Some(label("verdict", v.as_str())), Some(is))
        };
        [Verdict::Valid, Verdict::Suspect, Verdict::Invalid].map(state).to_vec()
    })
}

/// What is in the measurement's own unit.
fn in_unit(all: &[Labelled], unit: Unit) -> Vec<Family> {
    let name = Some(unit_name(unit));
    let plain = |value: fn(&Measurement) -> Option<f64>| {
        move |m: &Measurement| match m.unit == unit {
            true => vec![(None, value(m))],
            false => Vec::new(),
        }
    };
    let bound = |m: &Measurement, at: usize| interval(m).map(|c| c[at]);
    vec![
        each(
            all,
            "measurement",
            "The headline figure.",
            name,
            plain(|m| Some(m.summary.as_ref()?.value())),
        ),
        each(all, "measurement_interval", "Bounds of its 95 % interval.", name, |m| {
            let bounds = [("low", 0), ("high", 1)];
            let of = |(word, at)| (Some(label("bound", word)), bound(m, at));
            if m.unit == unit { bounds.map(of).to_vec() } else { Vec::new() }
        }),
        each(
            all,
            "ceiling",
            "Theoretical limit of the result.",
            name,
            plain(|m| Some(m.ceiling.as_ref()?.value)),
        ),
        references(all, "reference", "Median of a reference tool.", name, |m, r| {
            (m.unit == unit).then_some(r.value)
        }),
    ]
}

fn latencies(all: &[Labelled]) -> Family {
    let help = "Time of single operations: the quantile of this share.";
    each(all, "latency", help, Some("seconds"), |m| {
        let Some(l) = &m.latency else { return Vec::new() };
        let shares = [
            ("0.5", Some(l.p50)),
            ("0.9", l.p90),
            ("0.99", l.p99),
            ("0.999", l.p999),
            ("1", Some(l.max)),
        ];
        shares.map(|(share, v)| (Some(label("share", share)), v)).to_vec()
    })
}

/// One series for each reference tool of a measurement, by the tool's name.
fn references(
    all: &[Labelled],
    name: &str,
    help: &'static str,
    unit: Option<&'static str>,
    value: impl Fn(&Measurement, &Reference) -> Option<f64>,
) -> Family {
    let mut unique = Unique::default();
    let mut series = Vec::new();
    for (m, labels) in all {
        for r in &m.references {
            let Some(value) = value(m, r).filter(|v| v.is_finite()) else { continue };
            let labels = labels.iter().cloned().chain([label("reference", &r.tool)]).collect();
            series.push((unique.distinct(labels, "reference_repeat"), value));
        }
    }
    Family { name: format!("proofmark_{name}"), help, unit, series }
}
