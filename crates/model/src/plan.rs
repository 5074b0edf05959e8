//! What is to be measured, and how hard.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Point, QuotaRounds, Subsystem};

/// How trials are taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Half-width of the headline figure's 95 % interval, as a share of the figure, at which trials
    /// stop: 0.02 for 2 %.
    pub target: f64,
    /// The same for subsystems that have one of their own: memory and disks vary more than a core
    /// does.
    #[serde(default)]
    pub target_of: BTreeMap<Subsystem, f64>,
    /// Least number of trials.
    pub min_trials: u32,
    /// Greatest number of trials. Equal to `min_trials` where the number is fixed.
    pub max_trials: u32,
    /// A fixed number of trials for workloads that have one of their own, by id.
    #[serde(default)]
    pub trials_of: BTreeMap<String, u32>,
    /// Least duration of a trial in seconds.
    pub trial_s: f64,
    /// The same for workloads that have one of their own, by id.
    #[serde(default)]
    pub trial_s_of: BTreeMap<String, f64>,
    /// Timed seconds after which a point takes no more trials, once it has the least number (8
    /// rounds, or 3 trials of loads that are not cut); null: as many as it needs. It matters where
    /// one trial takes seconds, such as a large matrix.
    #[serde(default)]
    pub point_s: Option<f64>,
    /// Time that the whole run may take, in seconds; null: as long as the trials need.
    pub budget_s: Option<f64>,
    /// Rounds under the CPU quota of this machine; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaRounds>,
    /// Bytes of memory that this machine makes ready in a second, about, while configurations are set
    /// up; null: no time is planned for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_rate: Option<f64>,
}

/// The target where a subsystem has none of its own.
const DEFAULT_TARGET: f64 = 0.02;

impl Default for Policy {
    /// What METHOD.md says, without a budget.
    fn default() -> Self {
        Self {
            target: DEFAULT_TARGET,
            target_of: Subsystem::ALL.map(|s| (s, s.info().target)).into(),
            min_trials: 8,
            max_trials: 20,
            trials_of: BTreeMap::new(),
            trial_s: 0.1,
            trial_s_of: BTreeMap::new(),
            point_s: None,
            budget_s: None,
            quota: None,
            memory_rate: None,
        }
    }
}

impl Policy {
    /// The target in this subsystem.
    pub fn target_for(&self, subsystem: Subsystem) -> f64 {
        self.target_of.get(&subsystem).copied().unwrap_or(self.target)
    }

    /// Least and greatest number of trials of this workload; equal where the number is fixed.
    pub fn trials_for(&self, workload: &str) -> (u32, u32) {
        let fixed = self.trials_of.get(workload).map(|n| (*n, *n));
        fixed.unwrap_or((self.min_trials, self.max_trials))
    }

    /// Whether the number of trials of this workload is fixed, and not decided by their interval.
    pub fn is_fixed(&self, workload: &str) -> bool {
        let (least, most) = self.trials_for(workload);
        least == most
    }

    /// Least duration of a trial of this workload, in seconds.
    pub fn trial_s_for(&self, workload: &str) -> f64 {
        self.trial_s_of.get(workload).copied().unwrap_or(self.trial_s)
    }

    /// Timed seconds after which a point of this workload takes no more trials: never less
    /// than the least number of them takes that last as long as the policy asks.
    pub fn point_s_for(&self, workload: &str) -> Option<f64> {
        let least = self.trial_s_for(workload) * f64::from(self.trials_for(workload).0);
        self.point_s.map(|s| s.max(least))
    }
}

/// The points of a run, in order, and the policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the profile that it came from.
    pub profile: String,
    /// How trials are taken.
    pub policy: Policy,
    /// The points.
    pub points: Vec<Point>,
    /// Tools that repeat points, by name.
    #[serde(default)]
    pub references: BTreeMap<String, Vec<PlannedReference>>,
    /// Points that are sampled over time instead of measured in trials.
    #[serde(default)]
    pub series: Vec<PlannedSeries>,
}

impl Plan {
    /// How a point is sampled over time, where it is, by its place in `points`.
    pub fn series_of(&self, point: usize) -> Option<&PlannedSeries> {
        self.series.iter().find(|s| s.point == point)
    }
}

/// A point that is sampled over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSeries {
    /// Place of the point in the plan's `points`.
    pub point: usize,
    /// How long, in seconds.
    pub for_s: f64,
    /// Seconds from the start of one sample to that of the next.
    pub every_s: f64,
}

/// A tool that repeats a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedReference {
    /// Place of the point in the plan's `points`.
    pub point: usize,
    /// Number of pairs at most.
    pub runs: u32,
    /// About how long one such pair takes, in seconds.
    pub run_s: f64,
}
