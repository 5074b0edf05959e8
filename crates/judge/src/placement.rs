//! Placement of the CPUs of a run and of each result, with the figure of each placement.

use proofmark_model::{CpuPlacement, CpuPlacements, Figure, Measurement, Round, Trial};

/// The placements of all measurements together, and of each.
pub(crate) fn derive_all(all: &[Measurement]) -> (Vec<CpuPlacement>, Vec<Vec<CpuPlacement>>) {
    let trials = || all.iter().flat_map(|m| &m.trials);
    let placements = CpuPlacements::from_trials(trials());
    let each = all.iter().map(|m| {
        let in_headline = m.in_headline();
        placements.of_rounds(m.trials.iter(), |trials: &[&Trial]| figure(m, trials, &in_headline))
    });
    (placements.of_pairs(trials()), each.collect())
}

/// The headline figure of some trials, from their rounds that the headline counts.
fn figure(
    m: &Measurement,
    trials: &[&Trial],
    in_headline: impl Fn(&Round) -> bool,
) -> Option<Figure> {
    let kind = m.summary.as_ref()?.headline;
    let rounds = trials.iter().flat_map(|t| &t.rounds);
    let counted = rounds.filter(|round| in_headline(round));
    let values: Vec<f64> = counted.filter_map(|round| round.figure(kind)).collect();
    // The interval may have decided the number of rounds.
    Some(Figure::from_rounds(&values, m.all_rounds().count(), true))
}
