//! The slices of one thread, as it runs them: when each ended, when its core's clock was read
//! between two, and what that gave.

use proofmark_model::Cut;

use super::ticks::Ticks;
use super::windows::usual;
use crate::chain::{self, Chain};
use crate::workload::Load;

/// How a trial is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cutting {
    pub(crate) cut: Cut,
    /// Whether a trial is one round, however long it is.
    pub(crate) one_round: bool,
    /// Iterations of a slice.
    pub(crate) slice: u64,
    /// About how long one takes.
    pub(crate) slice_s: f64,
}

/// Longest slice: shorter than what is taken from a thread at once, and a thousand times what
/// reading the time takes.
const SLICE_S: f64 = 20e-6;

/// Slices of a trial of usual length; those of longer ones are longer, so that logs stay small.
const MOST_SLICES: f64 = 250_000.0;

/// No iteration takes less.
const LEAST_S: f64 = 1e-12;

impl Cutting {
    /// Of trials of `seconds` where `filling` iterations of a thread take `filling_s`.
    pub(crate) fn new(
        (cut, one_round): (Cut, bool),
        seconds: f64,
        (filling, filling_s): (u64, f64),
    ) -> Self {
        let each_s = (filling_s / filling.max(1) as f64).max(LEAST_S);
        let goal_s = SLICE_S.max(seconds / MOST_SLICES);
        let slice = ((goal_s / each_s) as u64).max(1);
        Self { cut, one_round, slice, slice_s: slice as f64 * each_s }
    }

    /// Iterations of the slices that are begun within so many seconds; of one at least.
    pub(crate) fn iterations_in(&self, seconds: f64) -> u64 {
        ((seconds / self.slice_s).ceil() as u64).max(1).saturating_mul(self.slice)
    }
}

/// Seconds from one reading of the clock to the next, and cycles of one. Under loads that share a bus
/// it is read less often: others use the bus meanwhile.
fn clock_every_s(cut: Cut) -> f64 {
    if cut == Cut::Bus { 4e-3 } else { 1e-3 }
}
const CLOCK_CYCLES: u64 = 24_000;

/// A chain is run once, untimed, so that its code is at hand: fetching it takes a hundred cycles.
const WARM_CYCLES: u64 = 600;

/// NOPs after the chain: they take 3,000 to 8,000 cycles.
const NOPS: u64 = 32_000;

/// A reading of the core's clock, in ticks: by which chain, when the slice before it ended, when the chain
/// began and ended, and the cycles that has; and of how many instructions the core issues, which ends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) chain: Chain,
    pub(crate) after: u64,
    pub(crate) from: u64,
    pub(crate) chained: u64,
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) to: u64,
}

/// When a thread's slices end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// At the first end of a slice at or after this tick.
    Tick(u64),
    /// After so many iterations.
    Iterations(u64),
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    /// When the first slice began.
    pub(crate) from: u64,
    /// Iterations of each slice but the last, and of that.
    pub(crate) slice: u64,
    pub(crate) last: u64,
    pub(crate) ends: Vec<u64>,
    pub(crate) readings: Vec<Reading>,
}

impl Log {
    /// With room for a trial of so many seconds, in pages that were touched.
    pub(crate) fn with_room(cutting: Cutting, seconds: f64) -> Self {
        let slices = (4.0 * seconds / cutting.slice_s) as usize + 64;
        let readings = (2.0 * seconds / clock_every_s(cutting.cut)) as usize + 64;
        let mut ends = vec![1; slices];
        ends.clear();
        let chain = Chain::First;
        let touched =
            Reading { chain, after: 1, from: 1, chained: 1, cycles: 1, instructions: 1, to: 1 };
        let mut all = vec![touched; readings];
        all.clear();
        Self { slice: cutting.slice, ends, readings: all, ..Self::default() }
    }

    /// Makes slices as long as `like`'s should have been, whose length was calibrated when others may
    /// have held the thread back: shorter ones would not fit into the room.
    pub(crate) fn fit(&mut self, like: &Self, slice_ticks: u64) {
        const LEAST: usize = 10;
        let took = like.ends.windows(2).map(|e| e[1].saturating_sub(e[0]) as f64);
        if let Some(usual) = usual(took.collect()).filter(|_| like.ends.len() > LEAST) {
            let slice = self.slice as f64 * slice_ticks as f64 / usual.max(1.0);
            self.slice = (slice as u64).max(1);
        }
    }

    /// Iterations of all slices.
    pub(crate) fn iterations(&self) -> u64 {
        match self.ends.len() as u64 {
            0 => 0,
            slices => (slices - 1).saturating_mul(self.slice).saturating_add(self.last),
        }
    }

    pub(crate) fn first_end_after(&self, tick: u64) -> Option<u64> {
        self.ends.iter().copied().find(|end| *end > tick)
    }

    /// Runs slices, at least one, and reads the clock between them.
    pub(crate) fn run(&mut self, load: &mut dyn Load, ticks: Ticks, cut: Cut, until: Until) {
        let every = ticks.in_seconds(clock_every_s(cut));
        let mut left = match until {
            Until::Tick(_) => u64::MAX,
            Until::Iterations(iterations) => iterations,
        };
        self.from = ticks.now();
        let mut read_at = self.from + every / 2;
        while left > 0 {
            let iterations = self.slice.min(left);
            load.run(iterations);
            let now = ticks.now();
            self.ends.push(now);
            self.last = iterations;
            left -= iterations;
            if left == 0 || matches!(until, Until::Tick(end) if now >= end) {
                return;
            }
            if now >= read_at {
                self.read_clock(load, ticks, now);
                read_at = now + every;
            }
        }
    }

    /// A chain within the load where it has one: a core lowers its clock for wide vectors only
    /// while they run. The two chains take turns.
    pub(crate) fn read_clock(&mut self, load: &mut dyn Load, ticks: Ticks, after: u64) {
        let chain = Chain::BOTH[self.readings.len() % 2];
        let mut run =
            |cycles| load.clock_chain(chain, cycles).unwrap_or_else(|| chain.run_for(cycles));
        run(WARM_CYCLES);
        chain::nops(1);
        let from = ticks.now();
        let cycles = run(CLOCK_CYCLES);
        let chained = ticks.now();
        let steps = NOPS / chain::PER_STEP;
        chain::nops(steps);
        let (to, instructions) = (ticks.now(), steps * chain::PER_STEP);
        self.readings.push(Reading { chain, after, from, chained, cycles, instructions, to });
    }
}

#[cfg(test)]
mod tests;
