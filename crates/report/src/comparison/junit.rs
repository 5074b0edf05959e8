//! A check as JUnit XML: a suite per subsystem, a test case per result.

use proofmark_model::{Comparability, ComparedPoint, Comparison, FigureKind};
use quick_junit::{TestCase, TestCaseStatus, TestSuite};

use super::words::{NOT_MEASURED, failure, moved, ratio, values};
use crate::junit::{self, by_subsystem, skipped, suite};

/// Returns a failure with its cause for each result that is slower or missing, and an error for each
/// that is undecided, slower by a disturbance alone, or that the run had no time left for. Others that were not measured or cannot be
/// compared are skipped; all others pass. Too few judged
/// results are an error of its own.
pub(crate) fn suites(comparison: &Comparison) -> Vec<TestSuite> {
    let mut suites = by_subsystem(&comparison.points, |p| p.subsystem, case);
    if let Some(first) = suites.first_mut() {
        let sentence = junit::text(&comparison.sentence);
        first.add_property(("comparison", sentence.as_str()));
    }
    suites.extend(comparison.too_little().map(|why| {
        let name = "at least half of the baseline's results can be compared";
        suite("comparison", vec![TestCase::new(name, junit::error("too little", &why))])
    }));
    suites
}

fn case(p: &ComparedPoint) -> TestCase {
    let undecided = !p.fails() && p.undecided();
    let mut status = match p.judged() {
        _ if p.fails() => junit::failure(failure(p), &p.reason),
        _ if p.disturbed() => junit::error("disturbed", &p.reason),
        _ if undecided => junit::error(Comparability::Undecided.as_str(), &p.reason),
        _ if p.leaves_open() => junit::error(NOT_MEASURED, &p.reason),
        false => skipped(&p.reason),
        true => TestCaseStatus::success(),
    };
    if undecided || p.is_worse() {
        status.set_description(figures(p));
    }
    let name = if p.name.is_empty() { &p.workload } else { &p.name };
    junit::case(name, &p.workload, status)
}

/// Returns both headline figures, and ratio, interval and margin of the compared figure, and of
/// delivered if it changed.
fn figures(p: &ComparedPoint) -> String {
    let [a, b] = values(p).map(|m| m.unwrap_or_else(|| "no result".to_owned()));
    let kind = p.figure.map_or("", FigureKind::as_str);
    let headline = p.headline.as_ref().map(|h| format!("; {kind} B / A {}", ratio(h)));
    let delivered = moved(p).map(|d| format!("; delivered B / A {}", ratio(d)));
    let ratios = headline.unwrap_or_default() + &delivered.unwrap_or_default();
    match p.mean_of {
        None => format!("A {a}; B {b}{ratios}"),
        Some(_) => ratios.trim_start_matches("; ").to_owned(),
    }
}
