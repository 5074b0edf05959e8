//! What a run is required to reach, and whether it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Params, Unit, Verdict};

/// Version of the shape of checked requirements.
pub const REQUIREMENTS_SCHEMA: &str = "proofmark.requirements/1";

/// A requirement, held against a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRequirement {
    /// As it was written.
    pub requirement: String,
    /// Whether it is met.
    pub met: bool,
    /// The configuration that it was held against; null where none was planned or measured.
    pub params: Option<Params>,
    /// The figure that it is about, in the base unit; null where there is none.
    pub value: Option<f64>,
    /// That unit; null for a share.
    pub unit: Option<Unit>,
    /// The result's verdict; null where it was not measured.
    pub verdict: Option<Verdict>,
    /// Checks that found what is not valid.
    pub checks: Vec<String>,
}
