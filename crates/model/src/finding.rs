//! What a check found, and the verdict that follows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the result is valid.
    Note,
    /// A named cause changed the number, or what it claims cannot be confirmed.
    Suspect,
    /// The number does not measure what its name says.
    Invalid,
}

/// One thing that a check has to say about a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of the check, as in `proofmark explain ID`.
    pub check: Cow<'static, str>,
    /// How much it weighs.
    pub severity: Severity,
    /// The cause, in one sentence.
    pub message: String,
    /// The figures that it rests on; the key names the unit where there is one.
    pub evidence: BTreeMap<String, serde_json::Value>,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    /// A finding without evidence; add that with [`Finding::with`].
    pub fn new(
        check: impl Into<Cow<'static, str>>,
        severity: Severity,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            check: check.into(),
            severity,
            message: message.into(),
            evidence: BTreeMap::new(),
            advice: advice.into(),
        }
    }

    /// The same finding with one more figure that it rests on.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.evidence.insert(name.to_owned(), value.into());
        self
    }
}

/// What the findings add up to.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The result is valid.
    #[default]
    Valid,
    /// A named cause changed it, or what it claims cannot be confirmed.
    Suspect,
    /// It does not measure what its name says.
    Invalid,
}

impl Verdict {
    /// The verdict over a list of findings: the worst of them decides.
    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|f| f.severity).max() {
            None | Some(Severity::Note) => Self::Valid,
            Some(Severity::Suspect) => Self::Suspect,
            Some(Severity::Invalid) => Self::Invalid,
        }
    }

    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides() {
        let f = |s| Finding::new("x", s, "", "");
        assert_eq!(Verdict::of(&[]), Verdict::Valid);
        assert_eq!(Verdict::of(&[f(Severity::Note)]), Verdict::Valid);
        assert_eq!(Verdict::of(&[f(Severity::Suspect), f(Severity::Note)]), Verdict::Suspect);
        assert_eq!(Verdict::of(&[f(Severity::Invalid), f(Severity::Suspect)]), Verdict::Invalid);
    }
}
