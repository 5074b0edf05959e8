//! Findings about contradictions and warnings in outputs, each with one wording.

use proofmark_model::{Finding, Severity, check_id};

/// Reports that two accounts in an output differ, which makes the figure suspect.
pub(crate) fn differ(what: impl Into<String>) -> Finding {
    contradicts(Severity::Suspect, what)
}

/// Reports the same with another severity.
pub(crate) fn contradicts(severity: Severity, what: impl Into<String>) -> Finding {
    let advice = "find out which of them is right, or measure again";
    Finding::new(check_id::TWO_ACCOUNTS, severity, what, advice)
}

/// Returns a finding if two accounts disagree.
pub(crate) fn differ_unless(agree: bool, what: impl FnOnce() -> String) -> Option<Finding> {
    (!agree).then(|| differ(what()))
}

/// Reports the tool's own warning about its figure.
pub(crate) fn warned(severity: Severity, message: impl Into<String>) -> Finding {
    Finding::new(check_id::TOOL_WARNING, severity, message, "remove the cause, or measure again")
}

/// Reports that another part of the output has no figure.
pub(crate) fn without(why: &str) -> Finding {
    warned(Severity::Note, format!("{why}: it has no figure"))
}
