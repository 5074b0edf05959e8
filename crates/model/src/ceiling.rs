//! The theoretical limit of a result, with its derivation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of an input of a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Measured in this run.
    Measured,
    /// Reported by the machine.
    Reported,
    /// Taken from a table by CPU family; the note cites the source.
    Assumed,
    /// Given by the user.
    Declared,
}

/// One factor of a ceiling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// Name, as in the formula.
    pub name: String,
    /// Value in `unit`.
    pub value: f64,
    /// Unit, empty for a plain number.
    pub unit: String,
    /// Source of the value.
    pub source: Provenance,
    /// The method of measurement, or the table row and its source.
    pub note: String,
}

/// The theoretical ceiling of a measurement, with its derivation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Id of the ceiling, as in `proofmark explain ID`.
    pub id: String,
    /// The ceiling in `unit`, the measurement's own.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// The formula, in the names of the inputs.
    pub formula: String,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Error of the ceiling itself, as a share of it (0.01: 1 %).
    pub uncertainty: f64,
}
