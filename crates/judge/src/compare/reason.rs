//! What is said of a point: of one figure, or of the headline and the delivered one together.

use proofmark_model::{Comparability, ComparedFigure, FigureKind};

/// What one figure of a point says.
pub(super) struct Said {
    pub(super) kind: FigureKind,
    pub(super) figure: ComparedFigure,
    /// The cause of a difference, or why none is shown.
    pub(super) why: String,
}

impl Said {
    fn moved(&self) -> bool {
        self.figure.outcome.differs()
    }

    /// `attainable is 40 % lower`.
    fn change(&self) -> String {
        let (percent, word) = match self.figure.ratio.median {
            r if r < 1.0 => ((1.0 - r) * 100.0, "lower"),
            r => ((r - 1.0) * 100.0, "higher"),
        };
        format!("{} is {percent:.0} % {word}", self.kind.as_str())
    }

    /// Whether the other figure changed as much, as far as its margin tells.
    fn alike(&self, other: &Self) -> bool {
        let apart = (self.figure.ratio.median / other.figure.ratio.median).ln().abs();
        self.figure.outcome == other.figure.outcome
            && apart <= -(1.0 - self.figure.margin.max(other.figure.margin)).ln()
    }
}

/// Why, in a sentence that says which of the two figures changed: the headline is the machine, and
/// delivered the run's share of it.
pub(super) fn both(headline: &Said, delivered: Option<&Said>) -> String {
    let why = &headline.why;
    let Some(d) = delivered else { return why.clone() };
    let kind = headline.kind.as_str();
    match (headline.moved(), d.moved()) {
        (false, false) => why.clone(),
        (false, true) if headline.figure.outcome == Comparability::NoDifferenceShown => {
            format!("{kind}: no difference shown; {}: {}", d.change(), d.why)
        }
        (false, true) => format!("{kind}: {why}; {}: {}", d.change(), d.why),
        (true, false) => {
            let delivered = d.figure.outcome.as_str();
            format!("{} (the machine): {why}; delivered: {delivered}", headline.change())
        }
        (true, true) if headline.alike(d) => {
            format!("{} (the machine), and delivered with it: {why}", headline.change())
        }
        (true, true) => {
            format!("{} (the machine): {why}; {}: {}", headline.change(), d.change(), d.why)
        }
    }
}
