//! The declaration of a workload. Help, `list`, `explain` and the report's explanations all derive
//! from it.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Key, Param, Params, Role, Subsystem, Work, exact_size};

/// Base unit of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Floating-point operations per second.
    #[serde(rename = "FLOP/s")]
    FlopPerSecond,
    /// Operations per second.
    #[serde(rename = "op/s")]
    OpPerSecond,
    /// Cycles per second.
    #[serde(rename = "Hz")]
    Hertz,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytePerSecond,
    /// Bits per second.
    #[serde(rename = "bit/s")]
    BitPerSecond,
    /// Seconds.
    #[serde(rename = "s")]
    Second,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 6] = [
        Self::FlopPerSecond,
        Self::OpPerSecond,
        Self::Hertz,
        Self::BytePerSecond,
        Self::BitPerSecond,
        Self::Second,
    ];

    /// Returns the value of so much work in so many seconds: a rate. For a time it is the mean
    /// duration of one operation that waited for the one before it.
    pub fn value(self, work: f64, seconds: f64) -> f64 {
        match self {
            Self::Second => seconds / work,
            _ => work / seconds,
        }
    }

    /// Returns a value as a rate: for a time, its inverse.
    pub fn rate(self, value: f64) -> f64 {
        self.value(value, 1.0)
    }

    /// Returns the symbol, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FlopPerSecond => "FLOP/s",
            Self::OpPerSecond => "op/s",
            Self::Hertz => "Hz",
            Self::BytePerSecond => "B/s",
            Self::BitPerSecond => "bit/s",
            Self::Second => "s",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The better direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Better {
    /// Returns the word, as in JSON: `higher` or `lower`, followed by `is better`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

/// The type and range of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    /// A whole number from `min` to `max`.
    Count {
        /// Minimum value.
        min: u64,
        /// Maximum value.
        max: u64,
    },
    /// A size in bytes from `min` to `max`.
    Size {
        /// Minimum value in bytes.
        min: u64,
        /// Maximum value in bytes.
        max: u64,
    },
    /// One of these words.
    Choice(Cow<'static, [Cow<'static, str>]>),
}

/// One parameter of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Name, as in `params` and `--set WORKLOAD.NAME=VALUE`.
    pub name: Cow<'static, str>,
    /// Description in one sentence.
    pub about: Cow<'static, str>,
    /// Type and range.
    pub kind: ParameterKind,
    /// Default, as typed; [`AUTO`] where proofmark chooses the value for the machine.
    pub default: Cow<'static, str>,
}

/// The word to type for a parameter that the workload sets for its machine.
pub const AUTO: &str = "auto";

/// A workload's declaration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSpec {
    /// Id, such as `cpu.flops`.
    pub id: Cow<'static, str>,
    /// Title of its table, such as `Floating-point peak`.
    pub title: Cow<'static, str>,
    /// Purpose in one sentence.
    pub summary: Cow<'static, str>,
    /// Description in a paragraph: code, counted work, verification.
    pub detail: Cow<'static, str>,
    /// Version of the method, raised when its figures are no longer comparable with older ones.
    pub method: u32,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Base unit of the value.
    pub unit: Unit,
    /// The better direction.
    pub better: Better,
    /// Parameters, in the order of a table's columns.
    pub parameters: Cow<'static, [Parameter]>,
    /// Parameter on the horizontal axis of a chart; null: the threads.
    #[serde(default)]
    pub axis: Option<Cow<'static, str>>,
    /// Ids of the ceilings that apply, tightest first.
    pub ceilings: Cow<'static, [Cow<'static, str>]>,
    /// True where set-up is so cheap that trials of many configurations alternate.
    pub interleave: bool,
    /// Execution and data.
    pub work: Work,
    /// The uses of its figures.
    pub role: Role,
}

impl WorkloadSpec {
    /// Returns true if it has the parameter.
    pub fn has<T>(&self, key: Key<T>) -> bool {
        self.parameter(key.name()).is_some()
    }

    /// Returns the parameter of that name, which comes from a file or a user.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|k| k.name == name)
    }

    /// Describes a configuration in words that `--set` takes: `memory.latency order=rand
    /// working_set=256MiB`.
    pub fn describe(&self, params: &Params) -> String {
        let is_size = |name: &str| {
            matches!(self.parameter(name).map(|p| &p.kind), Some(ParameterKind::Size { .. }))
        };
        let mut text = self.id.to_string();
        for (name, value) in &params.0 {
            match value {
                Param::Int(bytes) if is_size(name) => {
                    text += &format!(" {name}={}", exact_size(*bytes));
                }
                value => text += &format!(" {name}={value}"),
            }
        }
        text
    }

    /// Combines these parameters with every combination of the parameters that are a choice.
    pub fn choices(&self, from: Params) -> Vec<Params> {
        let mut all = vec![from];
        for parameter in self.parameters.iter() {
            if let ParameterKind::Choice(words) = &parameter.kind {
                let with = |p: &Params, word: &str| p.clone().with_named(&parameter.name, word);
                all = all.iter().flat_map(|p| words.iter().map(|w| with(p, w))).collect();
            }
        }
        all
    }
}
