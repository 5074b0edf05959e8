//! Windows: short stretches of time, of each core or of all threads together, and how much work was
//! done in each. A window is *clean* if nothing was taken from its threads: then its rate is what
//! the hardware does.

use proofmark_model::{Cut, median};

/// A slice of a thread's work, in seconds since the round began and iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slice {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) work: f64,
}

/// What one thread did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track {
    /// CPU that it is pinned to, and that CPU's core, by any numbers; equal where it is not pinned.
    pub(crate) cpu: u32,
    pub(crate) core: u32,
    pub(crate) slices: Vec<Slice>,
    /// When our own reading of the clock interrupted it, and for how long.
    pub(crate) pauses: Vec<(f64, f64)>,
}

impl Track {
    /// What of it overlaps the stretch of so many seconds from `at_s` on, in seconds since then.
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
}

impl Track {
    /// Seconds of its slices without gaps, and of our own pauses. What is usual is that of the slices
    /// around: a core that another thread shares for a while is slow, not taken.
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
}

impl Track {
    /// Seconds from its first slice to the end of its last one.
    pub(crate) fn span_s(&self) -> f64 {
        self.slices.first().zip(self.slices.last()).map_or(0.0, |(a, b)| b.to - a.from)
    }

    /// Seconds that it worked before the timed part and after so many seconds of it, our own pauses
    /// included. A slice at an edge may hold a long gap: of that nothing counts.
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

/// How long windows are, and what a gap in a thread's work is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) window_s: f64,
    /// A slice that takes so many times as long as usual, and so many seconds more, holds a gap.
    gap_factor: f64,
    gap_s: f64,
    /// Whether all threads are looked at together.
    joint: bool,
}

impl Shape {
    /// Work on cores has a sharp edge; that of threads that share a bus has none, and a slice may
    /// take twice as long because of another thread of the same configuration.
    pub(crate) fn new(cut: Cut, slice_s: f64) -> Self {
        let shape = match cut {
            Cut::Bus => Self { window_s: 1e-3, gap_factor: 3.0, gap_s: 1e-4, joint: true },
            _ => Self { window_s: 2.5e-4, gap_factor: 1.5, gap_s: 0.0, joint: false },
        };
        // A window of fewer slices would be clean or not by chance.
        Self { window_s: shape.window_s.max(10.0 * slice_s), ..shape }
    }

    /// Of a thread that was held back in all its slices, those are the usual ones: so a slice that is
    /// longer than a window is a gap as well.
    fn is_gap(&self, took: f64, usual: f64) -> bool {
        let is_long = took > self.gap_factor * usual && took > usual + self.gap_s;
        is_long || took > self.window_s
    }
}

/// A window of a core, or of all threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Window {
    /// Iterations done.
    pub(crate) work: f64,
    /// Thread-seconds without a gap.
    active_s: f64,
    paused_s: f64,
    /// Iterations a second of the CPUs' time without our own pauses.
    pub(crate) rate: f64,
    pub(crate) clean: bool,
}

/// Part of the work that is done at the attainable rate or above.
pub(crate) const ABOVE: f64 = 0.05;

/// Part of a window's CPU time that must be without a gap.
const CLEAN: f64 = 0.98;

/// A part of the threads whose windows are looked at together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Core {
    /// Places of its tracks.
    pub(crate) tracks: Vec<usize>,
    pub(crate) windows: Vec<Window>,
    /// The 95th percentile of the clean windows' rates, weighted by work.
    pub(crate) attainable: Option<f64>,
}

/// The windows of a round from 0 to `seconds`, by core, or of all threads together. `cpus`: how
/// many CPUs threads that are not pinned can run on at most.
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
        let of = |place: &usize| &tracks[*place];
        let mut on: Vec<u32> = part.tracks.iter().map(|p| of(p).cpu).collect();
        on.sort_unstable();
        on.dedup();
        let capacity = on.len().min(cpus).min(part.tracks.len()) as f64;
        part.windows = windows(part.tracks.iter().map(of), seconds, shape, capacity);
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
                // Nobody knows where in a slice with a gap its work was done.
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
        // Where more threads than CPUs take turns, one's pause is another's work; and of a window
        // without work nothing is known.
        let paused_s = window.paused_s.min(all_s / 2.0);
        window.clean = window.active_s + paused_s >= CLEAN * all_s;
        window.rate = window.work / (all_s - paused_s) * capacity;
    }
    all
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

/// Seconds an iteration usually takes.
fn usual_s(slices: &[Slice]) -> f64 {
    let each = slices.iter().map(|s| (s.to - s.from) / s.work.max(1.0));
    usual(each.collect()).unwrap_or(0.0)
}

/// How long something takes when nothing is taken from it: as long as the fastest tenth.
pub(crate) fn usual(mut took: Vec<f64>) -> Option<f64> {
    let tenth = took.len() / 10;
    (!took.is_empty()).then(|| *took.select_nth_unstable_by(tenth, f64::total_cmp).1)
}

/// Calls `add` for each window that the stretch overlaps, with the seconds of it.
fn each_overlap(
    (from, to): (f64, f64),
    window_s: f64,
    all: &mut [Window],
    mut add: impl FnMut(&mut Window, f64),
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

    /// All work of the clean windows over their time.
    pub(crate) fn typical(&self) -> Option<f64> {
        let clean: Vec<f64> = self.clean().map(|w| w.rate).collect();
        (!clean.is_empty()).then(|| clean.iter().sum::<f64>() / clean.len() as f64)
    }
}

#[cfg(test)]
mod tests;
