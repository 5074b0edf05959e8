//! A fact about the machine, or the reason why it is not known.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value with the place that it was read from, or the reason for its absence.
///
/// In JSON: `{"value": 2, "source": "/proc/cpuinfo"}` or
/// `{"value": null, "reason": "/proc/cpuinfo: permission denied"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Probe<T> {
    /// The value is known.
    Known {
        /// The value, in the unit that the field's name or documentation gives.
        value: T,
        /// Source: a file, a CPUID leaf, a system call.
        source: Cow<'static, str>,
    },
    /// The value is not known.
    Missing {
        /// Always null; keeps the shape of the JSON the same for readers.
        value: (),
        /// Reason, in words for a person.
        reason: Cow<'static, str>,
    },
}

impl<T> Probe<T> {
    /// Makes a known value with its source.
    pub fn known(value: T, source: impl Into<Cow<'static, str>>) -> Self {
        Self::Known { value, source: source.into() }
    }

    /// Makes an unknown value with its reason.
    pub fn missing(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Missing { value: (), reason: reason.into() }
    }

    /// Returns the value, if it is known.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Missing { .. } => None,
        }
    }

    /// Returns the source of the value, or the reason why it is missing.
    pub fn origin(&self) -> &str {
        match self {
            Self::Known { source, .. } => source,
            Self::Missing { reason, .. } => reason,
        }
    }

    /// Converts the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Probe<U> {
        match self {
            Self::Known { value, source } => Probe::Known { value: f(value), source },
            Self::Missing { reason, .. } => Probe::Missing { value: (), reason },
        }
    }
}
