//! Sums of the compared results of each subsystem.

use proofmark_model::{
    Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem, Ratio, Subsystem, median,
    median_interval,
};

use super::all_cpus::of_whole_machines;
use super::speed;

/// One sum for each subsystem with results. Results of one subsystem share workloads and hardware,
/// so the interval is over these results and does not extend to others.
pub(super) fn all(points: &[ComparedPoint]) -> Vec<ComparedSubsystem> {
    let summarise = |subsystem: Subsystem| {
        let some: Vec<&ComparedPoint> =
            points.iter().filter(|p| p.subsystem == subsystem).collect();
        let (whole, _) = of_whole_machines(some.clone());
        let count = |outcome| some.iter().filter(|p| p.change() == outcome).count() as u64;
        (!some.is_empty()).then(|| ComparedSubsystem {
            subsystem,
            speed: middle(&whole, |p| p.headline.as_ref()),
            delivered_speed: delivered(&whole),
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

/// The median speed by what was delivered; `None` where no headline has another figure beside it.
fn delivered(points: &[&ComparedPoint]) -> Option<Ratio> {
    let both = points.iter().any(|p| p.delivered.is_some());
    middle(points, |p| p.delivered.as_ref().or(p.headline.as_ref())).filter(|_| both)
}

/// The median speed by one of the figures.
fn middle(
    points: &[&ComparedPoint],
    figure: fn(&ComparedPoint) -> Option<&ComparedFigure>,
) -> Option<Ratio> {
    let figures = points.iter().filter_map(|p| Some((p.better, figure(p)?)));
    let ratios = figures
        .filter(|(_, f)| f.outcome != Comparability::Undecided)
        .map(|(better, f)| speed(better, f.value));
    let logs: Vec<f64> = ratios.filter(|l| l.is_finite()).collect();
    let exp = |log: f64| Some(log.exp()).filter(|r| r.is_normal());
    let ends = median_interval(&logs).and_then(|[low, high]| Some([exp(low)?, exp(high)?]));
    Some(Ratio { median: exp(median(&logs)?)?, ci95: ends })
}
