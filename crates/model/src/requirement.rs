//! Requirements on a run, and whether it met them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureKind, Params, Unit, Verdict};

/// Version of the shape of a check.
pub const CHECK_SCHEMA: &str = "proofmark.check/1";

/// The reason of a requirement on a result that only a series has.
pub const OVER_TIME_ONLY: &str = "measured over time only";

/// The conclusion from a result about a requirement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The figure's whole interval meets it; without one, all trials do.
    Met,
    /// The limit lies within the interval, or there is no figure to rely on.
    Undecided,
    /// The figure's whole interval misses it; without one, all trials do.
    Missed,
}

impl Decision {
    /// Returns the exit status of a check with that conclusion.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Met => 0,
            Self::Missed => 4,
            Self::Undecided => 5,
        }
    }
}

/// A requirement, checked against a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRequirement {
    /// Text of the requirement.
    pub requirement: String,
    /// The conclusion.
    pub decision: Decision,
    /// The title of the result, such as `Commit, 4 KiB, fdatasync`.
    pub title: String,
    /// The configuration of the result; null where none was planned or measured.
    pub params: Option<Params>,
    /// The statistic of the result that it is about: `delivered`, `p99`.
    pub statistic: String,
    /// Value of the statistic, in the base unit; null where there is none.
    pub value: Option<f64>,
    /// The 95 % interval; null where there is none.
    pub ci95: Option<[f64; 2]>,
    /// Unit of the value; null for a share.
    pub unit: Option<Unit>,
    /// The result's headline, where the number is the delivered figure and the headline is another.
    pub headline: Option<HeadlineFigure>,
    /// The result's verdict; null where it was not measured.
    pub verdict: Option<Verdict>,
    /// Checks whose findings made the verdict worse than valid.
    pub checks: Vec<String>,
    /// Checks that noted what took a part of the figure, whatever the decision; of p99, p999 and the
    /// maximum, `disturbed_tail`. Empty for a figure that leaves such time out.
    pub disturbances: Vec<String>,
    /// Reason why it is undecided, where no check gives it; of a decision without an interval, its
    /// basis.
    pub reason: Option<String>,
}

/// A figure that is a result's headline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeadlineFigure {
    /// The kind of the figure.
    pub figure: FigureKind,
    /// Value in the result's unit.
    pub value: f64,
}
