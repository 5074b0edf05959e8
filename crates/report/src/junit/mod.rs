//! JUnit XML, for continuous integration: a suite for each subsystem, a case for each
//! configuration.
//!
//! - invalid: `failure`, its type the check and its message the cause;
//! - the worker died, or its verification failed: `error`;
//! - refused on this machine, or not measured because the run was stopped: `skipped`;
//! - suspect: passes, since there is a result; the findings are in `system-out`;
//! - valid: passes.
//!
//! The properties of a case hold verdict, headline figure, unit, efficiency and trials. Its time is
//! that of its trials. Findings on the host and the run are in a suite of their own, `run`. Slower
//! results fail in `proofmark check`.

mod case;
mod document;

use proofmark_model::{Finding, Run, Subsystem};

use self::case::{list, worst};
pub(crate) use self::document::{Case, Cause, Ending, Properties, Suite, text, timestamp, write};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut suites = by_subsystem(&run.measurements, |m| m.subsystem, case::from_measurement);
    let whole = [run_case(run)].into_iter().chain(not_measured(run));
    suites.push(Suite::new("run", whole.collect()));
    for suite in &mut suites {
        let cpu = run.host.cpu.model_name.get().map(|model| ("cpu", text(model)));
        let properties = cpu.into_iter().chain([("profile", text(&run.plan.profile))]);
        suite.properties = Some(Properties::new(properties.collect()));
        suite.started = Some(timestamp(run.started));
    }
    Ok(write("proofmark", suites)?)
}

/// Returns a suite for each subsystem that has cases.
pub(crate) fn by_subsystem<T>(
    all: &[T],
    subsystem: fn(&T) -> Subsystem,
    case: fn(&T) -> Case,
) -> Vec<Suite> {
    let cases = |part: Subsystem| -> (Subsystem, Vec<Case>) {
        (part, all.iter().filter(|one| subsystem(one) == part).map(case).collect())
    };
    let parts = Subsystem::KNOWN.iter().copied().map(cases).filter(|(_, cases)| !cases.is_empty());
    parts.map(|(part, cases)| Suite::new(part.as_str(), cases)).collect()
}

/// Returns a case of the findings on the host and the run as a whole.
fn run_case(run: &Run) -> Case {
    let found: Vec<&Finding> = run.host.findings.iter().chain(&run.findings).collect();
    Case {
        name: "host and run".to_owned(),
        class: Some("run".to_owned()),
        ending: worst(found.iter().copied()),
        output: (!found.is_empty()).then(|| list(found.into_iter())),
        ..Case::default()
    }
}

/// Returns a case for the planned configurations that were not measured.
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
    let message = format!("{left} planned configurations were not measured: {why}");
    Some(Case {
        name: "configurations not measured".to_owned(),
        class: Some("run".to_owned()),
        ending: Some(Ending::Skipped(Cause { message, ..Cause::default() })),
        ..Case::default()
    })
}
