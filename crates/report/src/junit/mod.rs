//! JUnit XML, for continuous integration: a suite for each subsystem, a case for each point.
//!
//! - invalid: `failure`, its type the check and its message the cause;
//! - the worker died, or found its own result wrong: `error`;
//! - cannot run here as asked, or not measured because the run was stopped: `skipped`;
//! - suspect: passes, since the number was taken; what was found is in `system-out`;
//! - valid: passes.
//!
//! The properties of a case hold verdict, median, unit, efficiency and trials. Its time is that of
//! its trials. What was found about the host and the run is a suite of its own, `run`. To fail
//! where something got slower, use `proofmark check`.

mod case;

use proofmark_model::{Finding, Measurement, Run, Severity, Subsystem};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use self::case::{said, text};
use crate::{Format, Options, RenderError};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Junit;

impl Format for Junit {
    fn id(&self) -> &'static str {
        "junit"
    }

    fn file(&self) -> Option<&'static str> {
        None
    }

    fn about(&self) -> &'static str {
        "JUnit XML for continuous integration: a case for each point; an invalid one fails."
    }

    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let mut report = Report::new("proofmark");
        for subsystem in Subsystem::ALL {
            let measured = run.measurements.iter().filter(|m| m.subsystem == subsystem);
            let measured: Vec<&Measurement> = measured.collect();
            if !measured.is_empty() {
                report.add_test_suite(suite(
                    run,
                    subsystem.as_str(),
                    measured.into_iter().map(case::of),
                ));
            }
        }
        let mut whole = vec![of_run(run)];
        whole.extend(not_measured(run));
        report.add_test_suite(suite(run, "run", whole.into_iter()));
        let seconds = report
            .test_suites
            .iter()
            .filter_map(|s| s.time)
            .fold(std::time::Duration::ZERO, std::time::Duration::saturating_add);
        report.set_time(seconds);
        let mut xml = report.to_string()?;
        if !xml.ends_with('\n') {
            xml.push('\n');
        }
        Ok(xml)
    }
}

/// A suite whose time is that of its cases.
fn suite(run: &Run, name: &str, cases: impl Iterator<Item = TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(cases);
    let seconds = suite.test_cases.iter().filter_map(|c| c.time);
    suite.set_time(seconds.fold(std::time::Duration::ZERO, std::time::Duration::saturating_add));
    let started = run.started.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    suite.extra.insert("timestamp".into(), started.into());
    if let Some(model) = run.host.cpu.model_name.get() {
        suite.add_property(("cpu", text(model).as_str()));
    }
    suite.add_property(("profile", text(&run.plan.profile).as_str()));
    suite
}

/// What was found about the host and the run as a whole.
fn of_run(run: &Run) -> TestCase {
    let found: Vec<&Finding> = run.host.findings.iter().chain(&run.findings).collect();
    let worst = found.iter().find(|f| f.severity == Severity::Invalid);
    let mut status = TestCaseStatus::success();
    if let Some(worst) = worst {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(text(&worst.check)).set_message(text(&worst.message));
    }
    let mut case = TestCase::new("host and run", status);
    case.set_classname("run");
    if !found.is_empty() {
        case.set_system_out(said(found.into_iter()));
    }
    case
}

/// Points of the plan that the run did not come to.
fn not_measured(run: &Run) -> Option<TestCase> {
    let left = run.plan.points.len().saturating_sub(run.measurements.len());
    if left == 0 {
        return None;
    }
    let why = match (&run.interrupted, run.ended) {
        (Some(signal), _) => format!("the run was stopped by {}", text(signal)),
        (None, None) => "the run has no end: it goes on, or was killed".to_owned(),
        (None, Some(_)) => "the run does not say why".to_owned(),
    };
    let mut status = TestCaseStatus::skipped();
    status.set_message(format!("{left} points of the plan were not measured: {why}"));
    let mut case = TestCase::new("points not measured", status);
    case.set_classname("run");
    Some(case)
}
