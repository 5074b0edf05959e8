//! Which figures nodes are judged by, and which are shown only.

use proofmark_model::FleetFigure;

use super::rule::{FEWEST_NODES, LIMIT, Ruled};
use super::words::{others, percent};

/// How nodes are judged by a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judging {
    /// A node that is not slow is level.
    ByMargin,
    /// A node that is not slow shows nothing, nor has it to: the figure is not required, or another
    /// figure of the same result is judged.
    Shown,
    /// It is required, and no figure of its result has a margin within [`LIMIT`].
    TooUneven,
}

/// How nodes are judged by each figure: the number of its result, whether it is required, and what
/// the rule says of it.
pub(super) fn all(figures: &[(u32, bool, Ruled)]) -> Vec<Judging> {
    let judged = |(_, required, ruled): &(u32, bool, Ruled)| *required && within(ruled.margin);
    let of = |figure: &(u32, bool, Ruled)| {
        let other = |other: &(u32, bool, Ruled)| other.0 == figure.0 && judged(other);
        match figure {
            figure if judged(figure) => Judging::ByMargin,
            (_, false, _) => Judging::Shown,
            _ if figures.iter().any(other) => Judging::Shown,
            _ => Judging::TooUneven,
        }
    };
    figures.iter().map(of).collect()
}

fn within(margin: Option<f64>) -> bool {
    margin.is_some_and(|margin| margin <= LIMIT)
}

/// Why no node of a group is shown healthy, whatever it measured: the required results that are not
/// judged by any figure.
pub(super) fn sentences(figures: &[FleetFigure]) -> Vec<String> {
    let same =
        |a: &FleetFigure, b: &FleetFigure| (&a.workload, &a.params) == (&b.workload, &b.params);
    let required = figures.iter().filter(|f| f.required);
    let open: Vec<&FleetFigure> =
        required.filter(|f| !figures.iter().any(|o| o.judged && same(o, f))).collect();
    // The narrower margin of a result counts.
    let margin = |f: &FleetFigure| {
        let kinds = open.iter().filter(|o| same(o, f)).filter_map(|o| o.margin);
        kinds.min_by(f64::total_cmp)
    };
    let (wide, none): (Vec<&FleetFigure>, Vec<_>) =
        open.iter().copied().partition(|f| margin(f).is_some());
    let widest = wide
        .iter()
        .copied()
        .max_by(|a, b| margin(a).partial_cmp(&margin(b)).unwrap_or(std::cmp::Ordering::Equal));
    let uneven = widest.and_then(|f| {
        let margin = percent(margin(f)?);
        let title = &f.title;
        Some(match others(wide.iter().copied(), f) {
            None => format!("{title} differs too much between nodes to judge: margin {margin}"),
            Some(more) => format!(
                "{title} and {more} differ too much between nodes to judge: margins up to {margin}"
            ),
        })
    });
    let few = none.first().map(|f| {
        let more = others(none.iter().copied(), f);
        let more = more.map_or_else(String::new, |more| format!(" and {more}"));
        format!(
            "fewer than {FEWEST_NODES} nodes have enough rounds at {}{more} to judge it",
            f.title
        )
    });
    uneven.into_iter().chain(few).collect()
}
