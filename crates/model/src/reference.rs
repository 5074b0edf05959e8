//! A reference tool's runs, in pairs with trials of proofmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::raw::ratios_of_pairs;
use crate::{Finding, Params, Statistics, Trial, Verdict, contradicts, median};

/// The meaning of a tool's figure in the pairs.
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
    /// Returns the words: `its mean over time`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Mean => "its mean over time",
            Self::Problem => "its one complete problem",
        }
    }
}

/// The first of the two in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum First {
    /// proofmark's trial.
    Proofmark,
    /// The tool's run.
    Tool,
}

impl First {
    /// Returns the word that reports print.
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
    /// The 95 % interval; null for fewer than 6 pairs.
    pub ci95: Option<[f64; 2]>,
}

/// A reference tool, run in pairs with the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// Tool name.
    pub tool: String,
    /// Version of the tool.
    pub version: String,
    /// The command line.
    pub command: String,
    /// Median of the tool's figures, in the measurement's unit.
    pub value: f64,
    /// The tool's figure of each pair, in order.
    pub trials: Vec<f64>,
    /// proofmark's trials of the pairs, each by a worker started for it. They are no trials of the
    /// measurement.
    #[serde(default)]
    pub paired: Vec<Trial>,
    /// The first of the two, by pair.
    #[serde(default)]
    pub first: Vec<First>,
    /// The meaning of the tool's figure.
    #[serde(default)]
    pub printed: Printed,
    /// The ratio proofmark / tool.
    pub ratio: Ratio,
    /// Statistics over the tool's trials.
    #[serde(default)]
    pub summary: Option<Statistics>,
    /// The work that the tool's figure counts, where that may differ from ours.
    #[serde(default)]
    pub counts: String,
    /// Parameters of the tool's runs, as far as its output reports them, by the names of our
    /// parameters.
    #[serde(default)]
    pub params: Params,
    /// The tool's trials with the reports of its output and of this machine's counters.
    #[serde(default)]
    pub evidence: Vec<Trial>,
    /// The tool's median / our ceiling, inverted where less is better.
    #[serde(default)]
    pub efficiency: Option<f64>,
    /// Findings of the checks about the tool's runs.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Disturbances of proofmark's trials of the pairs, by the checks that judge a tool's.
    #[serde(default)]
    pub paired_findings: Vec<Finding>,
    /// The verdict that follows from the tool's findings and from what disturbed the pairs.
    #[serde(default)]
    pub verdict: Verdict,
}

/// Share by which two sides of few pairs may differ and count as equal.
const SAME: f64 = 0.02;

impl Reference {
    /// Returns the delivered values of proofmark's trials of the pairs.
    pub fn paired_values(&self) -> Vec<f64> {
        self.paired.iter().map(|t| t.value).collect()
    }

    /// Returns the median of proofmark's trials of the pairs, which is its side of the comparison,
    /// in the measurement's unit. `None` where no pair was recorded.
    pub fn paired_median(&self) -> Option<f64> {
        median(&self.paired_values())
    }

    /// Returns proofmark / tool of the two medians that reports show; where no pair was recorded,
    /// the median of the pairs' ratios.
    pub fn shown_ratio(&self) -> f64 {
        self.ratio_of_medians().unwrap_or(self.ratio.median)
    }

    fn ratio_of_medians(&self) -> Option<f64> {
        let ratio = self.paired_median()? / self.value;
        Some(ratio).filter(|r| r.is_finite() && *r > 0.0)
    }

    /// Returns true if the ratio of the two medians contradicts the pairs, so that neither decides.
    /// It lies outside the interval of their ratios or, for few pairs, outside all of them or on the
    /// other side of 1 than their median.
    pub fn is_undecided(&self) -> bool {
        let Some(ratio) = self.ratio_of_medians() else { return false };
        let ends = self.ratio.ci95.or_else(|| self.ends_of_pairs());
        let is_outside = ends.is_some_and(|ends| contradicts(ratio, ends));
        let side = |r: f64| match r {
            r if r > 1.0 + SAME => 1,
            r if r < 1.0 / (1.0 + SAME) => -1,
            _ => 0,
        };
        let names_another = side(ratio) * side(self.ratio.median) < 0;
        is_outside || self.ratio.ci95.is_none() && names_another
    }

    /// Returns the minimum and the maximum ratio of a pair.
    fn ends_of_pairs(&self) -> Option<[f64; 2]> {
        let mut ratios = ratios_of_pairs(&self.paired, &self.trials);
        ratios.retain(|r| r.is_finite());
        let least = ratios.iter().copied().reduce(f64::min)?;
        Some([least, ratios.iter().copied().fold(least, f64::max)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of proofmark and a tool.
    pub(crate) fn reference(pairs: &[[f64; 2]], ci95: Option<[f64; 2]>) -> Reference {
        let theirs: Vec<f64> = pairs.iter().map(|p| p[1]).collect();
        let ratios: Vec<f64> = pairs.iter().map(|p| p[0] / p[1]).collect();
        let trial = |p: &[f64; 2]| Trial { value: p[0], ..Trial::default() };
        Reference {
            tool: "tool".into(),
            version: String::new(),
            command: String::new(),
            value: median(&theirs).unwrap_or(f64::NAN),
            trials: theirs,
            paired: pairs.iter().map(trial).collect(),
            first: Vec::new(),
            printed: Printed::Mean,
            ratio: Ratio { median: median(&ratios).unwrap_or(f64::NAN), ci95 },
            summary: None,
            counts: String::new(),
            params: Params::default(),
            evidence: Vec::new(),
            efficiency: None,
            findings: Vec::new(),
            paired_findings: Vec::new(),
            verdict: Verdict::Valid,
        }
    }

    #[test]
    fn the_ratio_is_that_of_the_medians_and_undecided_where_the_pairs_contradict_it() {
        // Both drift, each pair shows 1.5.
        let steady = reference(&[[3.0, 2.0], [6.0, 4.0], [9.0, 6.0]], None);
        assert_eq!((steady.shown_ratio(), steady.is_undecided()), (1.5, false));
        // Medians of 4 and 8; in pairs 2, 4 and 0.1.
        let torn = reference(&[[4.0, 2.0], [32.0, 8.0], [1.0, 10.0]], None);
        assert_eq!((torn.shown_ratio(), torn.ratio.median, torn.is_undecided()), (0.5, 2.0, true));
        let torn = reference(&[[4.0, 2.0], [32.0, 8.0], [1.0, 10.0]], Some([1.0, 4.0]));
        assert!(torn.is_undecided());
        // 1.01 and 0.99 say the same.
        let equal = reference(&[[1.0, 1.01], [1.02, 1.0], [1.0, 1.03]], None);
        assert!(!equal.is_undecided(), "{}", equal.shown_ratio());
        let few = reference(&[[2.0, 1.0], [30.0, 20.0], [100.0, 10.0], [1000.0, 500.0]], None);
        assert_eq!((few.shown_ratio(), few.is_undecided()), (65.0 / 15.0, false));
        let none = reference(&[], Some([1.0, 2.0]));
        assert!(none.shown_ratio().is_nan() && !none.is_undecided());
    }
}
