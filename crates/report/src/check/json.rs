//! JSON of a check: the outcome, the counts, and whether each result fails.

use proofmark_model::{
    CHECK_SCHEMA, CheckedRequirement, ComparedPoint, Comparison, Decision, Params,
};
use serde::Serialize;

use super::{Check, RequirementCounts};
use crate::comparison::Tally;

/// The object that `check --format json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Object<'a> {
    schema: &'static str,
    outcome: Decision,
    exit_status: u8,
    counts: Counts,
    requirements: &'a [CheckedRequirement],
    /// In the order of the comparison's points; left out without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<CheckedResult<'a>>>,
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
    gone: usize,
    faster: usize,
    no_difference_shown: usize,
    undecided: usize,
    not_comparable: usize,
}

/// A result of the comparison.
#[derive(Debug, Serialize)]
struct CheckedResult<'a> {
    workload: &'a str,
    params: &'a Params,
    fails: bool,
    /// The word by which it is counted.
    outcome: String,
    reason: &'a str,
}

impl<'a> Object<'a> {
    pub(super) fn new(check: &Check<'a>) -> Self {
        let outcome = check.decision();
        let results = |c: &'a Comparison| c.points.iter().map(CheckedResult::new).collect();
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
            gone: t.gone,
            faster: t.faster,
            no_difference_shown: t.alike,
            undecided: t.undecided,
            not_comparable: t.not_comparable,
        }
    }
}

impl<'a> CheckedResult<'a> {
    fn new(point: &'a ComparedPoint) -> Self {
        let outcome = if point.gone() { "gone" } else { point.change().as_str() };
        Self {
            workload: &point.workload,
            params: &point.params,
            fails: point.fails(),
            outcome: outcome.replace(' ', "_"),
            reason: &point.reason,
        }
    }
}
