//! JUnit XML, for continuous integration: a suite for each subsystem, a case for each point.
//!
//! - invalid: `failure`, its type the check and its message the cause;
//! - the worker died, or found its own result wrong: `error`;
//! - cannot run here as asked, or not measured because the run was stopped: `skipped`;
//! - suspect: passes, since the number was taken; what was found is in `system-out`;
//! - valid: passes.
//!
//! The properties of a case hold verdict, headline figure, unit, efficiency and trials. Its time is that of
//! its trials. What was found about the host and the run is a suite of its own, `run`. To fail
//! where something got slower, use `proofmark check`.

mod case;
pub(crate) mod document;

use proofmark_model::{Finding, Run, Severity, Subsystem};

use self::case::said;
pub(crate) use self::case::text;
use self::document::{Case, Ending, Outcome, Suite};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut suites = Vec::new();
    for subsystem in Subsystem::ALL {
        let measured = run.measurements.iter().filter(|m| m.subsystem == subsystem);
        let cases: Vec<Case> = measured.map(case::from_measurement).collect();
        if !cases.is_empty() {
            suites.push(suite(run, subsystem.as_str(), cases));
        }
    }
    let mut cases = vec![run_case(run)];
    cases.extend(not_measured(run));
    suites.push(suite(run, "run", cases));
    Ok(document::write("proofmark", &suites))
}

fn suite(run: &Run, name: &str, cases: Vec<Case>) -> Suite {
    let mut properties = Vec::new();
    properties.extend(run.host.cpu.model_name.get().map(|model| ("cpu", text(model))));
    properties.push(("profile", text(&run.plan.profile)));
    let started = run.started.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Suite { name: name.to_owned(), started: Some(started), properties, cases }
}

/// What was found about the host and the run as a whole.
fn run_case(run: &Run) -> Case {
    let found: Vec<&Finding> = run.host.findings.iter().chain(&run.findings).collect();
    let worst = found.iter().find(|f| f.severity == Severity::Invalid);
    Case {
        name: "host and run".to_owned(),
        class: Some("run".to_owned()),
        outcome: worst.map(|w| Outcome::new(Ending::Failure, &text(&w.check), text(&w.message))),
        output: (!found.is_empty()).then(|| said(found.into_iter())),
        ..Case::default()
    }
}

/// Points of the plan that the run did not come to.
fn not_measured(run: &Run) -> Option<Case> {
    let left = run.plan.points.len().saturating_sub(run.measurements.len());
    if left == 0 {
        return None;
    }
    let why = match (&run.interrupted, run.ended) {
        (Some(signal), _) => format!("{} stopped the run", text(signal)),
        (None, None) => {
            "the run has no recorded end: it is still running, or it was killed".to_owned()
        }
        (None, Some(_)) => "the run gives no reason".to_owned(),
    };
    let outcome = Outcome {
        ending: Ending::Skipped,
        kind: None,
        message: Some(format!("{left} planned configurations were not measured: {why}")),
        text: String::new(),
    };
    Some(Case {
        name: "configurations not measured".to_owned(),
        class: Some("run".to_owned()),
        outcome: Some(outcome),
        ..Case::default()
    })
}
