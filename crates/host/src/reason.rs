//! What a probe found, or in words why it is not known.

use std::borrow::Cow;

use proofmark_model::Probe;

/// Why something is not known.
pub(crate) type Reason = String;

pub(crate) fn fault(path: &str, words: impl std::fmt::Display) -> Reason {
    format!("{path}: {words}")
}

/// What a probe found there, or why it is not known.
pub(crate) fn probe<T>(found: Result<T, Reason>, source: impl Into<Cow<'static, str>>) -> Probe<T> {
    probe_from(found.map(|value| (value, source)))
}

/// What a probe found, with its source, or why it is not known.
pub(crate) fn probe_from<T, S: Into<Cow<'static, str>>>(found: Result<(T, S), Reason>) -> Probe<T> {
    match found {
        Ok((value, source)) => Probe::known(value, source),
        Err(reason) => Probe::missing(reason),
    }
}
