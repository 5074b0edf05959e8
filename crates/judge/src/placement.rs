//! The placement of the CPUs, of a run and of each measurement, with its figure within each.

use proofmark_model::{
    CpuPlacements, Cut, Figure, Measurement, Round, Run, Trial, WorkloadSpec, widest,
};

/// Fills in `cpu_placements`.
pub(crate) fn name_all(run: &mut Run) {
    let trials = || run.measurements.iter().flat_map(|m| &m.trials);
    let placements = CpuPlacements::from_trials(trials());
    run.cpu_placements = placements.of_pairs(trials());
    for m in &mut run.measurements {
        let spec = run.workloads.get(&m.workload);
        let figure = |trials: &[&Trial]| figure(spec, m, trials);
        m.cpu_placements = placements.of_rounds(m.trials.iter(), figure);
    }
}

/// The headline figure of some of its trials, by the rounds that the headline has.
fn figure(spec: Option<&WorkloadSpec>, m: &Measurement, trials: &[&Trial]) -> Option<Figure> {
    let kind = m.summary.as_ref()?.headline;
    let widest = widest(m.all_rounds());
    let counts = |round: &&Round| spec?.work.cut().eq(&Cut::Core).then(|| round.alone(widest));
    let rounds = trials.iter().flat_map(|t| &t.rounds).filter(|r| counts(r).unwrap_or(true));
    let values: Vec<f64> = rounds.filter_map(|round| round.figure(kind)).collect();
    Some(Figure::of_some(&values, m.all_rounds().count()))
}
