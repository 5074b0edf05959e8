//! Threads that only load the machine while others work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of the threads that only load the machine, in a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadingThreads {
    /// Share of the time for which they were on a CPU, 0 to 1, of the thread with the least. Null
    /// where the system does not report it.
    pub on_cpu: Option<f64>,
    /// Share of that thread's time in gaps, 0 to 1. Windows with such a gap are not clean.
    pub in_gaps: f64,
    /// Bytes per second that all of them should move; null where they move as many as they can.
    pub target: Option<f64>,
}

impl LoadingThreads {
    /// Adds another thread of the same trial.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let target = self.target.zip(other.target).map(|(a, b)| a + b);
        let is_less =
            other.on_cpu.is_some_and(|on_cpu| self.on_cpu.is_none_or(|least| on_cpu < least));
        Self { target, ..if is_less { other } else { self } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_with_the_least_time_counts_and_targets_are_added() {
        let of = |on_cpu, in_gaps| LoadingThreads { on_cpu, in_gaps, target: Some(1e9) };
        let all = [of(Some(0.9), 0.1), of(None, 0.5), of(Some(0.2), 0.7), of(Some(0.5), 0.4)];
        let all = all.into_iter().reduce(LoadingThreads::with);
        assert_eq!(all, Some(LoadingThreads { target: Some(4e9), ..of(Some(0.2), 0.7) }));
        let free = LoadingThreads { target: None, ..of(Some(1.0), 0.0) };
        assert_eq!(of(Some(0.9), 0.1).with(free).target, None);
    }
}
