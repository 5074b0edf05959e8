//! A reference tool's runs, in pairs with trials of proofmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Params, Statistics, Trial, Verdict};

/// What the figure of a tool is that the pairs compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Printed {
    /// All its work over all its time.
    #[default]
    Mean,
    /// The rate of the one complete problem that a run solves.
    Problem,
}

impl Printed {
    /// In words: `its mean over time`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Mean => "its mean over time",
            Self::Problem => "its one complete problem",
        }
    }
}

/// Which of the two ran first in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum First {
    /// proofmark's trial.
    Proofmark,
    /// The tool's run.
    Tool,
}

impl First {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proofmark => "proofmark",
            Self::Tool => "tool",
        }
    }
}

/// A ratio taken pair by pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// Median of the pairs' ratios, proofmark / tool.
    pub median: f64,
    /// Its 95 % interval; null for fewer than 6 pairs.
    pub ci95: Option<[f64; 2]>,
}

/// The tool that people already trust, run in pairs with the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// Tool name.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The command line.
    pub command: String,
    /// Its median, in the measurement's unit.
    pub value: f64,
    /// Its figure of each pair, in order.
    pub trials: Vec<f64>,
    /// proofmark's trials of the pairs, each by a worker made for it. They are no trials of the
    /// measurement.
    #[serde(default)]
    pub paired: Vec<Trial>,
    /// Which of the two ran first, by pair.
    #[serde(default)]
    pub first: Vec<First>,
    /// What the tool prints.
    #[serde(default)]
    pub printed: Printed,
    /// proofmark / tool.
    pub ratio: Ratio,
    /// Statistics over its trials.
    #[serde(default)]
    pub summary: Option<Statistics>,
    /// What its figure counts, where that may differ from ours.
    #[serde(default)]
    pub counts: String,
    /// How it ran, as far as its output reports it, by the names of our parameters.
    #[serde(default)]
    pub params: Params,
    /// Its trials with what its output and this machine's counters report of them.
    #[serde(default)]
    pub evidence: Vec<Trial>,
    /// Its median / our ceiling, the other way round where less is better.
    #[serde(default)]
    pub efficiency: Option<f64>,
    /// What the checks found in it.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What disturbed proofmark's trials of the pairs, by the checks that judge a tool's.
    #[serde(default)]
    pub paired_findings: Vec<Finding>,
    /// What the tool's findings add up to.
    #[serde(default)]
    pub verdict: Verdict,
}

impl Reference {
    /// What each of proofmark's trials of the pairs delivered.
    pub fn paired_values(&self) -> Vec<f64> {
        self.paired.iter().map(|t| t.value).collect()
    }
}
