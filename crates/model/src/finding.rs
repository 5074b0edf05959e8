//! Findings of checks, and the verdict that follows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The weight of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the result is valid.
    Note,
    /// The configuration was not run, so there is no figure.
    NotRun,
    /// A named cause changed the result, or what its name says cannot be confirmed.
    Suspect,
    /// The result is not what its name says.
    Invalid,
}

/// The output of a check about a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of the check, as in `proofmark explain ID`.
    pub check: Cow<'static, str>,
    /// Weight.
    pub severity: Severity,
    /// The cause, in one sentence.
    pub message: String,
    /// The figures behind the message; the key names the unit where there is one.
    pub evidence: BTreeMap<String, serde_json::Value>,
    /// The action to take.
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

    /// Adds one figure to the evidence.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.evidence.insert(name.to_owned(), value.into());
        self
    }
}

/// Marks findings of the reader of a tool's output, in their evidence.
const FOUND_IN_OUTPUT: &str = "found_in_output";

impl Finding {
    /// Marks a finding that the reader of a tool's output made. The run file does not have the
    /// output, so that no check can make the finding again.
    #[must_use]
    pub fn found_in_output(self) -> Self {
        self.with(FOUND_IN_OUTPUT, true)
    }

    /// Returns true if the reader of a tool's output made it.
    pub fn is_found_in_output(&self) -> bool {
        self.evidence.contains_key(FOUND_IN_OUTPUT)
    }
}

/// The conclusion from the findings and the interval, best first.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figure is what its definition says, within the tolerance, and its interval is narrow.
    #[default]
    Valid,
    /// No check found a problem, but the interval is wider than the limit of the subsystem.
    Coarse,
    /// No check found a problem, but there are too few values for an interval.
    NoInterval,
    /// The configuration could not be run here, so there is no figure.
    NotRun,
    /// A named cause changed the result, or what its name says cannot be confirmed.
    Suspect,
    /// The result is not what its name says.
    Invalid,
}

/// The width of the headline figure's interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// The interval is narrow, or there is no figure whose interval could be judged.
    Narrow,
    /// The interval is wide.
    Coarse,
    /// There is no interval.
    NoInterval,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 6] =
        [Self::Valid, Self::Coarse, Self::NoInterval, Self::NotRun, Self::Suspect, Self::Invalid];

    /// Returns the verdict over a list of findings: the worst of them decides.
    pub fn from_findings(findings: &[Finding]) -> Self {
        match findings.iter().map(|f| f.severity).max() {
            None | Some(Severity::Note) => Self::Valid,
            Some(Severity::NotRun) => Self::NotRun,
            Some(Severity::Suspect) => Self::Suspect,
            Some(Severity::Invalid) => Self::Invalid,
        }
    }

    /// Returns the verdict with this width of the interval, which changes only a valid result.
    #[must_use]
    pub fn with_width(self, width: Width) -> Self {
        match (self, width) {
            (Self::Valid, Width::Coarse) => Self::Coarse,
            (Self::Valid, Width::NoInterval) => Self::NoInterval,
            _ => self,
        }
    }

    /// Returns true if no check found a problem with the figure, however wide its interval is.
    pub fn is_undoubted(self) -> bool {
        matches!(self, Self::Valid | Self::Coarse | Self::NoInterval)
    }

    /// Returns true if there is a figure that may be used, which includes a suspect one.
    pub fn is_usable(self) -> bool {
        self.is_undoubted() || self == Self::Suspect
    }

    /// Returns the word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Coarse => "coarse",
            Self::NoInterval => "no interval",
            Self::NotRun => "not run",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }

    /// Returns the name without spaces, as in files: `no_interval`.
    pub fn id(self) -> &'static str {
        match self {
            Self::NoInterval => "no_interval",
            Self::NotRun => "not_run",
            _ => self.as_str(),
        }
    }
}

/// Number of results by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictCounts {
    /// Valid results.
    pub valid: u64,
    /// Results with a wide interval.
    pub coarse: u64,
    /// Results without an interval.
    pub no_interval: u64,
    /// Configurations that could not be run.
    pub not_run: u64,
    /// Results that a named cause changed.
    pub suspect: u64,
    /// Results that are not what their name says.
    pub invalid: u64,
}

impl VerdictCounts {
    /// Returns the number of results with this verdict.
    pub fn get(&self, verdict: Verdict) -> u64 {
        match verdict {
            Verdict::Valid => self.valid,
            Verdict::Coarse => self.coarse,
            Verdict::NoInterval => self.no_interval,
            Verdict::NotRun => self.not_run,
            Verdict::Suspect => self.suspect,
            Verdict::Invalid => self.invalid,
        }
    }

    /// Returns the number of results.
    pub fn all(&self) -> u64 {
        Verdict::ALL.into_iter().map(|v| self.get(v)).sum()
    }
}

impl FromIterator<Verdict> for VerdictCounts {
    fn from_iter<T: IntoIterator<Item = Verdict>>(verdicts: T) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Valid => &mut counts.valid,
                Verdict::Coarse => &mut counts.coarse,
                Verdict::NoInterval => &mut counts.no_interval,
                Verdict::NotRun => &mut counts.not_run,
                Verdict::Suspect => &mut counts.suspect,
                Verdict::Invalid => &mut counts.invalid,
            } += 1;
        }
        counts
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
        assert_eq!(Verdict::from_findings(&[]), Verdict::Valid);
        assert_eq!(Verdict::from_findings(&[f(Severity::Note)]), Verdict::Valid);
        assert_eq!(
            Verdict::from_findings(&[f(Severity::Suspect), f(Severity::Note)]),
            Verdict::Suspect
        );
        assert_eq!(
            Verdict::from_findings(&[f(Severity::Invalid), f(Severity::Suspect)]),
            Verdict::Invalid
        );
        assert_eq!(
            Verdict::from_findings(&[f(Severity::NotRun), f(Severity::Note)]),
            Verdict::NotRun
        );
    }

    #[test]
    fn a_wide_interval_takes_the_tick_and_no_more() {
        for (width, expected) in [
            (Width::Narrow, Verdict::Valid),
            (Width::Coarse, Verdict::Coarse),
            (Width::NoInterval, Verdict::NoInterval),
        ] {
            assert_eq!(Verdict::Valid.with_width(width), expected);
            for other in [Verdict::NotRun, Verdict::Suspect, Verdict::Invalid] {
                assert_eq!(other.with_width(width), other);
            }
        }
    }

    #[test]
    fn each_verdict_is_counted_and_named_as_in_files() {
        let counts: VerdictCounts = Verdict::ALL.into_iter().chain([Verdict::Coarse]).collect();
        assert_eq!(Verdict::ALL.map(|v| counts.get(v)), [1, 2, 1, 1, 1, 1]);
        assert_eq!(counts.all(), 7);
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.id());
        }
    }
}
