//! Placement of the CPUs of a run and of each result, with the figure of each placement.

use proofmark_model::{CpuPlacement, CpuPlacements, Figure, Measurement, Policy, Round, Trial};

/// The placements of all measurements together, and of each.
pub(crate) fn derive_all(
    policy: &Policy,
    all: &[Measurement],
) -> (Vec<CpuPlacement>, Vec<Vec<CpuPlacement>>) {
    let trials = || all.iter().flat_map(|m| &m.trials);
    let placements = CpuPlacements::from_trials(trials());
    let each = all.iter().map(|m| {
        let in_headline = m.in_headline();
        placements
            .of_rounds(m.trials.iter(), |trials: &[&Trial]| figure(policy, m, trials, &in_headline))
    });
    (placements.of_pairs(trials()), each.collect())
}

/// A placement of a result, with its figure and the 95 % interval of that.
pub(crate) type Placed<'a> = (&'a CpuPlacement, f64, [f64; 2]);

/// Returns the placements of a result that have an interval, the highest figure first.
pub(crate) fn with_intervals(m: &Measurement) -> Vec<Placed<'_>> {
    let with_interval = |p: &'_ CpuPlacement| {
        let figure = p.figure.as_ref()?;
        Some((figure.value?, figure.ci95?))
    };
    let all = m.cpu_placements.iter();
    let all = all.filter_map(|p| with_interval(p).map(|(value, interval)| (p, value, interval)));
    let mut all: Vec<Placed> = all.collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// Returns true if the intervals of two placements, the higher one first, do not overlap.
pub(crate) fn are_apart((_, _, above): &Placed, (_, _, below): &Placed) -> bool {
    above[0] > below[1]
}

/// The headline figure of some trials, from their rounds that the headline counts.
fn figure(
    policy: &Policy,
    m: &Measurement,
    trials: &[&Trial],
    in_headline: impl Fn(&Round) -> bool,
) -> Option<Figure> {
    let kind = m.summary.as_ref()?.headline;
    let rounds = trials.iter().flat_map(|t| &t.rounds);
    let counted = rounds.filter(|round| in_headline(round));
    let values: Vec<f64> = counted.filter_map(|round| round.figure(kind)).collect();
    let is_fixed = m.series.is_some() || policy.is_fixed(&m.workload);
    let figure = Figure::from_rounds(&values, m.all_rounds().count(), !is_fixed);
    let missing = figure.missing.map(|why| match figure.value {
        Some(_) => format!("{why}; more --trials may give one"),
        None => why,
    });
    Some(Figure { missing, ..figure })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Summary};

    use super::*;

    /// Two rounds at a placement, of a run with that policy.
    fn missing(policy: &Policy) -> String {
        let m = Measurement {
            summary: Some(Summary { headline: FigureKind::Delivered, ..Summary::default() }),
            ..Measurement::new(&crate::testing::spec("memory.triad"), Default::default())
        };
        let trial = Trial {
            rounds: vec![Round { delivered: 1.0, ..Round::default() }],
            ..Trial::default()
        };
        let figure = figure(policy, &m, &[&trial, &trial], |_| true).unwrap();
        assert_eq!(figure.value, Some(1.0));
        figure.missing.unwrap()
    }

    #[test]
    fn a_fixed_number_of_trials_needs_no_look_and_names_what_gives_an_interval() {
        let fixed = missing(&Policy { min_trials: 12, max_trials: 12, ..Policy::default() });
        assert!(fixed.contains("needs 6 of a fixed number; more --trials"), "{fixed}");
        let open = missing(&Policy { min_trials: 8, max_trials: 20, ..Policy::default() });
        assert!(open.contains("needs 8; more --trials"), "{open}");
    }
}
