//! The reason in a compared result: for one figure, or for the headline and the delivered one
//! together.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedRuns, FigureKind, Leaning, Margin, Measurement,
    counted, format_factor, format_percent, margin_bounds,
};

use super::comparable::Figured;
use super::rank::RatioEstimate;

/// A judged figure of a result.
pub(super) struct JudgedFigure {
    pub(super) kind: FigureKind,
    pub(super) better: Better,
    pub(super) figure: ComparedFigure,
    /// The interval of the pairs, or the range of too few.
    pub(super) ends: Option<[f64; 2]>,
    /// The cause of a difference, or the reason why none is shown.
    pub(super) why: String,
    /// True if a hypervisor's choice, or that of other CPUs, may be the cause of a difference.
    pub(super) by_placement: bool,
    /// The checks that found what others did, if that alone made B slower.
    pub(super) disturbances: Vec<String>,
}

impl JudgedFigure {
    fn differs(&self) -> bool {
        self.figure.outcome.differs()
    }

    /// Returns true if B is perhaps slower or faster by it.
    fn leans(&self) -> bool {
        matches!(self.figure.leaning(self.better), Some(Leaning::Perhaps(_)))
    }

    fn name(&self) -> &'static str {
        self.kind.name(self.better)
    }

    /// The change in words: `attainable is 40.0 % lower`,
    /// `delivered latency is 62.0 % lower (better)`.
    fn change(&self) -> String {
        let (share, word) = match self.figure.value {
            r if r < 1.0 => (1.0 - r, "lower"),
            r => (r - 1.0, "higher"),
        };
        let good = match (self.better, word) {
            (Better::Higher, _) => "",
            (Better::Lower, "lower") => " (better)",
            (Better::Lower, _) => " (worse)",
        };
        format!("{} is {} {word}{good}", self.name(), format_percent(share))
    }

    /// Returns true if the other figure changed by as much, within the margins.
    fn changed_like(&self, other: &Self) -> bool {
        let apart = (self.figure.value / other.figure.value).ln().abs();
        self.figure.outcome == other.figure.outcome
            && apart <= -(1.0 - self.figure.margin.max(other.figure.margin)).ln()
    }
}

/// The checks whose disturbances alone made B slower; empty if one of the slower figures has another
/// cause.
pub(super) fn disturbances(
    headline: &JudgedFigure,
    delivered: Option<&JudgedFigure>,
) -> Vec<String> {
    let figures = [Some(headline), delivered].into_iter().flatten();
    let slower: Vec<_> = figures
        .filter(|f| f.figure.outcome == Comparability::Slower)
        .map(|f| &f.disturbances)
        .collect();
    if slower.iter().any(|of_figure| of_figure.is_empty()) {
        return Vec::new();
    }
    let all: BTreeSet<&String> = slower.into_iter().flatten().collect();
    all.into_iter().cloned().collect()
}

/// The reason, with the figure that changed: the headline is that of the machine, unless its
/// hypervisor may place it otherwise the next time, or it ran on other CPUs; delivered is the run's share of it.
pub(super) fn both(headline: &JudgedFigure, delivered: Option<&JudgedFigure>) -> String {
    let why = &headline.why;
    let Some(d) = delivered else { return why.clone() };
    let kind = headline.name();
    let change = headline.change();
    let of_machine = if headline.by_placement { change } else { format!("{change} (the machine)") };
    match (headline.differs(), d.differs()) {
        (false, false) if d.leans() && !headline.leans() => {
            format!("{kind}: {why}; {}: {}", d.name(), d.why)
        }
        (false, false) if d.figure.outcome == Comparability::NoDifferenceShown => why.clone(),
        (false, false) => match headline.figure.outcome {
            Comparability::NoDifferenceShown => {
                format!("{kind}: no difference shown; {}: {}", d.name(), d.why)
            }
            _ => format!("{kind}: {why}; {}: {}", d.name(), d.why),
        },
        (false, true) if headline.figure.outcome == Comparability::NoDifferenceShown => {
            format!("{kind}: no difference shown; {}: {}", d.change(), d.why)
        }
        (false, true) => format!("{kind}: {why}; {}: {}", d.change(), d.why),
        (true, false) => {
            let says = match d.figure.outcome {
                Comparability::Undecided | Comparability::NotComparable => &*d.why,
                outcome => outcome.as_str(),
            };
            format!("{of_machine}: {why}; {}: {says}", d.name())
        }
        (true, true) if headline.changed_like(d) => {
            format!("{of_machine}, and delivered with it: {why}")
        }
        // A faster machine of which less was delivered is slower.
        (true, true)
            if [headline, d].map(|one| one.figure.outcome)
                == [Comparability::Faster, Comparability::Slower] =>
        {
            format!("{}: {}; {of_machine}: {why}", d.change(), d.why)
        }
        (true, true) => {
            format!("{of_machine}: {why}; {}: {}", d.change(), d.why)
        }
    }
}

/// The reason why the comparison is undecided: the two ratios.
pub(super) fn undecided(a: &Measurement, figure: &Figured, [low, high]: [f64; 2]) -> String {
    let [value, pairs, low, high] =
        [figure.value, figure.estimate.ratio.median, low, high].map(format_factor);
    let what = if a.has_rounds() { "rounds" } else { "trials" };
    format!(
        "the ratio of the figures is {value}, but the median ratio over all pairs of {what} {pairs} \
         ({low} to {high})"
    )
}

/// The reason why a result is not compared of which others took that share in both runs.
pub(super) fn both_disturbed(taken: f64) -> String {
    format!(
        "both were disturbed: other programs took at least {} of the CPU time of either, \
         enough to hide a factor of {}",
        format_percent(taken),
        format_factor(margin_bounds(taken)[1])
    )
}

/// The reason why so few runs decide nothing.
pub(super) fn too_few_runs(runs: Option<&ComparedRuns>, ends: [f64; 2]) -> String {
    let ([a, b], [low, high]) = (runs.map_or([0; 2], |runs| runs.runs), ends.map(format_factor));
    format!(
        "{a} against {} without a history are too few: the interval of the ratio is {low} to {high}",
        counted(b, "run")
    )
}

/// The runs that would show a difference, behind a reason; empty where none is to be shown.
pub(super) fn needed(runs: Option<&ComparedRuns>) -> String {
    let needed = runs.and_then(ComparedRuns::needed);
    needed.map_or_else(String::new, |needed| format!("; {needed}"))
}

/// The reason why no difference is shown. So few trials that they have no interval have a range.
pub(super) fn within(
    better: Better,
    estimate: &RatioEstimate,
    [low, high]: [f64; 2],
    margin: Margin,
) -> String {
    if estimate.ratio.ci95.is_some() {
        let leaning = Leaning::read(better, estimate.ratio.ci95, margin.share);
        return leaning.why(better, margin);
    }
    let why = match low <= 1.0 && 1.0 <= high {
        true => "contains 1",
        false => "reaches into the margin",
    };
    format!("the range of so few trials {why} (margin {})", format_percent(margin.share))
}
