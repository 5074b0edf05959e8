//! What a run is required to reach, and whether it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureKind, Params, Unit, Verdict};

/// Version of the shape of checked requirements.
pub const REQUIREMENTS_SCHEMA: &str = "proofmark.requirements/2";

/// What a result says of a requirement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The figure's whole interval meets it.
    Met,
    /// The limit lies within the interval, or there is no figure to rely on.
    Undecided,
    /// The figure's whole interval misses it.
    Missed,
}

/// A requirement, held against a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRequirement {
    /// As it was written.
    pub requirement: String,
    /// Whether it is met.
    pub decision: Decision,
    /// The configuration that it was held against; null where none was planned or measured.
    pub params: Option<Params>,
    /// Which number of the result it is about: `delivered`, `p99`.
    pub statistic: String,
    /// That number, in the base unit; null where there is none.
    pub value: Option<f64>,
    /// Its 95 % interval; null where there is none.
    pub ci95: Option<[f64; 2]>,
    /// That unit; null for a share.
    pub unit: Option<Unit>,
    /// The result's headline, where the number is the delivered figure and the headline is another.
    pub headline: Option<HeadlineFigure>,
    /// The result's verdict; null where it was not measured.
    pub verdict: Option<Verdict>,
    /// Checks that found what is not valid.
    pub checks: Vec<String>,
    /// Checks that noted what took a part of the delivered figure, where that misses.
    pub disturbances: Vec<String>,
    /// Why it is undecided, where no check says it.
    pub reason: Option<String>,
}

/// A figure that is a result's headline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeadlineFigure {
    /// Which of the three.
    pub figure: FigureKind,
    /// Its value, in the result's unit.
    pub value: f64,
}
