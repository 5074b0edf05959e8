//! Progress as JSON lines on standard error, for programs: one object per event.

use std::time::Instant;

use proofmark_run::{Event, Step};
use serde_json::{Value, json};

use crate::text::say_event;

/// Each event, and its fields besides `event`.
pub const FIELDS: &[(&str, &str)] = &[
    ("message", "text: what proofmark prints for people: warnings, errors, the report's path"),
    ("left_out", "text: work of the plan that is not measured, and why"),
    ("started", "configurations; estimate_s: about the time of the run"),
    ("set_up", "a configuration begins; fields of trial"),
    ("warm", "a warm-up was taken; fields of trial"),
    (
        "trial",
        "a trial was taken: configuration (index in the plan, from 0), workload, parameters, trials (so far), \
         value and unit (of the headline so far; null: none), done and configurations (those that have ended, and \
         all), elapsed_s, left_s (estimate to the end of the run)",
    ),
    ("done", "a configuration has ended; fields of trial, and ending, as in run.json"),
    (
        "sample",
        "endure only; fields of trial; at_s (start of the sample), for_s (length of the series), sample (its value)",
    ),
    (
        "pair",
        "a pair with a reference tool begins; fields of trial; tool, pair and pairs (at most)",
    ),
    (
        "pairs",
        "a reference tool runs no more for a configuration; fields of trial; tool, pair (taken) and pairs (planned)",
    ),
    ("ended", "nothing more is measured: elapsed_s"),
];

/// The events of a run.
pub(super) struct Events {
    started: Instant,
    estimate_s: f64,
    points: usize,
}

impl Events {
    /// Prints that a run of so many configurations starts.
    pub(super) fn new(points: usize, estimate_s: f64) -> Self {
        say_event("started", json!({"configurations": points, "estimate_s": rounded(estimate_s)}));
        Self { started: Instant::now(), estimate_s, points }
    }

    pub(super) fn step(&self, step: &Step) {
        let m = step.measurement();
        let mut fields = self.of(step);
        let mut add = |name: &str, value: Value| fields[name] = value;
        let event = match step.event {
            Event::SetUp => "set_up",
            Event::Warm => "warm",
            Event::Trial => "trial",
            Event::Done => {
                add("ending", serde_json::to_value(&m.ending).unwrap_or_default());
                "done"
            }
            Event::Sample { at_s, trial } => {
                add("at_s", json!(rounded(at_s)));
                add("for_s", json!(m.series.as_ref().map(|s| s.for_s)));
                add("sample", json!(trial.value));
                "sample"
            }
            Event::Pair { turn, of, tool } => {
                add("tool", json!(tool));
                add("pair", json!(turn));
                add("pairs", json!(of));
                "pair"
            }
            Event::Paired { taken, of, tool } => {
                add("tool", json!(tool));
                add("pair", json!(taken));
                add("pairs", json!(of));
                "pairs"
            }
        };
        say_event(event, fields);
    }

    fn of(&self, step: &Step) -> Value {
        let m = step.measurement();
        // A summary of thousands of samples takes time; a sample has its own value.
        let sampled = matches!(step.event, Event::Sample { .. });
        let summary = if sampled { None } else { step.summary() };
        let elapsed_s = self.started.elapsed().as_secs_f64();
        json!({
            "configuration": step.place,
            "workload": m.workload,
            "parameters": m.params,
            "trials": m.trials.len(),
            "value": summary.and_then(|s| s.figure(s.headline).value),
            "unit": m.unit.to_string(),
            "done": step.done,
            "configurations": self.points,
            "elapsed_s": rounded(elapsed_s),
            "left_s": rounded((self.estimate_s - elapsed_s).max(0.0)),
        })
    }

    pub(super) fn finish(&self) {
        let elapsed_s = rounded(self.started.elapsed().as_secs_f64());
        say_event("ended", json!({ "elapsed_s": elapsed_s }));
    }
}

/// Rounds seconds to milliseconds.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}
