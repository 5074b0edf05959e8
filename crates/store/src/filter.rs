//! Which past runs and points are asked for.

use std::collections::BTreeMap;

use proofmark_model::{Param, Params, Timestamp};

/// What is asked for; by default everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The machine's own name.
    pub host: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Workload id.
    pub workload: Option<String>,
    /// Parameters of a point, each with the values that it may have.
    pub parameters: BTreeMap<String, Vec<Param>>,
    /// Runs that began then or later.
    pub since: Option<Timestamp>,
    /// At most this many, the newest: of runs, or of each point.
    pub last: Option<u32>,
}

impl Filter {
    /// Whether a point has the parameters that are asked for.
    pub fn takes(&self, params: &Params) -> bool {
        self.parameters
            .iter()
            .all(|(parameter, values)| params.named(parameter).is_some_and(|v| values.contains(v)))
    }

    /// Earliest start, in microseconds since 1970.
    pub(crate) fn earliest(&self) -> i64 {
        self.since.map_or(i64::MIN, micros)
    }

    pub(crate) fn limit(&self) -> i64 {
        self.last.map_or(-1, i64::from)
    }
}

/// A moment as it is stored.
pub fn micros(at: Timestamp) -> i64 {
    at.0.as_microsecond()
}
