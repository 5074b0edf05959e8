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

/// The reliance that a share of a ceiling deserves.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Reliance {
    /// A known figure of a resource that the result alone used.
    #[default]
    Known,
    /// A figure that was assumed.
    Assumed,
    /// A figure whose uncertainty is 30 % or more.
    Rough,
    /// A figure of a resource that both ends of a connection share.
    Shared,
}

impl Reliance {
    /// Returns the word of the CSV: `known`, `assumed`, `rough` or `shared`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Assumed => "assumed",
            Self::Rough => "rough",
            Self::Shared => "shared",
        }
    }

    /// Returns true for a known ceiling, whose shares need no note.
    pub fn is_known(&self) -> bool {
        *self == Self::Known
    }
}

/// Uncertainty from which on a ceiling is rough.
const ROUGH: f64 = 0.3;

/// Uncertainty from which on a share of a ceiling shows nothing: the limit may be twice as high.
const VAGUE: f64 = 1.0;

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

impl Ceiling {
    /// Returns how far a share of this ceiling can be relied on. A formula that begins with an
    /// assumed figure, such as the largest memory of a design, gives no known ceiling.
    pub fn reliance(&self) -> Reliance {
        let first = self.inputs.first().map(|i| i.source);
        match first {
            _ if self.id == crate::ceiling_id::NETWORK_LOOPBACK => Reliance::Shared,
            _ if self.is_rough() => Reliance::Rough,
            Some(Provenance::Assumed) => Reliance::Assumed,
            _ => Reliance::Known,
        }
    }

    /// Returns true if the uncertainty is so large that shares of this ceiling need a note.
    pub fn is_rough(&self) -> bool {
        self.uncertainty >= ROUGH
    }

    /// Returns true if the uncertainty is so large that a share of this ceiling shows nothing.
    pub fn is_vague(&self) -> bool {
        self.uncertainty >= VAGUE
    }
}
