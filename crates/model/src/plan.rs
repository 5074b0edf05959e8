//! The plan of a run: configurations, and the policy for their trials.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Point, QuotaRounds, Subsystem};

/// The policy: number and duration of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Half-width of the headline figure's 95 % interval, as a share of the figure, at which trials
    /// stop: 0.02 for 2 %.
    pub target: f64,
    /// Targets of subsystems that have their own: memory and disks vary more than a core does.
    #[serde(default)]
    pub target_of: BTreeMap<Subsystem, f64>,
    /// Minimum number of trials.
    pub min_trials: u32,
    /// Maximum number of trials. Equal to `min_trials` where the number is fixed.
    pub max_trials: u32,
    /// Fixed numbers of trials of workloads that have their own, by id.
    #[serde(default)]
    pub trials_of: BTreeMap<String, u32>,
    /// Minimum duration of a trial in seconds.
    pub trial_s: f64,
    /// Minimum durations of workloads that have their own, by id.
    #[serde(default)]
    pub trial_s_of: BTreeMap<String, f64>,
    /// Timed seconds after which a configuration takes no more trials, once it has the minimum: 8
    /// rounds, or 3 trials of uncut loads. Null: no limit. It matters where one trial takes
    /// seconds, such as a large matrix.
    #[serde(default)]
    pub point_s: Option<f64>,
    /// Maximum duration of the whole run with its reference tools and reports, in seconds; null: as
    /// long as the trials need.
    pub budget_s: Option<f64>,
    /// Rounds under the CPU quota of this machine; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaRounds>,
    /// Bytes of memory per second that this machine prepares, roughly, during set-up; null: no time
    /// is planned for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_rate: Option<f64>,
}

/// The target of a subsystem without its own.
const DEFAULT_TARGET: f64 = 0.02;

impl Default for Policy {
    /// Returns the policy of METHOD.md, without a budget.
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
    /// Returns the target of a subsystem.
    pub fn target_for(&self, subsystem: Subsystem) -> f64 {
        self.target_of.get(&subsystem).copied().unwrap_or(self.target)
    }

    /// Returns the minimum and maximum number of trials of a workload; equal where the number is
    /// fixed.
    pub fn trials_for(&self, workload: &str) -> (u32, u32) {
        let fixed = self.trials_of.get(workload).map(|n| (*n, *n));
        fixed.unwrap_or((self.min_trials, self.max_trials))
    }

    /// Returns true if the number of trials of a workload is fixed and not decided by their
    /// interval.
    pub fn is_fixed(&self, workload: &str) -> bool {
        let (least, most) = self.trials_for(workload);
        least == most
    }

    /// Returns the minimum duration of a workload's trial, in seconds.
    pub fn trial_s_for(&self, workload: &str) -> f64 {
        self.trial_s_of.get(workload).copied().unwrap_or(self.trial_s)
    }

    /// Returns the timed seconds after which a configuration of a workload takes no more trials.
    /// That is never less than the minimum number of trials of minimum duration takes.
    pub fn point_s_for(&self, workload: &str) -> Option<f64> {
        let least = self.trial_s_for(workload) * f64::from(self.trials_for(workload).0);
        self.point_s.map(|s| s.max(least))
    }
}

/// The configurations of a run, in order, with the policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the profile.
    pub profile: String,
    /// The policy.
    pub policy: Policy,
    /// The configurations.
    pub points: Vec<Point>,
    /// Tools that repeat configurations, by name.
    #[serde(default)]
    pub references: BTreeMap<String, Vec<PlannedReference>>,
    /// Configurations that are sampled over time instead of measured in trials.
    #[serde(default)]
    pub series: Vec<PlannedSeries>,
    /// Configurations that the time limit left out, the most wanted first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Point>,
}

impl Plan {
    /// Returns the sampling over time of a configuration, by its place in `points`, if it has one.
    pub fn series_of(&self, point: usize) -> Option<&PlannedSeries> {
        self.series.iter().find(|s| s.point == point)
    }
}

/// A configuration that is sampled over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSeries {
    /// Place of the configuration in the plan's `points`.
    pub point: usize,
    /// Duration in seconds.
    pub for_s: f64,
    /// Seconds from the start of one sample to that of the next.
    pub every_s: f64,
}

/// A tool that repeats a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedReference {
    /// Place of the configuration in the plan's `points`.
    pub point: usize,
    /// Maximum number of pairs.
    pub runs: u32,
    /// Estimated duration of one pair, in seconds.
    pub run_s: f64,
    /// True if the profile names another tool first: a time limit leaves this one out before.
    #[serde(skip)]
    pub second: bool,
}
