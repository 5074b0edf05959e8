//! The slices of one thread: when each ended, and the readings of its core's clock between them.

use proofmark_model::Cut;

use super::ticks::Ticks;
use super::windows::usual;
use crate::chain::{self, Chain};
use crate::cutting::{Cutting, MAX_DOUBLED, MAX_SLICES, MIN_ROOM, Reading, SLICE_S, SPARE};
use crate::workload::Load;

/// Minimum capacity for slices, unless there are too many threads: how long a fixed amount of work
/// takes is an estimate.
const USUAL_ROOM: usize = 4096;

/// Seconds between two readings of the clock. Under loads that share a bus there are fewer
/// readings, because other threads use the bus meanwhile.
fn clock_every_s(cut: Cut) -> f64 {
    if cut == Cut::Bus { 4e-3 } else { 1e-3 }
}
/// Cycles of a reading.
const CLOCK_CYCLES: u64 = 24_000;

/// Cycles that a chain runs before, untimed, so that its code is in the cache: fetching it takes a
/// hundred cycles.
const WARM_CYCLES: u64 = 600;

/// NOPs after the chain; they take 3,000 to 8,000 cycles.
const NOPS: u64 = 32_000;

/// The end of a thread's slices.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// At the first end of a slice at or after this tick.
    Tick(u64),
    /// After this many iterations.
    Iterations(u64),
}

/// The slices and readings of one thread in one trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    /// Start of the first slice, in ticks.
    pub(crate) from: u64,
    /// Iterations of each of the first slices.
    pub(crate) slice: u64,
    /// Iterations of the last slice.
    pub(crate) last: u64,
    /// End of each slice, in ticks.
    pub(crate) ends: Vec<u64>,
    /// Indices of slices from which on slices have twice as many iterations.
    pub(crate) doubled: Vec<usize>,
    pub(crate) readings: Vec<Reading>,
    /// Expected ticks of one of the first slices, from the slices that ran ahead; 0 without any.
    pub(crate) slice_ticks: f64,
    /// True if the thread was stopped so long that too few slices ran ahead.
    pub(crate) unseen: bool,
}

impl Log {
    /// A log for a trial of this many seconds, in pages that were touched, within the thread's
    /// share of the memory. If the room becomes short, slices and the time between readings get
    /// longer.
    pub(crate) fn with_room(cutting: Cutting, seconds: f64) -> Self {
        let (most_slices, most_readings) = cutting.most_room();
        let room = |every_s: f64, spare: f64, most: usize| {
            ((spare * seconds / every_s) as usize).saturating_add(MIN_ROOM).min(most)
        };
        // The length that slices have once they are fitted, however long they are estimated to
        // take.
        let slice_s = cutting.slice_s.min(SLICE_S.max(seconds / MAX_SLICES));
        let slices = room(slice_s, SPARE, most_slices).max(USUAL_ROOM.min(most_slices));
        let readings = room(clock_every_s(cutting.cut), 2.0, most_readings);
        let chain = Chain::First;
        let reading =
            Reading { chain, after: 1, from: 1, chained: 1, cycles: 1, instructions: 1, to: 1 };
        Self {
            slice: cutting.slice,
            ends: with_touched_room(1, slices),
            doubled: Vec::with_capacity(MAX_DOUBLED),
            readings: with_touched_room(reading, readings),
            ..Self::default()
        }
    }

    /// Removes all slices and readings.
    pub(crate) fn start_over(&mut self) {
        self.ends.clear();
        self.doubled.clear();
        self.readings.clear();
    }

    /// Bytes that the log takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let Self { ends, doubled, readings, .. } = self;
        size_of::<u64>() * ends.capacity()
            + size_of::<usize>() * doubled.capacity()
            + size_of::<Reading>() * readings.capacity()
    }

    /// Sets the length of slices by those of `ahead`, since other work may have disturbed the
    /// calibration. The trial has this many seconds, or iterations.
    pub(crate) fn fit(
        &mut self,
        ahead: &Self,
        cutting: Cutting,
        per_second: f64,
        (seconds, iterations): (f64, Option<u64>),
    ) {
        let Some(each) = ahead.usual_ticks().filter(|each| *each > 0.0) else {
            self.unseen = true;
            return;
        };
        let each_s = each / per_second;
        let seconds = iterations.map_or(seconds, |iterations| iterations as f64 * each_s);
        self.slice = cutting.fitted(each_s, seconds).slice;
        self.slice_ticks = self.slice as f64 * each;
    }

    /// Ticks of an undisturbed iteration; `None` if there are too few slices.
    pub(crate) fn usual_ticks(&self) -> Option<f64> {
        const MIN_SLICES: usize = 10;
        // In a short slice the call takes most of the time.
        let longest = self.slices().map(|(_, iterations)| iterations).max()?;
        let begins = [self.from].into_iter().chain(self.ends.iter().copied());
        let slices = begins.zip(self.slices()).filter(|(_, (_, i))| *i >= longest.div_ceil(4));
        let each = slices.map(|(from, (end, iterations))| {
            end.saturating_sub(from) as f64 / iterations.max(1) as f64
        });
        let each: Vec<f64> = each.collect();
        if each.len() > MIN_SLICES { usual(each) } else { None }
    }

    /// Expected ticks of the longest slices.
    pub(crate) fn slice_ticks(&self) -> Option<f64> {
        if self.unseen {
            let longest = self.slices().map(|(_, iterations)| iterations).max()?;
            return self.usual_ticks().map(|each| each * longest as f64);
        }
        let longest = self.slice_ticks * 2_f64.powi(self.doubled.len() as i32);
        (longest > 0.0).then_some(longest)
    }

    /// The ends of all slices, with the iterations of each.
    pub(crate) fn slices(&self) -> impl Iterator<Item = (u64, u64)> {
        let (last, mut slice, mut doubled) = (self.ends.len(), self.slice, self.doubled.iter());
        let mut next = doubled.next();
        self.ends.iter().enumerate().map(move |(place, end)| {
            while next == Some(&place) {
                slice = slice.saturating_mul(2);
                next = doubled.next();
            }
            (*end, if place + 1 == last { self.last } else { slice })
        })
    }

    /// Iterations of all slices.
    pub(crate) fn iterations(&self) -> u64 {
        self.slices().fold(0, |all, (_, iterations)| all.saturating_add(iterations))
    }

    pub(crate) fn first_end_after(&self, tick: u64) -> Option<u64> {
        self.ends.iter().copied().find(|end| *end > tick)
    }

    /// Runs slices, at least one, and reads the clock between them. If too few slices ran ahead,
    /// the first ones are as short as there.
    pub(crate) fn run(&mut self, load: &mut dyn Load, ticks: Ticks, cut: Cut, until: Until) {
        match self.unseen {
            true => self.run_ahead(load, ticks, cut, until),
            false => self.run_slices::<false>(load, ticks, (cut, 0), until),
        }
    }

    /// Runs untimed slices until then. The first is one iteration. They double until one takes half
    /// its target, so that the time of an iteration is measured whatever was calibrated.
    pub(crate) fn run_ahead(&mut self, load: &mut dyn Load, ticks: Ticks, cut: Cut, until: Until) {
        if self.ends.is_empty() {
            self.slice = 1;
        }
        self.run_slices::<true>(load, ticks, (cut, ticks.in_seconds(SLICE_S)), until);
    }

    fn run_slices<const AHEAD: bool>(
        &mut self,
        load: &mut dyn Load,
        ticks: Ticks,
        (cut, slice_ticks): (Cut, u64),
        until: Until,
    ) {
        let mut every = ticks.in_seconds(clock_every_s(cut));
        let mut left = match until {
            Until::Tick(_) => u64::MAX,
            Until::Iterations(iterations) => iterations,
        };
        let room = [self.ends.capacity(), self.readings.capacity()];
        let half_of_rest = |used: usize, room: usize| used + (room - used).div_ceil(2);
        let mut slice = self.doubled.iter().fold(self.slice, |slice, _| slice.saturating_mul(2));
        let mut short = [(self.ends.len(), room[0]), (self.readings.len(), room[1])]
            .map(|(used, room)| half_of_rest(used, room));
        let mut began = ticks.now();
        if self.ends.is_empty() {
            self.from = began;
        }
        let mut read_at = began + every / 2;
        while left > 0 {
            let iterations = slice.min(left);
            load.run(iterations);
            let now = ticks.now();
            self.ended(now, iterations);
            left -= iterations;
            if left == 0 || matches!(until, Until::Tick(end) if now >= end) {
                return;
            }
            let used = self.ends.len();
            let is_short = AHEAD && now - began < slice_ticks / 2;
            let has_room = used < room[0];
            if has_room && (is_short || used == short[0]) {
                let due = match until {
                    _ if is_short => 0.0,
                    Until::Iterations(_) => left as f64 / slice as f64,
                    Until::Tick(end) => {
                        let ran = now.saturating_sub(self.from).max(1) as f64;
                        end.saturating_sub(now) as f64 * used as f64 / ran
                    }
                };
                slice = self.double(slice, due);
                short[0] = half_of_rest(used, room[0]);
            }
            if now >= read_at && has_room && self.readings.len() < room[1] {
                self.read_clock(load, ticks, now);
                if self.readings.len() == short[1] {
                    every = every.saturating_mul(2);
                    short[1] = half_of_rest(short[1], room[1]);
                }
                read_at = now + every;
            }
            if AHEAD {
                began = ticks.now();
            }
        }
    }

    /// Doubles the slices from here on, at least once, until those that are still due fill at most
    /// half of the remaining room. Returns their iterations.
    fn double(&mut self, mut slice: u64, mut due: f64) -> u64 {
        let (used, rest) = (self.ends.len(), self.ends.capacity() - self.ends.len());
        while self.doubled.len() < self.doubled.capacity() {
            (slice, due) = (slice.saturating_mul(2), due / 2.0);
            self.doubled.push(used);
            if due <= rest as f64 / 2.0 {
                break;
            }
        }
        slice
    }

    /// Records a slice. Without room it becomes part of the last one.
    fn ended(&mut self, now: u64, iterations: u64) {
        if self.ends.len() < self.ends.capacity() {
            self.ends.push(now);
            self.last = iterations;
        } else if let Some(end) = self.ends.last_mut() {
            *end = now;
            self.last = self.last.saturating_add(iterations);
        }
    }

    /// Reads the clock by a chain within the load if it has one: a core lowers its clock for wide
    /// vectors only while they run. The two chains take turns.
    pub(crate) fn read_clock(&mut self, load: &mut dyn Load, ticks: Ticks, after: u64) {
        if self.readings.len() == self.readings.capacity() {
            return;
        }
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

/// An empty vector, with room for this many entries in pages that were touched.
fn with_touched_room<T: Clone>(value: T, room: usize) -> Vec<T> {
    let mut all = vec![value; room];
    all.clear();
    all
}

#[cfg(test)]
mod tests;
