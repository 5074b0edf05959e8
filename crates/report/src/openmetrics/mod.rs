//! Gauges as OpenMetrics text, for node_exporter's textfile collector. Write it as `proofmark.prom`
//! in another directory, then move it into the collector's.
//!
//! The text is valid in both formats. The collector reads Prometheus's older text format, to which
//! `# UNIT` and `# EOF` are comments. It refuses a file with timestamps, and types that the older
//! format does not have, such as `info`. So every metric is a gauge without a timestamp:
//! `proofmark_run_start_timestamp_seconds` gives the age of the figures.
//!
//! Every series has the labels `host` and `label` of its run, so that one collector can hold the files
//! of several machines. `proofmark_run_info` has the run's id, its start.
//!
//! Each unit has a family: `proofmark_measurement_bytes_per_second` is the headline figure, its
//! labels the workload and, after `param_`, every parameter. `proofmark_measurement_delivered_...` is
//! all work divided by all time, which `check` and `compare` test: where a machine lost time, only it
//! shows that. Bits are given as bytes, since those are the base unit of Prometheus. Further families
//! hold the intervals, the share of time that each cause took, the ceiling, the efficiency,
//! percentiles of the latency, and reference tools. A verdict is a set
//! of states: one series for each of `valid`, `coarse`, `suspect` and so on, of which one is 1. A
//! value that is missing or not finite has no series. The collector adds the machine (`instance`).

mod labels;

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Reference, Run, Timestamp, Unit, Verdict};

pub(crate) use self::labels::{Label, Labels, Unique, label};
use crate::view::{delivered, interval};
use crate::{Options, RenderError};

/// Further labels and the value of each series of a measurement.
type Values = Vec<(Option<Label>, Option<f64>)>;

type Read = fn(&Measurement) -> Values;

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut unique = Unique::default();
    let of_run = labels::for_run(run);
    let labelled = |m| (m, unique.distinct(labels::for_measurement(&of_run, m), "repeat"));
    let all: Vec<(&Measurement, Labels)> = run.measurements.iter().map(labelled).collect();
    let series = |keep: &dyn Fn(&Measurement) -> bool, read: Read| {
        let mut series = Vec::new();
        for (m, labels) in all.iter().filter(|(m, _)| keep(m)) {
            let one = |(more, v)| (labels.iter().cloned().chain(more).collect::<Labels>(), v);
            series.extend(read(m).into_iter().map(one));
        }
        series
    };
    let for_all = |read| series(&|_| true, read);
    let mut text = about_run(run, &of_run);
    let what = "1 for the verdict of the result, 0 for the others.";
    text += &family("measurement_verdict", what, None, for_all(verdicts));
    let trials = for_all(|m| vec![(None, Some(m.trials.len() as f64))]);
    text += &family("measurement_trials", "Trials taken.", None, trials);
    for unit in unit_names() {
        for (name, help, read) in IN_UNIT {
            let mut all = Vec::new();
            for of in Unit::ALL.into_iter().filter(|of| in_base_unit(*of).0 == unit) {
                let factor = in_base_unit(of).1;
                let series = series(&|m| m.unit == of, *read).into_iter();
                all.extend(series.map(|(labels, value)| (labels, value.map(|v| v * factor))));
            }
            text += &family(name, help, Some(unit), all);
        }
    }
    let what = "Share of the threads' time that was lost to the cause; the sum is all lost time.";
    let lost = all.iter().flat_map(|(m, labels)| {
        let each = lost_time(run, m).into_iter();
        each.map(|(cause, share)| (labels.iter().cloned().chain([cause]).collect(), Some(share)))
    });
    text += &family("measurement_lost_time", what, Some("ratio"), lost.collect());
    let what = "Measured value divided by the ceiling; inverted where lower is better.";
    text += &family("efficiency", what, Some("ratio"), for_all(|m| vec![(None, m.efficiency)]));
    let what = "Time of single operations: the quantile of this share.";
    text += &family("latency", what, Some("seconds"), for_all(latencies));
    let what = "proofmark's median over the pairs divided by the reference tool's.";
    let ratios = for_all(|m| references(m, |r| r.shown_ratio()));
    text += &family("reference", what, Some("ratio"), ratios);
    Ok(text + "# EOF\n")
}

/// Families in the measurement's own unit, one for each unit: name, help and series.
const IN_UNIT: &[(&str, &str, Read)] = &[
    ("measurement", "The headline figure.", |m| {
        vec![(None, m.summary.as_ref().map(|s| s.value()).filter(|v| v.is_finite()))]
    }),
    ("measurement_interval", "Bounds of its 95 % interval.", |m| {
        let bound = |word, at: usize| (Some(label("bound", word)), interval(m).map(|c| c[at]));
        vec![bound("low", 0), bound("high", 1)]
    }),
    ("measurement_delivered", "All work divided by all time: check and compare test it.", |m| {
        vec![(None, delivered(m).and_then(|figure| figure.value))]
    }),
    ("measurement_delivered_interval", "Bounds of the 95 % interval of delivered.", |m| {
        let bound = |word, at: usize| {
            let ends = delivered(m).and_then(|figure| figure.ci95);
            (Some(label("bound", word)), ends.map(|ends| ends[at]))
        };
        vec![bound("low", 0), bound("high", 1)]
    }),
    ("ceiling", "Theoretical limit of the result.", |m| {
        vec![(None, m.ceiling.as_ref().map(|c| c.value))]
    }),
    ("reference", "Median of a reference tool.", |m| references(m, |r| r.value)),
];

/// Returns the base unit of Prometheus in the form of metric names, in the plural, and the factor of
/// a value.
pub(crate) fn in_base_unit(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::FlopPerSecond => ("flops_per_second", 1.0),
        Unit::OpPerSecond => ("operations_per_second", 1.0),
        Unit::Hertz => ("hertz", 1.0),
        Unit::BytePerSecond => ("bytes_per_second", 1.0),
        Unit::BitPerSecond => ("bytes_per_second", 0.125),
        Unit::Second => ("seconds", 1.0),
    }
}

/// Returns each base unit once.
pub(crate) fn unit_names() -> BTreeSet<&'static str> {
    Unit::ALL.into_iter().map(|unit| in_base_unit(unit).0).collect()
}

/// Writes the families about the run as a whole.
fn about_run(run: &Run, labels: &Labels) -> String {
    let mut info = labels.clone();
    info.push(label("run_id", &run.started.to_string()));
    info.extend([label("version", &run.tool.version), label("profile", &run.plan.profile)]);
    info.extend(run.imported.as_ref().map(|tool| label("imported", tool)));
    info.extend(run.host.cpu.model_name.get().map(|name| label("cpu", name)));
    info.extend(run.host.os.kernel.get().map(|name| label("os_kernel", name)));
    // Nothing is known of the end of an imported run.
    let complete = run.ended.is_some() && run.interrupted.is_none();
    let complete = run.imported.is_none().then(|| flag(complete));
    let bare = |name, help, unit, v| family(name, help, unit, vec![(labels.clone(), v)]);
    let what = "Program, profile and machine of the run; always 1.";
    let mut text = family("run_info", what, None, vec![(info, Some(1.0))]);
    let what = "Start of the run, in seconds since 1970.";
    text += &bare("run_start_timestamp", what, Some("seconds"), Some(seconds(run.started)));
    let what = "End of the run, in seconds since 1970; missing if the run has none.";
    text += &bare("run_end_timestamp", what, Some("seconds"), run.ended.map(seconds));
    let what = "1 if the run ended by itself, 0 if it was stopped or killed.";
    text + &bare("run_complete", what, None, complete)
}

/// Returns a time in seconds since 1970.
pub(crate) fn seconds(t: Timestamp) -> f64 {
    t.0.as_nanosecond() as f64 / 1e9
}

/// Writes the family of the series that have a finite value, under a name that ends in the unit;
/// nothing without any.
pub(crate) fn family(
    name: &str,
    help: &str,
    unit: Option<&str>,
    series: Vec<(Labels, Option<f64>)>,
) -> String {
    let suffix = unit.map_or_else(String::new, |unit| format!("_{unit}"));
    let name = format!("proofmark_{name}{suffix}");
    let unit = unit.map_or_else(String::new, |unit| format!("# UNIT {name} {unit}\n"));
    let mut unique = Unique::default();
    let lines = series.into_iter().filter_map(|(labels, value)| {
        let value = value.filter(|v| v.is_finite())?;
        // Only two references of one measurement have the same labels.
        let labels = unique.distinct(labels, "reference_repeat");
        Some(format!("{name}{{{}}} {value:?}\n", join(&labels)))
    });
    match lines.collect::<String>() {
        lines if lines.is_empty() => lines,
        lines => format!("# HELP {name} {help}\n# TYPE {name} gauge\n{unit}{lines}"),
    }
}

/// Writes `name="value",...`, escaped.
fn join(labels: &Labels) -> String {
    let escape = |v: &str| v.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
    labels.collect::<Vec<_>>().join(",")
}

fn verdicts(m: &Measurement) -> Values {
    let state = |v: Verdict| (Some(label("verdict", v.id())), Some(flag(v == m.verdict)));
    Verdict::ALL.map(state).to_vec()
}

/// Returns the share of the threads' time that each cause took, by its name; empty where the time is
/// not accounted for.
fn lost_time(run: &Run, m: &Measurement) -> Vec<(Label, f64)> {
    let Some(account) = run.time_account_of(&m.trials) else { return Vec::new() };
    let all = account.taken(0.0).into_iter();
    all.map(|(share, cause)| (label("cause", cause.name), share)).collect()
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

/// Returns a series for each reference tool of a measurement, by the tool's name.
fn references(m: &Measurement, value: fn(&Reference) -> f64) -> Values {
    m.references.iter().map(|r| (Some(label("reference", &r.tool)), Some(value(r)))).collect()
}

pub(crate) fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}
