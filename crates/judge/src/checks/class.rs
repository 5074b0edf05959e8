//! Classes of checks: the severities that a check may give.

use proofmark_model::Severity;

/// The kind of doubt that a check raises. It bounds the severity of the check's findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The result may not be what its name says: invalid.
    Claim {
        /// The reason why the evidence may be partial, so that it neither confirms nor refutes the
        /// claim: suspect. `None` if a finding always refutes it.
        partial: Option<&'static str>,
    },
    /// A named cause may have changed the headline figure by more than the tolerance: suspect.
    Disturbance {
        /// True if the cause takes time, which windows leave out of a figure made of them.
        removed_by_windows: bool,
        /// True if the figure may be above the rate that the machine sustains.
        may_flatter: bool,
    },
    /// A fact that is worth knowing: a note.
    Context,
}

impl Class {
    /// A claim that a finding always refutes.
    pub(super) const CLAIM: Self = Self::Claim { partial: None };

    /// A claim whose evidence may be partial, with the reason.
    pub(super) const fn claim(partial: &'static str) -> Self {
        Self::Claim { partial: Some(partial) }
    }

    /// A disturbance that windows include.
    pub(super) const DISTURBANCE: Self =
        Self::Disturbance { removed_by_windows: false, may_flatter: false };

    /// A change from one rate to another, so that the figure mixes both.
    pub(super) const CHANGE: Self =
        Self::Disturbance { removed_by_windows: false, may_flatter: true };

    /// A disturbance that takes time, which windows leave out.
    pub(super) const TAKEN_TIME: Self =
        Self::Disturbance { removed_by_windows: true, may_flatter: false };

    pub(crate) fn is_disturbance(self) -> bool {
        matches!(self, Self::Disturbance { .. })
    }

    /// Returns true if its findings can only have made the machine slower.
    pub(crate) fn only_slows(self) -> bool {
        matches!(self, Self::Disturbance { may_flatter: false, .. })
    }

    /// Returns true if windows leave out the time that it takes.
    pub(crate) fn removed_by_windows(self) -> bool {
        self == Self::TAKEN_TIME
    }

    /// Limits a severity to those of this class. A claim whose evidence is never partial is invalid
    /// rather than suspect.
    pub(crate) fn bound(self, severity: Severity) -> Severity {
        match self {
            Self::Claim { partial: None } if severity == Severity::Suspect => Severity::Invalid,
            Self::Claim { .. } => severity,
            Self::Disturbance { .. } => severity.min(Severity::Suspect),
            Self::Context => Severity::Note,
        }
    }

    /// The printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Disturbance { .. } => "disturbance",
            Self::Context => "context",
        }
    }
}
