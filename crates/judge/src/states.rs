//! The states of the CPUs, of a run and of each measurement, with its figure within each.

use proofmark_model::{CpuStates, Figure, Measurement, Run, Trial};

/// Fills in `cpu_states`.
pub(crate) fn name_all(run: &mut Run) {
    let trials = || run.measurements.iter().flat_map(|m| &m.trials);
    let states = CpuStates::of(trials());
    run.cpu_states = states.seen_in(trials(), |_| None);
    for m in &mut run.measurements {
        m.cpu_states = states.seen_in(m.trials.iter(), |trials| figure(m, trials));
    }
}

/// The headline figure of some of its trials.
fn figure(m: &Measurement, trials: &[&Trial]) -> Option<Figure> {
    let kind = m.summary.as_ref()?.headline;
    let rounds = trials.iter().flat_map(|t| &t.rounds);
    let values: Vec<f64> = rounds.filter_map(|round| round.figure(kind)).collect();
    Some(Figure::of_some(&values, m.all_rounds().count()))
}
