//! Selection of past runs and points.

use std::collections::BTreeMap;

use proofmark_model::{Param, Params, Timestamp};

/// Selection; the default is everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Host name.
    pub host: Option<String>,
    /// The user's name for the run.
    pub label: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Workload id.
    pub workload: Option<String>,
    /// Parameters of a point, each with its selected values.
    pub parameters: BTreeMap<String, Vec<Param>>,
    /// Runs that started at this time or later.
    pub since: Option<Timestamp>,
    /// Maximum number, the newest first: of runs, or for each point.
    pub last: Option<u32>,
}

impl Filter {
    /// True if a point has the selected parameters.
    pub fn matches(&self, params: &Params) -> bool {
        self.parameters
            .iter()
            .all(|(parameter, values)| params.named(parameter).is_some_and(|v| values.contains(v)))
    }

    /// Returns the earliest start in microseconds since 1970.
    pub(crate) fn earliest(&self) -> i64 {
        self.since.map_or(i64::MIN, micros)
    }

    pub(crate) fn limit(&self) -> i64 {
        self.last.map_or(-1, i64::from)
    }
}

/// Returns a time as it is stored: microseconds since 1970.
pub fn micros(at: Timestamp) -> i64 {
    at.0.as_microsecond()
}
