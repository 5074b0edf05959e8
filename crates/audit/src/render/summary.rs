//! Counts by verdict and by reason.

use proofmark_model::Verdict;
use serde::Serialize;

use crate::{Judged, rules};

/// How many figures there are of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All figures.
    pub figures: usize,
    /// Those that are valid.
    pub valid: usize,
    /// Those that something disturbed.
    pub suspect: usize,
    /// Those that do not measure what their name says.
    pub invalid: usize,
    /// Rules that found something, in the order of causes.
    pub reasons: Vec<Reason>,
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
    let of = |verdict| judged.iter().filter(|j| j.verdict == verdict).count();
    let reasons = rules::ALL.iter().map(|rule| Reason {
        rule: rule.id,
        title: rule.title,
        first: judged.iter().filter(|j| j.reason().is_some_and(|f| f.check == rule.id)).count(),
        found: judged.iter().filter(|j| j.findings.iter().any(|f| f.check == rule.id)).count(),
    });
    Summary {
        figures: judged.len(),
        valid: of(Verdict::Valid),
        suspect: of(Verdict::Suspect),
        invalid: of(Verdict::Invalid),
        reasons: reasons.filter(|r| r.found > 0).collect(),
    }
}
