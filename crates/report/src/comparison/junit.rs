//! JUnit XML of a check: a suite a subsystem, a test case a point.

use proofmark_model::{ComparedPoint, Comparison, Subsystem, format_factor};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::ComparisonError;
use super::words::{failure, interval, margin, medians};
use crate::view::clean;

/// A failure for each point that is slower or gone, with its cause; skipped for what cannot be
/// compared; all else passes. Where too little could be judged, that is a failure of its own.
///
/// # Errors
/// If it cannot be written as XML.
pub fn junit(comparison: &Comparison) -> Result<String, ComparisonError> {
    let name = format!("{} against {}", clean(&comparison.b.name), clean(&comparison.a.name));
    let mut report = Report::new(name);
    for subsystem in Subsystem::ALL {
        let points = comparison.points.iter().filter(|p| p.subsystem == subsystem);
        let cases: Vec<TestCase> = points.map(case).collect();
        if !cases.is_empty() {
            let mut suite = TestSuite::new(subsystem.as_str());
            suite.add_test_cases(cases);
            report.add_test_suite(suite);
        }
    }
    if let Some(why) = comparison.too_little() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("too little").set_message(why);
        let mut suite = TestSuite::new("comparison");
        suite.add_test_case(TestCase::new("half of the baseline can be judged", status));
        report.add_test_suite(suite);
    }
    let mut text = report.to_string()?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn case(p: &ComparedPoint) -> TestCase {
    let reason = clean(&p.reason);
    let mut status = match p.judged() {
        _ if p.fails() => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(failure(p));
            status.set_description(figures(p));
            status
        }
        false => TestCaseStatus::skipped(),
        true => TestCaseStatus::success(),
    };
    if p.fails() || !p.judged() {
        status.set_message(reason);
    }
    let name = if p.name.is_empty() { clean(&p.workload) } else { clean(&p.name) };
    let mut case = TestCase::new(name, status);
    case.set_classname(clean(&p.workload));
    case
}

/// Both medians, ratio, interval and margin.
fn figures(p: &ComparedPoint) -> String {
    let [a, b] = medians(p).map(|m| m.unwrap_or_else(|| "no number".to_owned()));
    let mut out = format!("A {a}; B {b}");
    if let Some(r) = &p.ratio {
        out.push_str(&format!("; B / A {}", format_factor(r.median)));
        out.extend(interval(r).map(|i| format!(" ({i})")));
    }
    out.extend(p.margin.and_then(margin).map(|m| format!("; margin {m}")));
    out
}
