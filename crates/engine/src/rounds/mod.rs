//! Turns the slices of all threads into the rounds of a trial.
//!
//! A trial of a load that can be cut runs in slices of 20 us. Each thread reads the time at their
//! ends. Slices make windows of 0.25 ms (`windows`), and windows the figures of a round. A trial is
//! one round. If the number of trials is fixed, a long trial is cut into several rounds, so that
//! few trials have enough rounds.

pub(crate) mod log;
pub(crate) mod ticks;
mod windows;

use std::ops::Add;

use proofmark_model::{Round, Unit, median};

use crate::chain::Chain;
use crate::cutting::{Cutting, Reading};
use log::Log;
use ticks::Scale;
use windows::{ABOVE, Core, Shape, Slice, Track};

/// Maximum fraction of a round that proofmark's readings of the clock can take.
const MAX_PAUSED: f64 = 0.05;

/// Target seconds of the rounds of a long trial. Those of the longest trials are longer, so that a
/// trial's reply stays short.
const ROUND_S: f64 = 0.1;
/// Minimum seconds of such a round.
const SHORT_ROUND_S: f64 = 0.02;
const MAX_ROUNDS: f64 = 100.0;

/// The CPU that a thread runs on, and its core, each identified by any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub(crate) number: u32,
    pub(crate) core: u32,
}

impl Cpu {
    /// The CPU of a thread. Threads that are not pinned count as sharing one core.
    pub(crate) fn for_thread(thread: usize, pinned_to: Option<u32>) -> Self {
        let core = pinned_to.map_or(u32::MAX, first_sibling);
        Self { number: pinned_to.unwrap_or(thread as u32), core }
    }
}

/// The first CPU of the core; the CPU itself if the system does not report it.
fn first_sibling(cpu: u32) -> u32 {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let first = text.split([',', '-', '\n']).next().and_then(|n| n.parse().ok());
    first.unwrap_or(cpu)
}

/// The recorded slices of a trial's threads, and the data needed to interpret them.
pub(crate) struct Recorded<'a> {
    pub(crate) logs: &'a [(Cpu, Log)],
    pub(crate) scale: Scale,
    /// Ticks that one reading of the time takes.
    pub(crate) overhead: u64,
    /// Start of the timed part, in ticks.
    pub(crate) from: u64,
    /// Duration of the timed part.
    pub(crate) seconds: f64,
    pub(crate) cutting: Cutting,
    /// Number of CPUs that the threads can run on.
    pub(crate) cpus: usize,
    /// The gaps of each thread that only loads the machine: start and end, in seconds from the start
    /// of the timed part.
    pub(crate) away: &'a [Vec<(f64, f64)>],
}

/// The rounds of a trial, and the iterations within its time.
pub(crate) struct Rounds {
    pub(crate) all: Vec<Round>,
    /// Iterations within the timed part.
    pub(crate) iterations: f64,
    /// The clock of each thread at the attainable rate, and its spread as a fraction.
    pub(crate) clocks: Vec<Option<(f64, f64)>>,
    /// Seconds that each thread worked, as its slices show. Slices with a gap count with their
    /// usual time. All slices count, also those before the timed part.
    pub(crate) worked_s: Vec<f64>,
    /// Seconds of each thread's gaps: the rest of the time from its first slice to its last one.
    pub(crate) gaps_s: Vec<f64>,
}

impl Recorded<'_> {
    /// Computes the rounds in this unit, with `work` per iteration.
    pub(crate) fn rounds(&self, unit: Unit, work: f64) -> Rounds {
        let count = match self.cutting.least_rounds {
            None => 1.0,
            Some(least) => {
                // As many as an interval needs, if they are long enough for windows.
                let least = f64::from(least).min(self.seconds / SHORT_ROUND_S).floor();
                (self.seconds / ROUND_S).round().max(least).clamp(1.0, MAX_ROUNDS)
            }
        };
        let each_s = self.seconds / count;
        let whole: Vec<Track> = self.logs.iter().map(|(cpu, log)| self.track(*cpu, log)).collect();
        let shape = Shape::new(self.cutting.cut, self.cutting.slice_s);
        let worked_s: Vec<f64> = whole.iter().map(|track| track.worked_s(shape)).collect();
        let gaps = |(track, worked_s): (&Track, &f64)| (track.span_s() - worked_s).max(0.0);
        let gaps_s = whole.iter().zip(&worked_s).map(gaps).collect();
        let parts = (0..count as usize).map(|i| {
            let at_s = i as f64 * each_s;
            let tracks: Vec<Track> = whole.iter().map(|t| t.within(at_s, each_s)).collect();
            self.round(&tracks, (at_s, each_s), (unit, work))
        });
        let (mut rounds, mut clocks) = (
            Rounds { all: Vec::new(), iterations: 0.0, clocks: Vec::new(), worked_s, gaps_s },
            Vec::new(),
        );
        for (round, iterations, of_threads) in parts {
            rounds.all.push(round);
            rounds.iterations += iterations;
            clocks.push(of_threads);
        }
        let threads = clocks.iter().map(Vec::len).max().unwrap_or(0);
        rounds.clocks = (0..threads)
            .map(|thread| {
                let read = |round: &Vec<Option<(f64, f64)>>| round.get(thread).copied().flatten();
                let (hz, spread): (Vec<f64>, Vec<f64>) = clocks.iter().filter_map(read).unzip();
                Some((median(&hz)?, median(&spread)?))
            })
            .collect();
        rounds
    }

    /// Seconds that each thread worked before the timed part and later than `window_s` into it.
    pub(crate) fn worked_outside_s(&self, window_s: f64) -> Vec<f64> {
        let shape = Shape::new(self.cutting.cut, self.cutting.slice_s);
        let outside =
            |(cpu, log): &(Cpu, Log)| self.track(*cpu, log).worked_outside_s(shape, window_s);
        self.logs.iter().map(outside).collect()
    }

    fn round(
        &self,
        tracks: &[Track],
        (at_s, seconds): (f64, f64),
        (unit, work): (Unit, f64),
    ) -> (Round, f64, Vec<Option<(f64, f64)>>) {
        let shape = Shape::new(self.cutting.cut, self.cutting.slice_s);
        let mut cores = windows::cores(tracks, seconds, shape, self.cpus);
        windows::without_load(&mut cores, &self.away_from(at_s), shape);
        let sum = |figure: fn(&Core) -> Option<f64>| cores.iter().map(figure).sum::<Option<f64>>();
        let value = |rate: f64| unit.value(rate * work, 1.0);
        let within = |s: &Slice| {
            let overlap = s.to.min(seconds) - s.from.max(0.0);
            s.work * (overlap / (s.to - s.from)).clamp(0.0, 1.0)
        };
        let iterations = tracks.iter().flat_map(|t| &t.slices).map(within).fold(0.0, f64::add);
        // proofmark's readings of the clock are no part of the work.
        let pauses = tracks.iter().flat_map(|t| &t.pauses).map(|(_, took)| took);
        let paused = pauses.fold(0.0, f64::add) / self.cpus.clamp(1, tracks.len().max(1)) as f64;
        let worked_s = seconds - paused.min(MAX_PAUSED * seconds);
        // If no operation ended, one takes at least as long as the round.
        let least = if unit == Unit::Second { 1.0 } else { 0.0 };
        let clocks = self.clocks(at_s, seconds);
        let known: Vec<f64> = clocks.iter().flatten().map(|(hz, _)| *hz).collect();
        let round = Round {
            at_s,
            seconds: worked_s,
            delivered: value(iterations.max(least) / worked_s.max(f64::MIN_POSITIVE)),
            typical: sum(Core::typical).map(value),
            attainable: sum(|core| core.attainable).map(value),
            clean_s: cores.iter().map(|c| c.clean_s(shape)).fold(f64::INFINITY, f64::min),
            clock_hz: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
            issue_width: self.issue_width(&clocks, (at_s, seconds)),
            strip: strip(&cores, shape),
            histogram: histogram(&cores),
        };
        (round, iterations, clocks)
    }

    /// The gaps of the threads that only load the machine, in seconds from `at_s` on.
    fn away_from(&self, at_s: f64) -> Vec<Vec<(f64, f64)>> {
        let shifted = |(from, to): &(f64, f64)| (from - at_s, to - at_s);
        self.away.iter().map(|gaps| gaps.iter().map(shifted).collect()).collect()
    }

    /// Seconds from the start of the timed part to this tick.
    fn seconds_at(&self, tick: u64) -> f64 {
        (tick as i128 - i128::from(self.from)) as f64 * self.scale.tick_s
    }

    /// A thread's slices, in seconds from the start of the timed part.
    fn track(&self, cpu: Cpu, log: &Log) -> Track {
        let mut track = Track { cpu: cpu.number, core: cpu.core, ..Track::default() };
        let usual_s = usual_pause_s(log, self.scale);
        let mut readings = log.readings.iter().peekable();
        let mut from = log.from;
        for (end, iterations) in log.slices() {
            if let Some(reading) = readings.next_if(|r| r.to <= end) {
                let [start, stop] = [reading.after, reading.to].map(|t| self.seconds_at(t));
                track.pauses.push((start, (stop - start).min(usual_s)));
                from = reading.to;
            }
            // A coarse clock may read the same at both ends.
            let (to, work) = (self.seconds_at(end.max(from + 1)), iterations as f64);
            track.slices.push(Slice { from: self.seconds_at(from), to, work });
            from = end;
        }
        track
    }

    /// The clock of each thread in the round by the faster chain, and the spread of its readings.
    /// As for the attainable rate, the 95th percentile counts: a core may change its clock between
    /// windows, and an interruption lowers a reading.
    fn clocks(&self, at_s: f64, seconds: f64) -> Vec<Option<(f64, f64)>> {
        let of_thread = |log: &Log| {
            let by = |chain: Chain| {
                let readings = self.readings(log, (at_s, seconds)).filter(|r| r.chain == chain);
                let hz: Vec<f64> =
                    readings.map(|r| self.rate(r.cycles, [r.from, r.chained])).collect();
                Some((high(&hz)?, spread(&hz)))
            };
            Chain::BOTH.into_iter().filter_map(by).max_by(|a, b| a.0.total_cmp(&b.0))
        };
        self.logs.iter().map(|(_, log)| of_thread(log)).collect()
    }

    /// Maximum NOPs per cycle that a core issues, in windows like those of the attainable rate, for
    /// the thread with the fewest. Cycles are those of the round's clock: an interruption of one
    /// reading would make the core look wider.
    fn issue_width(&self, clocks: &[Option<(f64, f64)>], at: (f64, f64)) -> Option<f64> {
        let of_thread = |(log, clock): (&Log, &Option<(f64, f64)>)| {
            let rate = |r: &Reading| self.rate(r.instructions, [r.chained, r.to]);
            let rates: Vec<f64> = self.readings(log, at).map(rate).collect();
            Some(high(&rates)? / clock.as_ref()?.0)
        };
        let threads = self.logs.iter().map(|(_, log)| log).zip(clocks);
        let widths: Option<Vec<f64>> = threads.map(of_thread).collect();
        widths?.into_iter().min_by(f64::total_cmp)
    }

    /// A thread's readings within a round.
    fn readings<'a>(
        &'a self,
        log: &'a Log,
        (at_s, seconds): (f64, f64),
    ) -> impl Iterator<Item = &'a Reading> {
        let within = move |r: &&Reading| (0.0..seconds).contains(&(self.seconds_at(r.from) - at_s));
        log.readings.iter().filter(within)
    }

    /// Rate per second of `count` between two readings of the time, without the cost of a reading.
    fn rate(&self, count: u64, [from, to]: [u64; 2]) -> f64 {
        let ticks = to.saturating_sub(from).saturating_sub(self.overhead).max(1) as f64;
        count as f64 / (ticks * self.scale.tick_s)
    }
}

/// The 95th percentile of the values.
fn high(values: &[f64]) -> Option<f64> {
    let mut falling = values.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    falling.get((ABOVE * falling.len() as f64) as usize).copied()
}

/// Median distance of the readings from their median, as a fraction.
fn spread(hz: &[f64]) -> f64 {
    let Some(middle) = median(hz) else { return 0.0 };
    let off: Vec<f64> = hz.iter().map(|v| (v / middle - 1.0).abs()).collect();
    median(&off).unwrap_or(0.0)
}

/// Maximum seconds that a reading of the clock takes undisturbed. If one takes longer, other work
/// took the rest.
fn usual_pause_s(log: &Log, scale: Scale) -> f64 {
    let ticks: Vec<f64> =
        log.readings.iter().map(|r| r.to.saturating_sub(r.after) as f64).collect();
    1.5 * median(&ticks).unwrap_or(0.0) * scale.tick_s
}

/// The rate of all threads over time, in tenths of the highest: a digit per millisecond, or per
/// window if windows are longer.
fn strip(cores: &[Core], shape: Shape) -> String {
    const DIGIT_S: f64 = 1e-3;
    let together = (DIGIT_S / shape.window_s).round().max(1.0) as usize;
    let windows = cores.iter().map(|c| c.windows.len()).min().unwrap_or(0);
    let rate = |window: usize| cores.iter().map(|c| c.windows[window].rate).sum::<f64>();
    let all: Vec<f64> = (0..windows).map(rate).collect();
    let digits: Vec<f64> =
        all.chunks(together).map(|w| w.iter().sum::<f64>() / w.len() as f64).collect();
    let most = digits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let digit = |rate: &f64| char::from(b'0' + ((10.0 * rate / most) as u8).min(9));
    digits.iter().map(digit).collect()
}

/// Histogram of the windows by their rate, as a fraction of their core's attainable one.
fn histogram(cores: &[Core]) -> Vec<u32> {
    const STEPS: usize = 20;
    let mut counts = vec![0; STEPS];
    for core in cores {
        let Some(attainable) = core.attainable.filter(|a| *a > 0.0) else { continue };
        for window in &core.windows {
            let step = (window.rate / attainable * STEPS as f64) as usize;
            counts[step.min(STEPS - 1)] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests;
