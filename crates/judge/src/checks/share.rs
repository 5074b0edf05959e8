//! Share of the trials' resources that a disturbance took.
//!
//! A headline of windows is a median, which up to half of the trials cannot move far. So the worst
//! tenth of five or more trials is left out; `Weight::counted` keeps them for a delivered headline,
//! to which each trial adds. A remaining share above the threshold makes the result
//! suspect; one that is above it only with the worst trials is a note. Amounts are summed before
//! they are divided: the kernel counts some in ticks of 10 ms, which are coarse for one trial and
//! exact for many.

use proofmark_model::{Finding, Severity, Trial};

/// The sentence about [`LEFT_OUT`] in the text of a check, as a literal.
macro_rules! worst_tenth {
    () => {
        "The worst tenth of the trials is left out, unless the figure is delivered, of which all count."
    };
}
pub(super) use worst_tenth;

/// Fewest trials of which some are left out.
const LEAST_TRIALS: usize = 5;
/// One in this many trials, the worst, is left out.
const LEFT_OUT: usize = 10;

/// A disturbance over all trials that report it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// Sum of the amounts over sum of the bases, all trials.
    pub(super) all: f64,
    /// The same without the worst tenth of the trials.
    pub(super) usual: f64,
    pub(super) amount: f64,
    /// Trials that report it.
    pub(super) trials: usize,
    /// Trials with any of it.
    pub(super) affected: usize,
}

impl Share {
    /// Sums an amount over a base in each trial; `None` if no trial reports it, or the bases are 0.
    pub(super) fn sum(
        trials: &[Trial],
        amount: impl Fn(&Trial) -> Option<f64>,
        base: impl Fn(&Trial) -> f64,
    ) -> Option<Self> {
        let usable = |v: &f64| v.is_finite() && *v >= 0.0;
        let mut pairs: Vec<(f64, f64)> = trials
            .iter()
            .filter_map(|t| Some((amount(t).filter(usable)?, Some(base(t)).filter(usable)?)))
            .filter(|(_, b)| *b > 0.0)
            .collect();
        pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        let affected = pairs.iter().filter(|(a, _)| *a > 0.0).count();
        let n = pairs.len();
        let drop = if n >= LEAST_TRIALS { n.div_ceil(LEFT_OUT) } else { 0 };
        let (all, amount) = ratio(&pairs)?;
        let (usual, _) = ratio(pairs.get(..n - drop)?)?;
        Some(Self { all, usual, amount, trials: n, affected })
    }

    /// The share multiplied by the cost of each part.
    pub(super) fn times(self, cost: f64) -> Self {
        Self { all: cost * self.all, usual: cost * self.usual, ..self }
    }

    /// The share, but no more than `most`.
    pub(super) fn at_most(self, most: f64) -> Self {
        let kept = if self.all > most { most / self.all } else { 1.0 };
        let (all, usual) = (self.all.min(most), self.usual.min(most));
        Self { all, usual, amount: kept * self.amount, ..self }
    }

    /// The finding with the figures of this share; `amount` names the amount and its unit.
    pub(super) fn add_to(&self, finding: Finding, amount: &str) -> Finding {
        finding
            .with(amount, self.amount)
            .with("share", self.all)
            .with("share_without_worst_tenth", self.usual)
            .with("trials_affected", self.affected)
            .with("trials", self.trials)
    }

    /// Returns suspect if the usual trials are above the threshold, a note if only the worst are.
    pub(super) fn severity(&self, threshold: f64) -> Option<Severity> {
        if self.usual > threshold {
            Some(Severity::Suspect)
        } else if self.all > threshold {
            Some(Severity::Note)
        } else {
            None
        }
    }
}

fn ratio(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let amount: f64 = pairs.iter().map(|p| p.0).sum();
    let base: f64 = pairs.iter().map(|p| p.1).sum();
    let share = amount / base;
    (share.is_finite() && amount.is_finite()).then_some((share, amount))
}
