//! The clock of a team's cores under its own load.

use crate::chain::{Chain, Reading, rate, read_clock};
use crate::clock_samples::BELIEVED;
use crate::workload::Load;
use proofmark_model::median;

/// Seconds of a reading's slice, and slices of each chain: together up to 0.4 ms before and after a
/// trial.
const CLOCK_SLICE_S: f64 = 30e-6;
const CLOCK_ROUNDS: u32 = 3;

#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadClock {
    /// The clock in Hz by a chain within the load if it has one, else by the plain chain.
    hz: f64,
    /// The plain chains, which check each other.
    pub(crate) plain: Reading,
}

impl LoadClock {
    /// Reads the clock on the calling thread, directly before or after the load runs.
    pub(crate) fn read(load: &mut dyn Load) -> Self {
        // An assumed 4 GHz is close enough to size a slice.
        const CYCLES: u64 = (CLOCK_SLICE_S * 4e9) as u64;
        let chains = Chain::BOTH.into_iter().cycle().take(2 * CLOCK_ROUNDS as usize);
        let within = chains
            .filter_map(|chain| rate(|| load.clock_chain(chain, CYCLES)))
            .max_by(f64::total_cmp);
        let plain = read_clock(CLOCK_SLICE_S, CLOCK_ROUNDS);
        // If something other than the clock slows a chain within the load, the ceiling would be too
        // low.
        let believable = within.filter(|hz| BELIEVED.contains(&(hz / plain.hz())));
        Self { hz: believable.unwrap_or(plain.hz()), plain }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TrialClock {
    pub(crate) before: Option<LoadClock>,
    pub(crate) after: Option<LoadClock>,
    /// The clock within the trial in Hz, and its standard deviation as a fraction, if the load
    /// reads it itself.
    pub(crate) within: Option<(f64, f64)>,
}

impl TrialClock {
    fn before_and_after(&self) -> impl Iterator<Item = &LoadClock> {
        self.before.iter().chain(&self.after)
    }

    /// The clock within the trial, else before and after it. The second value is how far it
    /// changed, if it was read more than once.
    fn read(&self) -> Option<(f64, Option<f64>)> {
        match (self.within, self.before, self.after) {
            (Some((hz, spread)), ..) => Some((hz, Some(spread))),
            (None, Some(before), Some(after)) => {
                let spread = (before.hz / after.hz - 1.0).abs();
                Some((f64::midpoint(before.hz, after.hz), Some(spread)))
            }
            (None, one, other) => Some((one.or(other)?.hz, None)),
        }
    }
}

/// The mean clock over all threads, or over those that read it within the trial if any did. With it
/// come the median of their spreads and the disagreement of the plain chains.
pub(crate) fn over_threads(clocks: &[TrialClock]) -> Option<(f64, Option<f64>, f64)> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let any_within = clocks.iter().any(|c| c.within.is_some());
    let counts = clocks.iter().filter(|c| c.within.is_some() || !any_within);
    let (hz, spreads): (Vec<f64>, Vec<Option<f64>>) = counts.filter_map(TrialClock::read).unzip();
    let spreads: Vec<f64> = spreads.into_iter().flatten().collect();
    let plain = |of: fn(&Reading) -> f64| {
        let readings = clocks.iter().flat_map(TrialClock::before_and_after);
        mean(&readings.map(|r| of(&r.plain)).collect::<Vec<_>>())
    };
    let plain = Reading { by: [plain(|r| r.by[0]), plain(|r| r.by[1])] };
    (!hz.is_empty()).then(|| (mean(&hz), median(&spreads), plain.disagreement()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_many_cores_is_their_mean_and_its_spread_that_of_time() {
        let at = |hz: f64| {
            let plain = Reading { by: [hz; 2] };
            LoadClock { hz, plain }
        };
        let clock = |[before, after]: [LoadClock; 2]| TrialClock {
            before: Some(before),
            after: Some(after),
            within: None,
        };
        // Two cores at different clocks, each of which falls by 1 %.
        let clocks = [[at(4.04e9), at(4.0e9)], [at(3.03e9), at(3.0e9)]].map(clock);
        let (mean, spread, _) = over_threads(&clocks).unwrap();
        assert!((mean - 3.5175e9).abs() < 1.0, "{mean}");
        assert!((spread.unwrap() - 0.01).abs() < 1e-9, "{spread:?}");
        // One reading shows no change.
        let after = TrialClock { after: Some(at(3.0e9)), ..TrialClock::default() };
        let (hz, spread, _) = over_threads(&[after]).unwrap();
        assert_eq!((hz, spread), (3.0e9, None));
        assert!(over_threads(&[TrialClock::default()]).is_none());
    }

    #[test]
    fn what_the_load_read_itself_counts_before_what_was_read_around_it() {
        let plain = Reading { by: [3.6e9; 2] };
        let after = Some(LoadClock { hz: 3.6e9, plain });
        let clock = |hz| TrialClock { before: after, after, within: Some((hz, 0.001)) };
        // The last thread did too little work to read it.
        let without = TrialClock { before: after, after, within: None };
        let (mean, spread, _) = over_threads(&[clock(2.9e9), clock(3.1e9), without]).unwrap();
        assert!((mean - 3.0e9).abs() < 1.0, "{mean}");
        assert!((spread.unwrap() - 0.001).abs() < 1e-12, "{spread:?}");
    }
}
