//! The values that a figure is made of, one per round or trial.

use crate::{FigureKind, Measurement, delivered_under_quota};

/// Rounds on unshared cores that a comparison needs; with fewer it uses all rounds.
const MIN_ALONE: usize = 3;

impl Measurement {
    /// Returns the figure by which first screens and comparisons show the result: the headline; of
    /// complete solves delivered, since their median leaves taken time in.
    pub fn listed_figure(&self) -> FigureKind {
        match &self.summary {
            Some(s) if !self.is_complete_solve() || s.delivered.value.is_none() => s.headline,
            _ => FigureKind::Delivered,
        }
    }

    /// Returns true if each trial is one complete solve: it has a headline without rounds.
    pub fn is_complete_solve(&self) -> bool {
        let headline = self.summary.as_ref().map_or(FigureKind::Delivered, |s| s.headline);
        headline != FigureKind::Delivered && !self.has_rounds()
    }

    /// Returns the values of a figure, in the measurement's unit: one per round, without rounds one
    /// per trial, of an import without trials its figure.
    pub fn figure_values(&self, kind: FigureKind) -> Vec<f64> {
        let summary = self.summary.as_ref();
        if summary.is_some_and(|s| s.figure(kind).value.is_none()) {
            return Vec::new();
        }
        if self.has_rounds() {
            return self.values_of_rounds(kind);
        }
        match self.trials.is_empty() {
            false => self.trials.iter().map(|t| t.value).collect(),
            true => summary.iter().map(|s| s.value()).collect(),
        }
    }

    fn values_of_rounds(&self, kind: FigureKind) -> Vec<f64> {
        // Rounds too short to show a quota read more than it allows.
        if kind == FigureKind::Delivered
            && let Some(limited) = delivered_under_quota(self.unit, &self.trials)
        {
            return limited.rounds.into_iter().map(|(value, _)| value).collect();
        }
        if kind == FigureKind::Attainable {
            let in_headline = self.in_headline();
            let alone = self.all_rounds().filter(|r| in_headline(r));
            let alone: Vec<f64> = alone.filter_map(|r| r.figure(kind)).collect();
            if alone.len() >= MIN_ALONE {
                return alone;
            }
        }
        self.all_rounds().filter_map(|r| r.figure(kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Round, Trial, Unit, testing};

    #[test]
    fn attainable_is_made_of_the_rounds_in_which_no_core_was_shared() {
        let spec = testing::spec("cpu.flops", Unit::FlopPerSecond);
        let mut m = testing::measurement(&spec, Default::default(), &[1.0]);
        let s = m.summary.as_mut().unwrap();
        s.headline = FigureKind::Attainable;
        s.attainable.value = Some(10.0);
        let round = |rate: f64, width: f64| Round {
            delivered: rate / 2.0,
            attainable: Some(rate),
            issue_width: Some(width),
            ..Round::default()
        };
        let mut rounds = vec![round(10.0, 6.0); 3];
        rounds.extend(vec![round(6.0, 3.0); 5]);
        m.trials = vec![Trial { rounds, ..Trial::default() }];
        assert_eq!(m.figure_values(FigureKind::Attainable), [10.0; 3]);
        assert_eq!(m.figure_values(FigureKind::Delivered).len(), 8);
        m.trials[0].rounds.remove(0);
        m.trials[0].rounds.remove(0);
        m.summary.as_mut().unwrap().delivered.value = None;
        assert!(m.figure_values(FigureKind::Delivered).is_empty(), "no figure has values");
        // The third widest is a shared one by now.
        assert_eq!(m.figure_values(FigureKind::Attainable).len(), 6);
    }
}
