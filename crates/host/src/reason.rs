//! Results of probes: a value, or the reason why it is unknown.

use std::borrow::Cow;

use proofmark_model::Probe;

/// Reason why a fact is unknown.
pub(crate) type Reason = String;

pub(crate) fn fault(path: &str, words: impl std::fmt::Display) -> Reason {
    format!("{path}: {words}")
}

/// Converts a result and its source into a probe.
pub(crate) fn probe<T>(found: Result<T, Reason>, source: impl Into<Cow<'static, str>>) -> Probe<T> {
    probe_from(found.map(|value| (value, source)))
}

/// Converts a result that has its own source into a probe.
pub(crate) fn probe_from<T, S: Into<Cow<'static, str>>>(found: Result<(T, S), Reason>) -> Probe<T> {
    match found {
        Ok((value, source)) => Probe::known(value, source),
        Err(reason) => Probe::missing(reason),
    }
}
