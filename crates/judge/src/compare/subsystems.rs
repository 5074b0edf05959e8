//! The outcomes of each subsystem, counted, with its margin and smallest detectable slowdown.

use proofmark_model::{
    Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem, Subsystem, median,
};

/// Returns the counts of each subsystem with results.
pub(super) fn all(points: &[ComparedPoint]) -> Vec<ComparedSubsystem> {
    let summarise = |subsystem: Subsystem| {
        let some: Vec<&ComparedPoint> =
            points.iter().filter(|p| p.subsystem == subsystem).collect();
        let count = |outcome| some.iter().filter(|p| p.change() == outcome).count() as u64;
        (!some.is_empty()).then(|| ComparedSubsystem {
            subsystem,
            margin: least_margin(&some),
            resolution: resolution(&some, |p| p.headline.as_ref()),
            delivered_resolution: resolution(&some, |p| p.delivered.as_ref()),
            faster: count(Comparability::Faster),
            slower: count(Comparability::Slower),
            no_difference_shown: count(Comparability::NoDifferenceShown),
            undecided: count(Comparability::Undecided),
            not_comparable: some.iter().filter(|p| p.not_comparable()).count() as u64,
            not_measured: some.iter().filter(|p| p.is_left_out()).count() as u64,
            gone: some.iter().filter(|p| p.gone()).count() as u64,
        })
    };
    Subsystem::KNOWN.iter().copied().filter_map(summarise).collect()
}

/// The smallest margin of the results; 0 where none was compared.
fn least_margin(points: &[&ComparedPoint]) -> f64 {
    let figures = points.iter().flat_map(|p| p.headline.iter().chain(&p.delivered));
    figures.map(|f| f.margin).reduce(f64::min).unwrap_or(0.0)
}

/// The median smallest detectable slowdown of one of the figures, over the results that were judged
/// by both.
fn resolution(
    points: &[&ComparedPoint],
    figure: fn(&ComparedPoint) -> Option<&ComparedFigure>,
) -> Option<f64> {
    let judged = points.iter().filter(|p| p.judged());
    median(&judged.filter_map(|p| figure(p)?.resolution).collect::<Vec<_>>())
}
