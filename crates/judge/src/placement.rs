//! The placement of the CPUs, of a run and of each measurement, with its figure within each.

use proofmark_model::{CpuPlacements, Figure, Measurement, Round, Run, Trial};

/// Fills in `cpu_placements`.
pub(crate) fn name_all(run: &mut Run) {
    let trials = || run.measurements.iter().flat_map(|m| &m.trials);
    let placements = CpuPlacements::from_trials(trials());
    run.cpu_placements = placements.of_pairs(trials());
    for m in &mut run.measurements {
        let in_headline = m.in_headline();
        let figure = |trials: &[&Trial]| figure(m, trials, &in_headline);
        m.cpu_placements = placements.of_rounds(m.trials.iter(), figure);
    }
}

/// The headline figure of some of its trials, by the rounds that the headline has.
fn figure(
    m: &Measurement,
    trials: &[&Trial],
    in_headline: impl Fn(&Round) -> bool,
) -> Option<Figure> {
    let kind = m.summary.as_ref()?.headline;
    let rounds = trials.iter().flat_map(|t| &t.rounds);
    let counted = rounds.filter(|round| in_headline(round));
    let values: Vec<f64> = counted.filter_map(|round| round.figure(kind)).collect();
    // The interval may have decided how many rounds there are.
    Some(Figure::of_rounds(&values, m.all_rounds().count(), true))
}
