//! Words that depend on a number or on what is known.

pub(crate) use proofmark_model::counted;
use proofmark_model::{Measurement, Probe};

/// A value that was found out, or that it was not and why.
pub(crate) fn known<'a, T>(probe: &'a Probe<T>, what: &str) -> Result<&'a T, String> {
    probe.get().ok_or_else(|| format!("{what} is unknown ({})", probe.origin()))
}

/// Why a result has no figure that counts: as recorded, else by how its measurement ended.
pub(crate) fn why_no_result(m: &Measurement) -> String {
    m.missing.get("summary").cloned().unwrap_or_else(|| m.ending.words())
}
