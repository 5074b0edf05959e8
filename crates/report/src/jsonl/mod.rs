//! One metric per line, each a JSON object of its own, for log shippers and `jq`.
//!
//! Every line is complete: `time` (RFC 3339; when the point's first trial began, else when the run
//! did), `run` (when the run began, which identifies it), `tool` (who measured), `profile`,
//! `machine`, `workload`, `subsystem`, `params`, `metric`, `value` (a finite number), `unit`,
//! `better` and `verdict`. `params` is an object of its own, so that no parameter can be taken for a
//! field. What has no value has no line, and a field that is not known is left out; only `trials`
//! is written for each point, with the reason in `missing` where it is 0. Lines about the run as a
//! whole have no `workload`.

mod metrics;

use proofmark_model::{Measurement, Reference, Run, Timestamp, Verdict};
use serde_json::{Map, Value};

use self::metrics::Metric;
use crate::view::{clean, why_no_trials};
use crate::{Format, Options, RenderError};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Jsonl;

impl Format for Jsonl {
    fn id(&self) -> &'static str {
        "jsonl"
    }

    fn file(&self) -> Option<&'static str> {
        None
    }

    fn about(&self) -> &'static str {
        "One JSON object per line and metric, for log shippers and jq."
    }

    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let mut lines = Lines::default();
        let whole = head(run, run.started, run.verdict());
        for metric in metrics::for_run(run) {
            lines.add(&whole, &metric)?;
        }
        for m in &run.measurements {
            lines.measurement(run, m)?;
        }
        Ok(lines.0)
    }
}

/// The lines so far.
#[derive(Default)]
struct Lines(String);

impl Lines {
    /// One line, unless the value is not finite, which JSON cannot say.
    fn add(&mut self, head: &Map<String, Value>, metric: &Metric) -> Result<(), RenderError> {
        let Some(value) = serde_json::Number::from_f64(metric.value) else { return Ok(()) };
        let mut line = head.clone();
        line.insert("metric".to_owned(), metric.name.into());
        line.insert("value".to_owned(), Value::Number(value));
        line.insert("unit".to_owned(), metric.unit.as_ref().into());
        for (name, value) in metric.more.iter().filter(|(_, v)| !v.is_null()) {
            line.insert((*name).to_owned(), value.clone());
        }
        self.0 += &serde_json::to_string(&line)?;
        self.0.push('\n');
        Ok(())
    }

    fn measurement(&mut self, run: &Run, m: &Measurement) -> Result<(), RenderError> {
        let time = m.trials.first().map_or(run.started, |t| t.started);
        let head = add_point(head(run, time, Some(m.verdict)), m);
        let mut trials = Metric::new("trials", m.trials.len() as f64, "1");
        if m.trials.is_empty() {
            trials = trials.with("missing", why_no_trials(m));
        }
        self.add(&head, &trials)?;
        for metric in metrics::for_measurement(m) {
            self.add(&head, &metric)?;
        }
        for metric in metrics::for_series(m) {
            self.add(&head, &metric)?;
        }
        for r in &m.references {
            self.reference(&head, m, r)?;
        }
        Ok(())
    }

    fn reference(
        &mut self,
        head: &Map<String, Value>,
        m: &Measurement,
        r: &Reference,
    ) -> Result<(), RenderError> {
        let mut head = head.clone();
        insert(&mut head, "reference", &r.tool);
        insert(&mut head, "reference_version", &r.version);
        head.insert("verdict".to_owned(), r.verdict.as_str().into());
        for metric in metrics::for_reference(m, r) {
            self.add(&head, &metric)?;
        }
        Ok(())
    }
}

/// What every line of a run says.
fn head(run: &Run, time: Timestamp, verdict: Option<Verdict>) -> Map<String, Value> {
    let mut head = Map::new();
    insert(&mut head, "time", &time.to_string());
    insert(&mut head, "run", &run.started.to_string());
    let own = || format!("proofmark {}", run.tool.version);
    insert(&mut head, "tool", &run.imported.clone().unwrap_or_else(own));
    insert(&mut head, "profile", &run.plan.profile);
    if let Some(model) = run.host.cpu.model_name.get() {
        insert(&mut head, "machine", model);
    }
    if let Some(verdict) = verdict {
        head.insert("verdict".to_owned(), verdict.as_str().into());
    }
    head
}

/// The same for a point.
fn add_point(mut head: Map<String, Value>, m: &Measurement) -> Map<String, Value> {
    insert(&mut head, "workload", &m.workload);
    head.insert("subsystem".to_owned(), m.subsystem.as_str().into());
    let params = m.params.0.iter().map(|(name, value)| (clean(name), metrics::param(value)));
    head.insert("params".to_owned(), Value::Object(params.collect()));
    head
}

fn insert(head: &mut Map<String, Value>, name: &str, text: &str) {
    head.insert(name.to_owned(), clean(text).into());
}
