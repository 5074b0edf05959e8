//! Windows: the work of each core, or of all threads together, in short periods. A window is
//! *clean* if none of its threads lost time. Then its rate is that of the hardware.

use proofmark_model::{Cut, median};

use crate::gaps::GapRule;

/// A slice of a thread's work: seconds since the round began, and iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slice {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) work: f64,
}

/// The slices and pauses of one thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track {
    /// CPU that the thread is pinned to, identified by any number. Threads that are not pinned have
    /// one core.
    pub(crate) cpu: u32,
    pub(crate) core: u32,
    pub(crate) slices: Vec<Slice>,
    /// Start and duration of each of proofmark's readings of the clock.
    pub(crate) pauses: Vec<(f64, f64)>,
}

impl Track {
    /// The part that overlaps the `seconds` from `at_s` on. Times count from `at_s`.
    pub(crate) fn within(&self, at_s: f64, seconds: f64) -> Self {
        let end_s = at_s + seconds;
        let first = self.slices.partition_point(|s| s.to <= at_s);
        let slices = self.slices[first..].iter().take_while(|s| s.from < end_s);
        let slices =
            slices.map(|s| Slice { from: s.from - at_s, to: s.to - at_s, work: s.work }).collect();
        let first = self.pauses.partition_point(|(at, took)| at + took <= at_s);
        let pauses = self.pauses[first..].iter().take_while(|(at, _)| *at < end_s);
        let pauses = pauses.map(|(at, took)| (at - at_s, *took)).collect();
        Self { cpu: self.cpu, core: self.core, slices, pauses }
    }

    /// Seconds of its slices without gaps, and of proofmark's readings. The slices around show what
    /// is usual: a core that another thread shares for a while is slow, but loses no time.
    pub(crate) fn worked_s(&self, shape: Shape) -> f64 {
        const AROUND: usize = 50;
        let each_s = |slice: &Slice| (slice.to - slice.from) / slice.work;
        let usual = |part: &[Slice]| median(&part.iter().map(each_s).collect::<Vec<_>>());
        let usuals: Vec<f64> = self.slices.chunks(AROUND).filter_map(usual).collect();
        let worked = |(i, slice): (usize, &Slice)| {
            let usual = usuals.get(i / AROUND).map_or(0.0, |usual| usual * slice.work);
            let took = slice.to - slice.from;
            if shape.is_gap(took, usual) { usual } else { took }
        };
        let paused = self.pauses.iter().map(|(_, took)| took).sum::<f64>();
        self.slices.iter().enumerate().map(worked).sum::<f64>() + paused
    }

    /// Seconds from its first slice to the end of its last one.
    pub(crate) fn span_s(&self) -> f64 {
        self.slices.first().zip(self.slices.last()).map_or(0.0, |(a, b)| b.to - a.from)
    }

    /// Seconds that it worked before the timed part and later than `window_s` into it, readings
    /// included. A slice at an edge may hold a long gap, which does not count.
    pub(crate) fn worked_outside_s(&self, shape: Shape, window_s: f64) -> f64 {
        let each: Vec<f64> = self.slices.iter().map(|s| (s.to - s.from) / s.work).collect();
        let usual = median(&each).unwrap_or(0.0);
        let outside =
            |from: f64, to: f64| (to.min(0.0) - from).max(0.0) + (to - from.max(window_s)).max(0.0);
        let worked = |slice: &Slice| {
            let (took, usual) = (slice.to - slice.from, usual * slice.work);
            let most = if shape.is_gap(took, usual) { usual } else { took };
            outside(slice.from, slice.to).min(most)
        };
        let paused = |(at, took): &(f64, f64)| outside(*at, at + took);
        self.slices.iter().map(worked).sum::<f64>() + self.pauses.iter().map(paused).sum::<f64>()
    }
}

/// The length of windows, and the definition of a gap in a thread's work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) window_s: f64,
    gap: GapRule,
    /// True if the windows are those of all threads together.
    joint: bool,
}

impl Shape {
    pub(crate) fn new(cut: Cut, slice_s: f64) -> Self {
        let shape = match cut {
            Cut::Bus => Self { window_s: 1e-3, gap: GapRule::ON_A_BUS, joint: true },
            _ => Self { window_s: 2.5e-4, gap: GapRule::ON_CORES, joint: false },
        };
        // Whether a window of fewer slices is clean would be chance.
        Self { window_s: shape.window_s.max(10.0 * slice_s), ..shape }
    }

    /// If a thread lost time in all its slices, these look usual. So a slice that is longer than a
    /// window is a gap as well.
    fn is_gap(&self, took: f64, usual: f64) -> bool {
        self.gap.is_gap(took, usual) || took > self.window_s
    }
}

/// A window of a core, or of all threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Window {
    /// Iterations that were done in it.
    pub(crate) work: f64,
    /// Thread-seconds without a gap.
    active_s: f64,
    paused_s: f64,
    /// Iterations per second of the CPUs' time, without proofmark's readings.
    pub(crate) rate: f64,
    pub(crate) clean: bool,
}

/// Fraction of the work that is done at the attainable rate or above.
pub(crate) const ABOVE: f64 = 0.05;

/// Minimum fraction of a clean window's CPU time without a gap.
const CLEAN: f64 = 0.98;

/// Threads that share their windows: those of a core, or all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Core {
    /// Indices of its tracks.
    pub(crate) tracks: Vec<usize>,
    pub(crate) windows: Vec<Window>,
    /// The 95th percentile of the clean windows' rates, weighted by work.
    pub(crate) attainable: Option<f64>,
}

/// The windows of a round from 0 to `seconds`, by core, or of all threads together. `cpus` is the
/// maximum number of CPUs that unpinned threads can run on.
pub(crate) fn cores(tracks: &[Track], seconds: f64, shape: Shape, cpus: usize) -> Vec<Core> {
    let mut parts: Vec<Core> = Vec::new();
    for (place, track) in tracks.iter().enumerate() {
        let same = |part: &&mut Core| shape.joint || tracks[part.tracks[0]].core == track.core;
        match parts.iter_mut().find(same) {
            Some(part) => part.tracks.push(place),
            None => parts.push(Core { tracks: vec![place], ..Core::default() }),
        }
    }
    for part in &mut parts {
        let track = |place: &usize| &tracks[*place];
        let mut on: Vec<u32> = part.tracks.iter().map(|p| track(p).cpu).collect();
        on.sort_unstable();
        on.dedup();
        let capacity = on.len().min(cpus).min(part.tracks.len()) as f64;
        part.windows = windows(part.tracks.iter().map(track), seconds, shape, capacity);
        part.attainable = attainable(&part.windows);
    }
    parts
}

fn windows<'a>(
    tracks: impl Iterator<Item = &'a Track>,
    seconds: f64,
    shape: Shape,
    capacity: f64,
) -> Vec<Window> {
    let count = (seconds / shape.window_s + 1e-6) as usize;
    let mut all = vec![Window::default(); count];
    for track in tracks {
        let usual = usual_s(&track.slices);
        for slice in &track.slices {
            let took = slice.to - slice.from;
            let is_gap = shape.is_gap(took, usual * slice.work);
            each_overlap((slice.from, slice.to), shape.window_s, &mut all, |window, overlap| {
                // The moment at which a slice with a gap did its work is unknown.
                if !is_gap {
                    window.work += slice.work * overlap / took;
                    window.active_s += overlap;
                }
            });
        }
        for (at, took) in &track.pauses {
            each_overlap((*at, at + took), shape.window_s, &mut all, |window, overlap| {
                window.paused_s += overlap;
            });
        }
    }
    for window in &mut all {
        let all_s = capacity * shape.window_s;
        // If more threads than CPUs take turns, one thread's pause is another's work. A window
        // without work shows nothing.
        let paused_s = window.paused_s.min(all_s / 2.0);
        window.clean = window.active_s + paused_s >= CLEAN * all_s;
        window.rate = window.work / (all_s - paused_s) * capacity;
    }
    all
}

/// Marks windows as not clean in which threads that load the machine were away: together for more
/// of their time than a clean window may lack. `away` has the gaps of each of these threads, in
/// seconds since the round began.
pub(crate) fn without_load(cores: &mut [Core], away: &[Vec<(f64, f64)>], shape: Shape) {
    for core in cores {
        let mut missing_s = vec![0.0; core.windows.len()];
        for gap in away.iter().flatten() {
            each_overlap(*gap, shape.window_s, &mut missing_s, |missing_s, overlap| {
                *missing_s += overlap;
            });
        }
        let most_s = (1.0 - CLEAN) * away.len() as f64 * shape.window_s;
        for (window, missing_s) in core.windows.iter_mut().zip(missing_s) {
            window.clean &= missing_s <= most_s;
        }
        core.attainable = attainable(&core.windows);
    }
}

/// The 95th percentile of the clean windows' rates, weighted by work.
fn attainable(windows: &[Window]) -> Option<f64> {
    let mut clean: Vec<&Window> = windows.iter().filter(|w| w.clean).collect();
    clean.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    let above = ABOVE * clean.iter().map(|w| w.work).sum::<f64>();
    let mut work = 0.0;
    let at = clean.iter().find(|w| {
        work += w.work;
        work >= above
    });
    at.map(|w| w.rate)
}

/// Seconds that an undisturbed iteration takes.
fn usual_s(slices: &[Slice]) -> f64 {
    let each = slices.iter().map(|s| (s.to - s.from) / s.work.max(1.0));
    usual(each.collect()).unwrap_or(0.0)
}

/// The undisturbed duration among these: that of the fastest tenth.
pub(crate) fn usual(mut took: Vec<f64>) -> Option<f64> {
    let tenth = took.len() / 10;
    (!took.is_empty()).then(|| *took.select_nth_unstable_by(tenth, f64::total_cmp).1)
}

/// Calls `add` for each window that the period overlaps, with the seconds of overlap.
fn each_overlap<W>(
    (from, to): (f64, f64),
    window_s: f64,
    all: &mut [W],
    mut add: impl FnMut(&mut W, f64),
) {
    if to <= 0.0 || to <= from {
        return;
    }
    let first = (from.max(0.0) / window_s) as usize;
    for (place, window) in all.iter_mut().enumerate().skip(first) {
        let start = place as f64 * window_s;
        let overlap = to.min(start + window_s) - from.max(start);
        if overlap <= 0.0 && start >= to {
            break;
        }
        if overlap > 0.0 {
            add(window, overlap);
        }
    }
}

impl Core {
    fn clean(&self) -> impl Iterator<Item = &Window> {
        self.windows.iter().filter(|w| w.clean)
    }

    /// Seconds of clean windows.
    pub(crate) fn clean_s(&self, shape: Shape) -> f64 {
        self.clean().count() as f64 * shape.window_s
    }

    /// Mean rate of the clean windows, which all have the same length.
    pub(crate) fn typical(&self) -> Option<f64> {
        let clean: Vec<f64> = self.clean().map(|w| w.rate).collect();
        (!clean.is_empty()).then(|| clean.iter().sum::<f64>() / clean.len() as f64)
    }
}

#[cfg(test)]
mod tests;
