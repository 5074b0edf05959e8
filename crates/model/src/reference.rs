//! A reference tool's runs, in pairs with trials of proofmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, FigureKind, Finding, Params, Statistics, Trial, Verdict};

/// What the figure that a tool prints is, of all that it did in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Printed {
    /// All its work over all its time.
    #[default]
    Mean,
    /// The rate of its best repetition.
    Best,
    /// The rate of the one complete problem that a run solves.
    Problem,
}

impl Printed {
    /// In words: `its mean over time`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Mean => "its mean over time",
            Self::Best => "its best repetition",
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
    /// The figure of both sides that the pairs compare: attainable, of a trial's best round and of
    /// the tool's best repetition, or delivered, of all work over all time.
    #[serde(default)]
    pub compared: FigureKind,
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
    /// The figure of each of proofmark's trials of the pairs that is compared.
    pub fn paired_values(&self, better: Better) -> Vec<f64> {
        self.paired.iter().filter_map(|t| compared(t, self.compared, better)).collect()
    }
}

/// The figure that both sides of all pairs have: the best where the tool prints its best and each
/// of these trials has one, otherwise what was delivered, so that no best is compared with a mean.
pub fn comparable_figure<'t>(
    printed: Printed,
    better: Better,
    trials: impl IntoIterator<Item = &'t Trial>,
) -> FigureKind {
    let has_best = |t: &Trial| compared(t, FigureKind::Attainable, better).is_some();
    match printed == Printed::Best && trials.into_iter().all(has_best) {
        true => FigureKind::Attainable,
        false => FigureKind::Delivered,
    }
}

/// That figure of one trial of either side.
pub fn compared(trial: &Trial, figure: FigureKind, better: Better) -> Option<f64> {
    if figure != FigureKind::Attainable {
        return Some(trial.value);
    }
    let best = trial.rounds.iter().filter_map(|round| round.attainable);
    match better {
        Better::Higher => best.reduce(f64::max),
        Better::Lower => best.reduce(f64::min),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Round;

    fn cut(value: f64, best: &[Option<f64>]) -> Trial {
        let round =
            |attainable: &Option<f64>| Round { attainable: *attainable, ..Round::default() };
        Trial { value, rounds: best.iter().map(round).collect(), ..Trial::default() }
    }

    #[test]
    fn a_best_is_compared_with_a_best_and_else_means_are() {
        let (best, none) = (cut(5.0, &[Some(7.0), None, Some(9.0)]), cut(5.0, &[None]));
        let figure = |printed, all: &[&Trial]| {
            comparable_figure(printed, Better::Higher, all.iter().copied())
        };
        assert_eq!(figure(Printed::Best, &[&best, &best]), FigureKind::Attainable);
        assert_eq!(figure(Printed::Best, &[&best, &none]), FigureKind::Delivered);
        assert_eq!(figure(Printed::Mean, &[&best, &best]), FigureKind::Delivered);
        assert_eq!(figure(Printed::Problem, &[&best]), FigureKind::Delivered);
        let of = |kind, better| compared(&best, kind, better);
        assert_eq!(of(FigureKind::Attainable, Better::Higher), Some(9.0));
        assert_eq!(of(FigureKind::Attainable, Better::Lower), Some(7.0), "the shortest time");
        assert_eq!(of(FigureKind::Delivered, Better::Higher), Some(5.0));
    }
}
