//! The clock of the cores that a team runs on, under its own load.

use crate::chain::{Reading, rate, read_clock};
use crate::kernel::Load;
use crate::statistics::median;

/// Time that each clock reading's slices take, in seconds, and how many there are
/// of each chain: about 0.2 ms before and after a trial.
const CLOCK_SLICE_S: f64 = 30e-6;
const CLOCK_ROUNDS: u32 = 3;

/// The clock of one core under the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadClock {
    /// By a chain within the load where it has one, else by the plain chain.
    hz: f64,
    /// The plain chains, which check each other.
    plain: Reading,
}

impl LoadClock {
    /// Reads it on the calling thread, right before or after the load runs.
    pub(crate) fn read(load: &mut dyn Load) -> Option<Self> {
        // 4 GHz is near enough to size a slice.
        const CYCLES: u64 = (CLOCK_SLICE_S * 4e9) as u64;
        let within = (0..CLOCK_ROUNDS)
            .filter_map(|_| rate(|| load.clock_chain(CYCLES).map(|c| c as f64)))
            .max_by(f64::total_cmp);
        let plain = read_clock(CLOCK_SLICE_S, CLOCK_ROUNDS)?;
        // A chain within the load that something else than the clock slows down
        // would make a ceiling too low; no core halves its clock for wide vectors.
        let believable =
            within.filter(|hz| *hz > 0.5 * plain.by_adds && *hz < 1.05 * plain.by_adds);
        Some(Self { hz: believable.unwrap_or(plain.by_adds), plain })
    }
}

/// The clock over all threads. The spread is the median over the threads of the
/// gap between before and after.
pub(crate) struct ClockSummary {
    pub(crate) mean: f64,
    pub(crate) spread: f64,
    pub(crate) disagreement: f64,
}

impl ClockSummary {
    /// Of each thread's readings before and after a trial.
    pub(crate) fn of(clocks: &[[Option<LoadClock>; 2]]) -> Option<Self> {
        let readings: Vec<LoadClock> = clocks.iter().flatten().flatten().copied().collect();
        if readings.is_empty() {
            return None;
        }
        let mean_of =
            |f: fn(&LoadClock) -> f64| readings.iter().map(f).sum::<f64>() / readings.len() as f64;
        let plain = Reading {
            by_adds: mean_of(|r| r.plain.by_adds),
            by_second: mean_of(|r| r.plain.by_second),
        };
        let gaps: Vec<f64> = clocks
            .iter()
            .filter_map(|[before, after]| {
                Some((before.as_ref()?.hz / after.as_ref()?.hz - 1.0).abs())
            })
            .collect();
        Some(Self {
            mean: mean_of(|r| r.hz),
            spread: median(&gaps)?,
            disagreement: plain.disagreement(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_many_cores_is_their_mean_and_its_spread_that_of_time() {
        let at = |hz: f64| {
            let plain = Reading { by_adds: hz, by_second: hz };
            Some(LoadClock { hz, plain })
        };
        // Two cores at different clocks, each of which falls by 1 %.
        let s = ClockSummary::of(&[[at(4.04e9), at(4.0e9)], [at(3.03e9), at(3.0e9)]]).unwrap();
        assert!((s.mean - 3.5175e9).abs() < 1.0, "{}", s.mean);
        assert!((s.spread - 0.01).abs() < 1e-9, "{}", s.spread);
        assert!(ClockSummary::of(&[[None, None]]).is_none());
    }
}
