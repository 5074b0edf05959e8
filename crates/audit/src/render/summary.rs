//! Counts by verdict and by reason.

use std::collections::BTreeMap;

use proofmark_model::Verdict;
use serde::Serialize;

use crate::{Judged, Missing, NOT_CHECKED, rules};

/// Counts of figures by verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All figures.
    pub figures: usize,
    /// Figures that a rule checked and none doubts.
    pub valid: usize,
    /// Figures that no rule could check.
    pub not_checked: usize,
    /// Figures with a suspect finding.
    pub suspect: usize,
    /// Figures that do not measure what their name says.
    pub invalid: usize,
    /// Rules with findings, in the order of causes.
    pub reasons: Vec<Reason>,
    /// Facts that rules lacked for figures without a finding, in the order of the rules.
    pub missing: Vec<Gap>,
}

/// Counts of figures for which a rule lacked a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The missing fact and its rule.
    #[serde(flatten)]
    pub missing: Missing,
    /// Figures that no rule could check.
    pub not_checked: usize,
    /// Figures that passed other rules.
    pub passed_others: usize,
}

/// Counts of figures with findings of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The rule's id.
    pub rule: &'static str,
    /// Title of the rule.
    pub title: &'static str,
    /// Figures whose verdict it explains; for a note, whose first note it is.
    pub first: usize,
    /// All figures with its finding.
    pub found: usize,
}

/// Counts figures by verdict, by reason and by missing fact.
pub fn summary(judged: &[Judged]) -> Summary {
    let count = |standing: &str| judged.iter().filter(|j| j.verdict_word() == standing).count();
    let reasons = rules::ALL.iter().map(|rule| Reason {
        rule: rule.id,
        title: rule.title,
        first: judged.iter().filter(|j| j.reason().is_some_and(|f| f.check == rule.id)).count(),
        found: judged.iter().filter(|j| j.findings.iter().any(|f| f.check == rule.id)).count(),
    });
    Summary {
        figures: judged.len(),
        valid: count(Verdict::Valid.as_str()),
        not_checked: count(NOT_CHECKED),
        suspect: count(Verdict::Suspect.as_str()),
        invalid: count(Verdict::Invalid.as_str()),
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
