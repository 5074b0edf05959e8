//! What outputs themselves hold against their figures, each in one wording.

use proofmark_model::{Finding, Severity, check_id};

/// Two accounts of one output differ, which leaves the figure in doubt.
pub(crate) fn differ(what: impl Into<String>) -> Finding {
    contradicts(Severity::Suspect, what)
}

/// The same, where it does more, or less, than to leave the figure in doubt.
pub(crate) fn contradicts(severity: Severity, what: impl Into<String>) -> Finding {
    let advice = "find out which of them is right, or measure again";
    Finding::new(check_id::TWO_ACCOUNTS, severity, what, advice)
}

/// A finding unless two accounts agree.
pub(crate) fn unless(agree: bool, what: impl FnOnce() -> String) -> Option<Finding> {
    (!agree).then(|| differ(what()))
}

/// What the tool itself says against its figure.
pub(crate) fn warned(severity: Severity, message: impl Into<String>) -> Finding {
    Finding::new(check_id::TOOL_WARNING, severity, message, "remove the cause, or measure again")
}
