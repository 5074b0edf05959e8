//! The figures of all runs of one side, and what the history knew before them.

use std::collections::BTreeMap;

use proofmark_model::{
    BetweenRuns, FigureKind, Measurement, OverRuns, Params, Run, Subsystem, Successive,
};

use super::several::{Key, has_method_of, key};
use super::speed;
use super::variance::Variance;
use crate::statistics::{mean, squared_deviations};

/// Degrees of freedom of successive differences, as a share of their number.
const SUCCESSIVE: f64 = 2.0 / 3.0;
/// Seconds after which a level of the history counts as another one.
const ANOTHER_LEVEL_S: f64 = 3600.0;

/// The results of all runs of one side.
pub(super) struct SideRuns<'a> {
    runs: Vec<(&'a Run, BTreeMap<Key<'a>, &'a Measurement>)>,
}

impl<'a> SideRuns<'a> {
    /// Runs in the order of their starts. Results of another method than in the last run do not count.
    pub(super) fn new(runs: &'a [Run]) -> Self {
        let results = |run: &'a Run| {
            let last = runs.last().unwrap_or(run);
            let counts = |m: &&Measurement| m.verdict.is_usable() && has_method_of(run, last, m);
            (run, run.measurements.iter().filter(counts).map(|m| (key(m), m)).collect())
        };
        Self { runs: runs.iter().map(results).collect() }
    }

    pub(super) fn values(&self, like: &Measurement, kind: FigureKind) -> Values {
        let found = self.runs.iter().filter_map(|(run, results)| {
            let m = results.get(&key(like)).filter(|m| m.unit == like.unit)?;
            let figure = m.summary.as_ref()?.figure(kind);
            let log = figure.value.filter(|v| v.is_finite() && *v > 0.0)?.ln();
            Some((seconds(run), log))
        });
        let (times, logs) = found.unzip();
        let earlier = self.earlier(&like.workload, &like.params);
        Values { times, logs, earlier: earlier.and_then(|e| Earlier::read(e.figure(kind)?)) }
    }

    /// The means over some results of a subsystem, of the runs that have all of them. Rates count as
    /// they are, times inverted.
    pub(super) fn means(
        &self,
        (subsystem, delivered): (Subsystem, bool),
        results: &[(&Measurement, FigureKind)],
    ) -> Values {
        let log = |run: &BTreeMap<Key, &Measurement>, like: &Measurement, kind| {
            let m = run.get(&key(like)).filter(|m| m.unit == like.unit)?;
            let value = m.summary.as_ref()?.figure(kind).value?;
            Some(speed(m.better, value)).filter(|log| log.is_finite())
        };
        let found = self.runs.iter().filter_map(|(run, own)| {
            let logs = results.iter().map(|(like, kind)| log(own, like, *kind));
            Some((seconds(run), mean(&logs.collect::<Option<Vec<f64>>>()?)))
        });
        let (times, logs) = found.unzip();
        // The mean of other results varies otherwise.
        let earlier = self.earlier(subsystem.as_str(), &Params::default());
        let earlier = earlier.filter(|e| e.results == Some(results.len() as u64));
        let read = |e: &BetweenRuns| {
            let over_runs = if delivered { e.delivered.as_ref()? } else { &e.over_runs };
            Earlier::read(over_runs)
        };
        Values { times, logs, earlier: earlier.and_then(read) }
    }

    /// What the first run knew of earlier ones.
    fn earlier(&self, workload: &str, params: &Params) -> Option<&'a BetweenRuns> {
        self.runs.first()?.0.between_runs_of(workload, params)
    }

    /// True for a result that all runs have.
    pub(super) fn has_all(&self, like: &Measurement) -> bool {
        self.runs.iter().all(|(_, own)| own.contains_key(&key(like)))
    }
}

fn seconds(run: &Run) -> f64 {
    run.started.0.as_millisecond() as f64 / 1e3
}

/// One figure in all runs of one side, in the order of their starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    /// Starts in seconds.
    pub(super) times: Vec<f64>,
    pub(super) logs: Vec<f64>,
    pub(super) earlier: Option<Earlier>,
}

impl Values {
    pub(super) fn mean(&self) -> f64 {
        mean(&self.logs)
    }

    /// Start of the first run.
    pub(super) fn first(&self) -> f64 {
        self.times.first().copied().unwrap_or(f64::INFINITY)
    }

    /// The variance of one run by these runs; `None` for a single one.
    pub(super) fn of_own_runs(&self) -> Option<Variance> {
        let freedom = self.logs.len().checked_sub(1).filter(|n| *n > 0)? as f64;
        Some(Variance { value: squared_deviations(&self.logs) / freedom, freedom })
    }
}

/// How one figure varied in earlier runs, on the logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Earlier {
    pub(super) runs: u64,
    pub(super) deviation: f64,
    /// Those that followed each other soon; the deviation is a logarithm too.
    pub(super) successive: Option<Successive>,
}

impl Earlier {
    fn read(over_runs: &OverRuns) -> Option<Self> {
        let runs = over_runs.runs();
        let (deviation, successive) = match over_runs {
            OverRuns::One(level) => (level.deviation, level.successive),
            // The whole gap: the next runs may have the other value.
            OverRuns::Two { states: [low, high] } => (high.median / low.median - 1.0, None),
        };
        let successive =
            successive.map(|s: Successive| Successive { deviation: s.deviation.ln_1p(), ..s });
        let deviation = deviation.ln_1p();
        let of_pairs = successive.iter().flat_map(|s| [s.deviation, s.seconds]);
        let is_known = of_pairs.chain([deviation]).all(|v| v.is_finite() && v >= 0.0);
        (runs > 1 && is_known).then_some(Self { runs, deviation, successive })
    }

    /// The variance of one run about its level. Where no runs followed each other soon, all of the
    /// deviation is the level's.
    pub(super) fn of_run(self) -> Variance {
        let none = Variance { value: 0.0, freedom: 0.0 };
        self.successive.map_or(none, |s| Variance {
            value: s.deviation.powi(2),
            freedom: SUCCESSIVE * s.pairs as f64,
        })
    }

    /// The variance of levels. Runs that followed each other soon have seen one in each hour.
    pub(super) fn of_level(self) -> Variance {
        let (pairs, seconds) = self.successive.map_or((0, 0.0), |s| (s.pairs, s.seconds));
        let freedom =
            self.runs.saturating_sub(pairs).saturating_sub(1) as f64 + seconds / ANOTHER_LEVEL_S;
        let value = (self.deviation.powi(2) - self.of_run().value).max(0.0);
        Variance { value, freedom }
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{RunLevel, RunState};

    use super::*;

    #[test]
    fn the_deviation_of_earlier_runs_has_two_parts() {
        let successive = Some(Successive { deviation: 0.03, pairs: 30, seconds: 9000.0 });
        let level = RunLevel { median: 1.0, runs: 40, deviation: 0.05, successive, ci95: None };
        let read = |level: RunLevel| Earlier::read(&OverRuns::One(level)).unwrap();
        let known = read(level.clone());
        let expected = 0.05_f64.ln_1p().powi(2) - 0.03_f64.ln_1p().powi(2);
        assert!((known.of_level().value - expected).abs() < 1e-12);
        // Ten sets of runs, of two and a half hours together.
        assert_eq!((known.of_level().freedom, known.of_run().freedom), (11.5, 20.0));
        // One run a day: all of it is the level's.
        let daily = read(RunLevel { successive: None, ..level.clone() });
        assert_eq!(daily.of_run().value, 0.0);
        assert!((daily.of_level().value - 0.05_f64.ln_1p().powi(2)).abs() < 1e-12);
        for wild in [f64::NAN, -0.5, f64::INFINITY] {
            let known = OverRuns::One(RunLevel { deviation: wild, ..level.clone() });
            assert!(Earlier::read(&known).is_none(), "{wild}");
        }
    }

    #[test]
    fn two_states_count_with_their_whole_gap() {
        let state = |median, runs| RunState { median, runs, share: 0.5, places: Vec::new() };
        let known = OverRuns::Two { states: [state(46.0, 4), state(80.0, 5)] };
        let read = Earlier::read(&known).unwrap();
        assert!((read.deviation - (80.0_f64 / 46.0).ln()).abs() < 1e-9 && read.runs == 9);
    }
}
