//! Texts about unknown facts.

pub(crate) use proofmark_model::counted;
use proofmark_model::{Measurement, Probe};

/// Returns a known value, or the text that it is unknown, with the reason.
pub(crate) fn known<'a, T>(probe: &'a Probe<T>, what: &str) -> Result<&'a T, String> {
    probe.get().ok_or_else(|| format!("{what} is unknown ({})", probe.origin()))
}

/// The reason why a result has no usable figure: as recorded, else by the ending of its
/// measurement.
pub(crate) fn why_no_result(m: &Measurement) -> String {
    m.missing.get("summary").cloned().unwrap_or_else(|| m.ending.words())
}
