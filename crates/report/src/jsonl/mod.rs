//! One metric per line, each a JSON object, for log shippers and `jq`.
//!
//! Every line is complete:
//!
//! - `time` is the start of the first trial, else of the run (RFC 3339);
//! - `run_id` is the start of the run, which identifies it;
//! - `host` is the machine's name and `label` the user's name for the run;
//! - `tool` is the program that measured;
//! - `profile`, `machine`, `workload` and `subsystem`; `params` is an object of its own, so that no
//!   parameter can be taken for a field;
//! - `metric`, `value` (a finite number), `unit`, `better` and `verdict`. The unit `1` is a plain
//!   number.
//!
//! A metric without a value has no line, and unknown fields are left out. Only `trials` is written
//! for each configuration, with the reason in `missing` where it is 0. Lines about the run as a
//! whole have no `workload`.

use proofmark_model::{Better, Measurement, Param, Params, Reference, Run, Series};
use serde_json::{Map, Value, json};

use crate::view::{delivered, interval, plain_spaces, trial_iops, why_no_trials};
use crate::{Options, RenderError};

const PLAIN: &str = "1";

const HIGHER: Option<Better> = Some(Better::Higher);
const LOWER: Option<Better> = Some(Better::Lower);

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let own = || format!("proofmark {}", run.tool.version);
    let about_run = json!({
        "time": run.started.to_string(),
        "run_id": run.started.to_string(),
        "host": run.host.os.host_name.get().map(|name| plain_spaces(name)),
        "label": run.label.as_ref().map(|label| plain_spaces(label)),
        "tool": plain_spaces(&run.imported.clone().unwrap_or_else(own)),
        "profile": plain_spaces(&run.plan.profile),
        "machine": run.host.cpu.model_name.get().map(|model| plain_spaces(model)),
        "verdict": run.verdict(),
    });
    let mut lines = Lines { about: vec![about_run], text: String::new() };
    lines.run(run);
    for m in &run.measurements {
        lines.about.push(json!({
            "time": m.trials.first().map_or(run.started, |t| t.started).to_string(),
            "workload": plain_spaces(&m.workload),
            "subsystem": m.subsystem,
            "params": params(&m.params),
            "verdict": m.verdict,
        }));
        lines.measurement(m);
        lines.about.pop();
    }
    Ok(lines.text)
}

/// Returns parameters without control characters.
fn params(params: &Params) -> Map<String, Value> {
    let value = |value: &Param| match value {
        Param::Text(text) => plain_spaces(text).into(),
        other => json!(other),
    };
    params.0.iter().map(|(name, v)| (plain_spaces(name), value(v))).collect()
}

struct Lines {
    /// Objects whose fields each of the next lines has, the most specific last.
    about: Vec<Value>,
    text: String,
}

impl Lines {
    /// Adds a line, unless there is no finite value.
    fn add(&mut self, metric: &str, value: impl Into<Option<f64>>, unit: &str, more: Value) {
        let Some(value) = value.into().filter(|v| v.is_finite()) else { return };
        let own = json!({ "metric": metric, "value": value, "unit": unit });
        let parts = self.about.iter().chain([&own, &more]).filter_map(Value::as_object).flatten();
        let known = parts.filter(|(_, v)| !v.is_null());
        let line: Map<_, _> = known.map(|(name, v)| (name.clone(), v.clone())).collect();
        self.text += &format!("{}\n", Value::Object(line));
    }

    fn run(&mut self, run: &Run) {
        let stopped = json!({ "interrupted": run.interrupted.as_ref().map(|s| plain_spaces(s)) });
        self.add("run_points", run.measurements.len() as f64, PLAIN, stopped);
        self.add("run_points_planned", run.plan.points.len() as f64, PLAIN, Value::Null);
        let nanoseconds =
            run.ended.map(|end| end.0.as_nanosecond() - run.started.0.as_nanosecond());
        self.add("run_seconds", nanoseconds.map(|ns| ns as f64 / 1e9), "s", Value::Null);
    }

    fn measurement(&mut self, m: &Measurement) {
        let missing = m.trials.is_empty().then(|| plain_spaces(&why_no_trials(m)));
        self.add("trials", m.trials.len() as f64, PLAIN, json!({ "missing": missing }));
        for (metric, value, unit, better) in figures(m) {
            self.add(metric, value, unit, json!({ "better": better }));
        }
        if let Some(s) = &m.series {
            self.series(m, s);
        }
        for r in &m.references {
            self.reference(m, r);
        }
    }

    /// Adds the samples of a measurement over time, each with its own time, its levels and changes.
    fn series(&mut self, m: &Measurement, series: &Series) {
        let (unit, better) = (m.unit.as_str(), m.better);
        for t in &m.trials {
            let (time, seconds) = (t.started.to_string(), t.seconds);
            let more = json!({ "better": better, "time": time, "seconds": seconds });
            self.add("sample", t.value, unit, more);
        }
        for l in &series.levels {
            let more = json!({ "better": better, "from_s": l.from_s, "until_s": l.until_s });
            self.add("level", l.median, unit, more);
        }
        for c in &series.changes {
            let cause = c.cause.as_ref().map(|cause| plain_spaces(cause));
            let more = json!({ "time": c.at.to_string(), "at_s": c.at_s, "cause": cause });
            self.add("change", c.ratio, PLAIN, more);
        }
        let slope = series.trend.as_ref().map(|t| t.slope);
        self.add("slope", slope, &format!("{unit}/s"), Value::Null);
    }

    fn reference(&mut self, m: &Measurement, r: &Reference) {
        self.about.push(json!({
            "reference": plain_spaces(&r.tool),
            "reference_version": plain_spaces(&r.version),
            "verdict": r.verdict,
        }));
        let better = json!({ "better": m.better });
        self.add("reference_median", r.value, m.unit.as_str(), better.clone());
        self.add("reference_paired_median", r.paired_median(), m.unit.as_str(), better);
        let undecided = json!({ "undecided": r.is_undecided() });
        self.add("reference_ratio", r.shown_ratio(), PLAIN, undecided);
        self.add("reference_ratio_of_pairs", r.ratio.median, PLAIN, Value::Null);
        let ends = r.ratio.ci95;
        self.add("reference_ratio_ci95_low", ends.map(|e| e[0]), PLAIN, Value::Null);
        self.add("reference_ratio_ci95_high", ends.map(|e| e[1]), PLAIN, Value::Null);
        self.add("reference_efficiency", r.efficiency, PLAIN, json!({ "better": HIGHER }));
        self.about.pop();
    }
}

/// Returns the figures of a measurement: name, value, unit, and the better direction, if there is
/// one.
fn figures(m: &Measurement) -> Vec<(&'static str, Option<f64>, &'static str, Option<Better>)> {
    let (unit, better) = (m.unit.as_str(), Some(m.better));
    let mut all = Vec::new();
    if let Some(s) = &m.summary {
        let ends = interval(m);
        let delivered = delivered(m);
        let delivered_ends = delivered.as_ref().and_then(|figure| figure.ci95);
        all.extend([
            ("headline", Some(s.value()).filter(|v| v.is_finite()), unit, better),
            ("attainable", s.attainable.value, unit, better),
            ("typical", s.typical.value, unit, better),
            ("delivered", delivered.and_then(|figure| figure.value), unit, better),
            ("delivered_ci95_low", delivered_ends.map(|[low, _]| low), unit, better),
            ("delivered_ci95_high", delivered_ends.map(|[_, high]| high), unit, better),
            ("ci95_low", ends.map(|[low, _]| low), unit, better),
            ("ci95_high", ends.map(|[_, high]| high), unit, better),
            ("mean", Some(s.trials.mean), unit, better),
            ("min", Some(s.trials.min), unit, better),
            ("max", Some(s.trials.max), unit, better),
            ("sd", s.trials.sd, unit, LOWER),
            ("half_width", m.precision.map(|p| p.half_width), PLAIN, LOWER),
            ("iops", trial_iops(m, s.value()), "op/s", HIGHER),
        ]);
    }
    if let Some(l) = &m.latency {
        all.extend([
            ("latency_min", Some(l.min), "s", LOWER),
            ("latency_mean", Some(l.mean), "s", LOWER),
            ("latency_p50", Some(l.p50), "s", LOWER),
            ("latency_p90", l.p90, "s", LOWER),
            ("latency_p50_ci95_low", l.ci95.p50.map(|e| e[0]), "s", LOWER),
            ("latency_p50_ci95_high", l.ci95.p50.map(|e| e[1]), "s", LOWER),
            ("latency_p99", l.p99, "s", LOWER),
            ("latency_p99_ci95_low", l.ci95.p99.map(|e| e[0]), "s", LOWER),
            ("latency_p99_ci95_high", l.ci95.p99.map(|e| e[1]), "s", LOWER),
            ("latency_p999", l.p999, "s", LOWER),
            ("latency_max", Some(l.max), "s", LOWER),
        ]);
    }
    all.push(("ceiling", m.ceiling.as_ref().map(|c| c.value), unit, None));
    all.push(("efficiency", m.efficiency, PLAIN, HIGHER));
    all
}
