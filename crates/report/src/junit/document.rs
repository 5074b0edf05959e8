//! Suites, cases and statuses for `quick-junit`. [`text`] makes any text fit for XML.

use std::time::Duration;

use proofmark_model::Timestamp;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::view::plain_spaces;

/// Returns the status of a case whose check failed: the kind of failure in one or two words, and its
/// cause.
pub fn failure(kind: &str, message: &str) -> TestCaseStatus {
    non_success(NonSuccessKind::Failure, kind, message)
}

/// Returns the status of a case that could not be carried out: why in one or two words, and the cause.
pub fn error(kind: &str, message: &str) -> TestCaseStatus {
    non_success(NonSuccessKind::Error, kind, message)
}

fn non_success(kind: NonSuccessKind, word: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(text(word)).set_message(text(message));
    status
}

/// Returns the status of a case that was left out, and why.
pub fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(text(message));
    status
}

/// Returns a case with its class, as CI systems group cases.
pub fn case(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(text(name), status);
    case.set_classname(text(class));
    case
}

/// Returns a suite of cases. Its time is the sum of theirs, if any has one.
pub fn suite(name: &str, cases: Vec<TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(text(name));
    suite.time = sum(cases.iter().map(|case| case.time));
    suite.add_test_cases(cases);
    suite
}

fn sum(times: impl Iterator<Item = Option<Duration>>) -> Option<Duration> {
    times.flatten().reduce(Duration::saturating_add)
}

/// Adds to a suite when it began, in UTC.
pub fn set_started(suite: &mut TestSuite, at: Timestamp) {
    suite.timestamp = at.0.to_string().parse().ok();
}

/// Returns the document, which ends in a line break.
///
/// # Errors
/// If a value has no form in XML, which none of ours is.
pub fn write(name: &str, suites: Vec<TestSuite>) -> Result<String, SerializeError> {
    let mut report = Report::new(text(name));
    report.time = sum(suites.iter().map(|suite| suite.time));
    report.add_test_suites(suites);
    report.to_string()
}

/// Removes characters that XML 1.0 does not allow: those that control a terminal, and the two code
/// points that are no characters.
pub fn text(from: &str) -> String {
    plain_spaces(from).replace(['\u{fffe}', '\u{ffff}'], "")
}
