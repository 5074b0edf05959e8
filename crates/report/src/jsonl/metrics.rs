//! Which metrics there are, by name. Units are those of the run file; `1` is a plain number.

use std::borrow::Cow;

use proofmark_model::{Better, Measurement, Param, Reference, Run};
use serde_json::Value;

use crate::view::{clean, interval, trial_iops};

/// One line's own part.
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its value in `unit`.
    pub value: f64,
    /// Symbol of the unit.
    pub unit: Cow<'static, str>,
    /// Further fields.
    pub more: Vec<(&'static str, Value)>,
}

impl Metric {
    /// A metric without further fields.
    pub fn new(name: &'static str, value: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self { name, value, unit: unit.into(), more: Vec::new() }
    }

    /// The same with one more field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    fn better(self, better: Better) -> Self {
        let word = match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        };
        self.with("better", word)
    }
}

/// The value of a parameter; text without what steers a terminal.
pub fn param(value: &Param) -> Value {
    match value {
        Param::Flag(v) => (*v).into(),
        Param::Int(v) => (*v).into(),
        Param::Text(v) => clean(v).into(),
    }
}

/// Of the run as a whole.
pub fn for_run(run: &Run) -> Vec<Metric> {
    let mut points = Metric::new("run_points", run.measurements.len() as f64, "1");
    if let Some(signal) = &run.interrupted {
        points = points.with("interrupted", clean(signal));
    }
    let planned = Metric::new("run_points_planned", run.plan.points.len() as f64, "1");
    let seconds =
        run.ended.map(|end| (end.0.as_nanosecond() - run.started.0.as_nanosecond()) as f64 / 1e9);
    let seconds = seconds.map(|s| Metric::new("run_seconds", s, "s"));
    [points, planned].into_iter().chain(seconds).collect()
}

/// Of a measurement's own trials.
pub fn for_measurement(m: &Measurement) -> Vec<Metric> {
    let unit = m.unit.as_str();
    let mut all = Vec::new();
    if let Some(s) = &m.summary {
        let values = [
            ("headline", Some(s.value())),
            ("attainable", s.attainable.value),
            ("typical", s.typical.value),
            ("delivered", s.delivered.value),
            ("ci95_low", interval(m).map(|c| c[0])),
            ("ci95_high", interval(m).map(|c| c[1])),
            ("mean", Some(s.trials.mean)),
            ("min", Some(s.trials.min)),
            ("max", Some(s.trials.max)),
        ];
        let valued = values.into_iter().filter_map(|(name, v)| Some((name, v?)));
        all.extend(valued.map(|(name, v)| Metric::new(name, v, unit).better(m.better)));
        all.extend(s.trials.sd.map(|sd| Metric::new("sd", sd, unit).better(Better::Lower)));
        let half_width = m.precision.map(|p| Metric::new("half_width", p.half_width, "1"));
        all.extend(half_width.map(|metric| metric.better(Better::Lower)));
        all.extend(
            trial_iops(m, s.value()).map(|v| Metric::new("iops", v, "op/s").better(Better::Higher)),
        );
    }
    if let Some(l) = &m.latency {
        let values = [
            ("latency_min", Some(l.min)),
            ("latency_mean", Some(l.mean)),
            ("latency_p50", Some(l.p50)),
            ("latency_p90", l.p90),
            ("latency_p99", l.p99),
            ("latency_p999", l.p999),
            ("latency_max", Some(l.max)),
        ];
        let valued = values.into_iter().filter_map(|(name, v)| Some((name, v?)));
        all.extend(valued.map(|(name, v)| Metric::new(name, v, "s").better(Better::Lower)));
    }
    all.extend(m.ceiling.as_ref().map(|c| Metric::new("ceiling", c.value, unit)));
    let efficiency = m.efficiency.map(|e| Metric::new("efficiency", e, "1"));
    all.extend(efficiency.map(|e| e.better(Better::Higher)));
    all
}

/// Of a measurement over time: its samples, each with its own time, its levels and changes.
pub fn for_series(m: &Measurement) -> Vec<Metric> {
    let Some(series) = &m.series else { return Vec::new() };
    let unit = m.unit.as_str();
    let mut all: Vec<Metric> = m
        .trials
        .iter()
        .map(|t| {
            let sample = Metric::new("sample", t.value, unit).better(m.better);
            sample.with("time", t.started.to_string()).with("seconds", t.seconds)
        })
        .collect();
    all.extend(series.levels.iter().map(|l| {
        let level = Metric::new("level", l.median, unit).better(m.better);
        level.with("from_s", l.from_s).with("until_s", l.until_s)
    }));
    all.extend(series.changes.iter().map(|c| {
        let change = Metric::new("change", c.ratio, "1").with("time", c.at.to_string());
        let change = change.with("at_s", c.at_s);
        match &c.cause {
            Some(cause) => change.with("cause", clean(cause)),
            None => change,
        }
    }));
    let slope = series.trend.as_ref().map(|t| t.slope);
    all.extend(slope.map(|s| Metric::new("slope", s, format!("{unit}/s"))));
    all
}

/// Of a reference tool of the measurement.
pub fn for_reference(m: &Measurement, r: &Reference) -> Vec<Metric> {
    let unit = m.unit.as_str();
    let mut all = vec![
        Metric::new("reference_median", r.value, unit).better(m.better),
        Metric::new("reference_ratio", r.ratio.median, "1"),
    ];
    if let Some([low, high]) = r.ratio.ci95 {
        all.push(Metric::new("reference_ratio_ci95_low", low, "1"));
        all.push(Metric::new("reference_ratio_ci95_high", high, "1"));
    }
    let efficiency = r.efficiency.map(|e| Metric::new("reference_efficiency", e, "1"));
    all.extend(efficiency.map(|e| e.better(Better::Higher)));
    all
}
