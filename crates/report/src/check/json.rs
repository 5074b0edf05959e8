//! JSON of a check: the outcome, the counts, and whether each result fails.

use proofmark_model::{CHECK_SCHEMA, CheckedRequirement, ComparedPoint, Comparison, Decision};
use serde::Serialize;

use super::{Check, RequirementCounts};
use crate::comparison::{NOT_MEASURED, Tally};

/// The object that `check --format json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Object<'a> {
    schema: &'static str,
    outcome: Decision,
    exit_status: u8,
    counts: Counts,
    requirements: &'a [CheckedRequirement],
    /// One of each of the comparison's points, in their order; left out without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<CheckedResult>>,
    /// Why too few results could be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_little: Option<String>,
    /// Why there is no baseline to compare with, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_baseline: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

#[derive(Debug, Serialize)]
struct Counts {
    requirements: RequirementCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<ResultCounts>,
}

#[derive(Debug, Serialize)]
struct ResultCounts {
    slower: usize,
    disturbed: usize,
    gone: usize,
    faster: usize,
    no_difference_shown: usize,
    perhaps_slower: usize,
    undecided: usize,
    not_comparable: usize,
    not_measured: usize,
}

/// What the check makes of a result of the comparison, which has its parameters and the reason.
#[derive(Debug, Serialize)]
struct CheckedResult {
    /// Place among the comparison's points, from 0.
    point: usize,
    fails: bool,
    /// The word by which it is counted.
    outcome: String,
}

impl<'a> Object<'a> {
    pub(super) fn new(check: &Check<'a>) -> Self {
        let outcome = check.decision();
        let results =
            |c: &Comparison| c.points.iter().enumerate().map(CheckedResult::new).collect();
        Self {
            schema: CHECK_SCHEMA,
            outcome,
            exit_status: outcome.exit_status(),
            counts: Counts {
                requirements: RequirementCounts::count(check.requirements),
                results: check.comparison.map(|c| ResultCounts::new(&Tally::count(c))),
            },
            requirements: check.requirements,
            results: check.comparison.map(results),
            too_little: check.comparison.and_then(Comparison::too_little),
            no_baseline: check.no_baseline,
            comparison: check.comparison,
        }
    }
}

impl ResultCounts {
    fn new(t: &Tally) -> Self {
        Self {
            slower: t.slower,
            disturbed: t.disturbed,
            gone: t.gone,
            faster: t.faster,
            no_difference_shown: t.alike,
            perhaps_slower: t.perhaps_slower,
            undecided: t.undecided,
            not_comparable: t.not_comparable,
            not_measured: t.not_measured,
        }
    }
}

impl CheckedResult {
    fn new((place, point): (usize, &ComparedPoint)) -> Self {
        let outcome = match point {
            p if p.gone() => "gone",
            p if p.is_left_out() => NOT_MEASURED,
            p => p.change().as_str(),
        };
        Self { point: place, fails: point.fails(), outcome: outcome.replace(' ', "_") }
    }
}
