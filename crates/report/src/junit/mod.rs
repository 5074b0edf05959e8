//! JUnit XML, for continuous integration: a suite for each subsystem, a case for each
//! configuration.
//!
//! - invalid: `failure`, its type the check and its message the cause;
//! - the worker died, or its verification failed: `error`;
//! - refused on this machine, or not measured because the run was stopped: `skipped`;
//! - suspect: passes, since there is a result; the findings are in `system-out`;
//! - valid: passes.
//!
//! The properties of a suite hold the run's id (its start), host, label, CPU and profile. Those of a
//! case hold verdict, headline figure, unit, half width of the interval, efficiency
//! and trials. Its time is that of its trials. Findings on the host and the run are in a suite of their own, `run`. Slower
//! results fail in `proofmark check`.

mod case;
mod document;

use proofmark_model::{Finding, Run, Subsystem};
use quick_junit::{Property, TestCase, TestCaseStatus, TestSuite};

use self::case::{list, worst};
pub(crate) use self::document::{case, error, failure, set_started, skipped, suite, text, write};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut suites = by_subsystem(&run.measurements, |m| m.subsystem, case::from_measurement);
    let whole = [run_case(run)].into_iter().chain(not_measured(run));
    suites.push(suite("run", whole.collect()));
    for suite in &mut suites {
        let host = run.host.os.host_name.get();
        let properties = [
            ("run_id", Some(&run.started.to_string())),
            ("host", host),
            ("label", run.label.as_ref()),
            ("cpu", run.host.cpu.model_name.get()),
            ("profile", Some(&run.plan.profile)),
        ];
        let known = properties.iter().filter_map(|(name, value)| Some((*name, text((*value)?))));
        suite.add_properties(known.map(|(name, value)| Property::new(name, value)));
        set_started(suite, run.started);
    }
    Ok(write("proofmark", suites)?)
}

/// Returns a suite for each subsystem that has cases.
pub(crate) fn by_subsystem<T>(
    all: &[T],
    subsystem: fn(&T) -> Subsystem,
    case: fn(&T) -> TestCase,
) -> Vec<TestSuite> {
    let cases = |part: Subsystem| -> (Subsystem, Vec<TestCase>) {
        (part, all.iter().filter(|one| subsystem(one) == part).map(case).collect())
    };
    let parts = Subsystem::KNOWN.iter().copied().map(cases).filter(|(_, cases)| !cases.is_empty());
    parts.map(|(part, cases)| suite(part.as_str(), cases)).collect()
}

/// Returns a case of the findings on the host and the run as a whole.
fn run_case(run: &Run) -> TestCase {
    let found: Vec<&Finding> = run.host.findings.iter().chain(&run.findings).collect();
    let status = worst(found.iter().copied()).unwrap_or_else(TestCaseStatus::success);
    let mut case = case("host and run", "run", status);
    if !found.is_empty() {
        case.set_system_out(list(found.into_iter()));
    }
    case
}

/// Returns a case for the planned configurations that were not measured.
fn not_measured(run: &Run) -> Option<TestCase> {
    let left = run.plan.points.len().saturating_sub(run.measurements.len());
    if left == 0 {
        return None;
    }
    let why = match (&run.interrupted, run.ended) {
        (Some(signal), _) => format!("{signal} stopped the run"),
        (None, None) => {
            "the run has no recorded end: it is still running, or it was killed".to_owned()
        }
        (None, Some(_)) => "the run gives no reason".to_owned(),
    };
    let message = format!("{left} planned configurations were not measured: {why}");
    Some(case("configurations not measured", "run", skipped(&message)))
}
