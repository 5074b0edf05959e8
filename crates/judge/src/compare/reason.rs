//! What is said of a point: of one figure, or of the headline and the delivered one together.

use proofmark_model::{Better, Comparability, ComparedFigure, FigureKind, format_percent};

/// What one figure of a point says.
pub(super) struct Said {
    pub(super) kind: FigureKind,
    pub(super) better: Better,
    pub(super) figure: ComparedFigure,
    /// The cause of a difference, or why none is shown.
    pub(super) why: String,
}

impl Said {
    fn moved(&self) -> bool {
        self.figure.outcome.differs()
    }

    /// `attainable`; of a time `attainable latency`, since lower is better there.
    fn name(&self) -> &'static str {
        match (self.better, self.kind) {
            (Better::Higher, kind) => kind.as_str(),
            (Better::Lower, FigureKind::Attainable) => "attainable latency",
            (Better::Lower, FigureKind::Typical) => "typical latency",
            (Better::Lower, FigureKind::Delivered) => "delivered latency",
        }
    }

    /// `attainable is 40.0 % lower`, `delivered latency is 62.0 % lower (better)`.
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

    /// Whether the other figure changed as much, as far as its margin tells.
    fn alike(&self, other: &Self) -> bool {
        let apart = (self.figure.value / other.figure.value).ln().abs();
        self.figure.outcome == other.figure.outcome
            && apart <= -(1.0 - self.figure.margin.max(other.figure.margin)).ln()
    }
}

/// Why, in a sentence that says which of the two figures changed: the headline is the machine, and
/// delivered the run's share of it.
pub(super) fn both(headline: &Said, delivered: Option<&Said>) -> String {
    let why = &headline.why;
    let Some(d) = delivered else { return why.clone() };
    let kind = headline.name();
    match (headline.moved(), d.moved()) {
        (false, false) => why.clone(),
        (false, true) if headline.figure.outcome == Comparability::NoDifferenceShown => {
            format!("{kind}: no difference shown; {}: {}", d.change(), d.why)
        }
        (false, true) => format!("{kind}: {why}; {}: {}", d.change(), d.why),
        (true, false) => {
            let (name, outcome) = (d.name(), d.figure.outcome.as_str());
            format!("{} (the machine): {why}; {name}: {outcome}", headline.change())
        }
        (true, true) if headline.alike(d) => {
            format!("{} (the machine), and delivered with it: {why}", headline.change())
        }
        (true, true) => {
            format!("{} (the machine): {why}; {}: {}", headline.change(), d.change(), d.why)
        }
    }
}
