//! A configuration with its trials and all conclusions from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Ceiling, CpuPlacement, Ending, Finding, Latency, Params, Point, RawMeasurement,
    Reference, Series, Severity, Subsystem, Summary, Trial, Unit, Verdict, WorkloadSpec, median,
};

/// The precision of the headline figure. It does not say whether the figure is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Half the 95 % interval as a share of the figure.
    pub half_width: f64,
    /// The policy's target for the half-width.
    pub target: f64,
    /// True if the interval is as narrow as the target.
    pub reached: bool,
}

/// The resource that limited the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// The resource, such as `execution ports`.
    pub resource: String,
    /// The evidence, with figures.
    pub evidence: String,
}

impl Bottleneck {
    /// The resource where a cgroup's limit on a device's I/O is reached.
    pub const CGROUP_IO_LIMIT: &'static str = "cgroup I/O limit";
    /// The resource where a limit is reached that the user declared; the limit's name follows.
    pub const DECLARED_LIMIT: &'static str = "declared limit";

    /// Returns true if it is a limit on I/O or memory that a cgroup sets or the user declared.
    pub fn is_set_limit(&self) -> bool {
        self.resource == Self::CGROUP_IO_LIMIT || self.resource.starts_with(Self::DECLARED_LIMIT)
    }

    /// Makes the bottleneck of that resource, with that evidence.
    pub fn new(resource: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { resource: resource.into(), evidence: evidence.into() }
    }
}

/// An independent account of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The counter: `checked arithmetic`, `device sectors`, `receiver`.
    pub kind: String,
    /// Units of work that the workload claims, over all trials.
    pub claimed: f64,
    /// Units of work that the verification counted.
    pub counted: f64,
    /// The comparison, in words.
    pub note: String,
}

/// A configuration as measured, with its figures, findings and verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Workload id.
    pub workload: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Every parameter.
    pub params: Params,
    /// Base unit of `trials[].value`, `summary` and `ceiling`.
    pub unit: Unit,
    /// The better direction.
    pub better: Better,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Values of the warm-up, in order; not part of the summary; empty for loads that are cut.
    pub warmup: Vec<f64>,
    /// Statistics; null without a trial.
    pub summary: Option<Summary>,
    /// Precision of the headline figure; null without an interval.
    pub precision: Option<Precision>,
    /// Distribution of single operations, where the workload times them.
    pub latency: Option<Latency>,
    /// Independent account of the work.
    pub verification: Option<Verification>,
    /// The theoretical limit.
    pub ceiling: Option<Ceiling>,
    /// Headline / ceiling, inverted where less is better. The ceiling has the clock of the headline.
    /// Null where its uncertainty is 100 % or more.
    pub efficiency: Option<f64>,
    /// The resource that limited the result.
    pub bottleneck: Option<Bottleneck>,
    /// Placements of its threads' CPUs while its rounds ran, the most frequent first; empty where
    /// they were not probed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_placements: Vec<CpuPlacement>,
    /// The development over time, if requested. The trials are its samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Results of reference tools that ran the same work.
    pub references: Vec<Reference>,
    /// Findings of the checks.
    pub findings: Vec<Finding>,
    /// The verdict that follows.
    pub verdict: Verdict,
    /// Reasons why parts above are null or empty, by their names.
    pub missing: BTreeMap<String, String>,
    /// Reason why no more trials were taken.
    pub ending: Ending,
}

impl Measurement {
    /// Makes a measurement without results.
    pub fn new(spec: &WorkloadSpec, params: Params) -> Self {
        RawMeasurement::new(spec, params).unjudged(None)
    }

    /// Returns true if no finding so far is more than a note.
    pub fn undisturbed(&self) -> bool {
        self.findings.iter().all(|f| f.severity == Severity::Note)
    }

    /// Returns the mean number of I/Os that each thread had in flight: the median over the trials.
    pub fn in_flight(&self) -> Option<f64> {
        let of_trials = self.trials.iter().filter_map(|t| t.file.as_ref()?.in_flight);
        median(&of_trials.collect::<Vec<_>>())
    }

    /// Returns the configuration that was measured.
    pub fn point(&self) -> Point {
        Point { workload: self.workload.clone(), params: self.params.clone() }
    }
}
