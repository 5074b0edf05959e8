//! Counts by verdict and by reason.

use std::collections::BTreeMap;

use proofmark_model::Verdict;
use serde::Serialize;

use crate::{Judged, Missing, NOT_CHECKED, rules};

/// How many figures there are of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All figures.
    pub figures: usize,
    /// Those that a rule looked at, and that no rule doubts.
    pub valid: usize,
    /// Those that no rule could look at.
    pub not_checked: usize,
    /// Those that something disturbed.
    pub suspect: usize,
    /// Those that do not measure what their name says.
    pub invalid: usize,
    /// Rules that found something, in the order of causes.
    pub reasons: Vec<Reason>,
    /// What kept rules from looking at figures that no rule doubts, in the order of the rules.
    pub missing: Vec<Gap>,
}

/// What kept a rule from looking at figures, and how many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// What is missing, and for which rule.
    #[serde(flatten)]
    pub missing: Missing,
    /// Figures that no rule could look at.
    pub not_checked: usize,
    /// Figures that passed other rules.
    pub passed_others: usize,
}

/// How many figures a rule has something to say of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The rule's id.
    pub rule: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Figures whose verdict it explains (or, of a note, whose first note it is).
    pub first: usize,
    /// Figures that it found, first or not.
    pub found: usize,
}

/// Counts.
pub fn summary(judged: &[Judged]) -> Summary {
    let of = |standing: &str| judged.iter().filter(|j| j.standing() == standing).count();
    let reasons = rules::ALL.iter().map(|rule| Reason {
        rule: rule.id,
        title: rule.title,
        first: judged.iter().filter(|j| j.reason().is_some_and(|f| f.check == rule.id)).count(),
        found: judged.iter().filter(|j| j.findings.iter().any(|f| f.check == rule.id)).count(),
    });
    Summary {
        figures: judged.len(),
        valid: of(Verdict::Valid.as_str()),
        not_checked: of(NOT_CHECKED),
        suspect: of(Verdict::Suspect.as_str()),
        invalid: of(Verdict::Invalid.as_str()),
        reasons: reasons.filter(|r| r.found > 0).collect(),
        missing: gaps(judged),
    }
}

fn gaps(judged: &[Judged]) -> Vec<Gap> {
    let mut counts: BTreeMap<Missing, [usize; 2]> = BTreeMap::new();
    for figure in judged.iter().filter(|j| j.verdict == Verdict::Valid) {
        for missing in &figure.missing {
            let [not_checked, passed_others] = counts.entry(*missing).or_default();
            *(if figure.checked { passed_others } else { not_checked }) += 1;
        }
    }
    let place = |gap: &Gap| rules::ALL.iter().position(|rule| Some(rule.id) == gap.missing.rule);
    let gaps = counts.into_iter().map(|(missing, [not_checked, passed_others])| Gap {
        missing,
        not_checked,
        passed_others,
    });
    let mut gaps: Vec<Gap> = gaps.collect();
    gaps.sort_by_key(place);
    gaps
}
