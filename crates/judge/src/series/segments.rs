//! Points at which the level of a series changes.
//!
//! Seeded binary segmentation (Kovács, Bühlmann, Li and Munk, *Biometrika* 2023) with the rule of
//! the narrowest interval (Baranowski, Chen and Fryzlewicz, JRSS B 2019). The intervals are a fixed
//! set of all lengths, some n log n elements in total. Each is cut where the ranks of its two sides
//! differ most (the statistic of Mann and Whitney, as Pettitt, 1979, uses it). Of those with a
//! significant cut the narrowest counts: it usually contains one change, and too little of a slow
//! drift to resemble one. Ranks ignore the size of outliers and the shape of the noise.
//!
//! A significant cut is a change of level only if the medians right before and right after it
//! differ, by at least a hundredth. That separates a step from a drift. Noise that persists from
//! sample to sample makes any test too confident. Its correlation is estimated from the differences
//! of neighbours, in which levels and drift nearly vanish.
//!
//! Ranks need many trials. So clear steps count first: far larger than the differences of
//! neighbours, with five trials on either side that do not overlap.

use crate::statistics::median;

/// Fewest trials that show levels.
pub(super) const LEAST_TRIALS: usize = 10;
/// Fewest trials on either side of a cut.
const LEAST_SIDE: usize = 4;
/// Length of each layer of intervals relative to the one before.
const DECAY: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Smallest change that is reported, as a share of the level.
const LEAST_STEP: f64 = 0.01;
/// Smallest change that is reported, as a share of the noise of one trial.
const LEAST_OVER_NOISE: f64 = 0.75;
/// Trials right before and after a cut whose medians must differ, at least and at most, depending
/// on the noise.
const WINDOW: [f64; 2] = [8.0, 64.0];
/// Trials on either side of a clear step.
const CLEAR_SIDE: usize = 5;
/// Smallest gap between its two sides in standard deviations of neighbours.
const CLEAR: f64 = 5.0;
/// Smallest difference of these medians in standard errors.
const ERRORS: f64 = 3.0;

#[derive(Debug, Clone, Copy)]
struct Cut {
    from: usize,
    to: usize,
    /// First trial of the right side.
    at: usize,
    score: f64,
}

/// The noise of single trials, without levels and drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Noise {
    /// Standard deviation, as for a normal distribution.
    pub(super) sd: f64,
    /// Correlation with the next trial: 0 for none.
    correlation: f64,
}

impl Noise {
    pub(super) fn estimate(values: &[f64]) -> Self {
        let steps: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let sizes: Vec<f64> = steps.iter().map(|s| s.abs()).collect();
        let step_sd = median(&sizes).unwrap_or(0.0) / 0.6745;
        // Outliers and changes count as the noise's own largest steps at most.
        let clipped: Vec<f64> =
            steps.iter().map(|s| s.clamp(-3.0 * step_sd, 3.0 * step_sd)).collect();
        let square: f64 = clipped.iter().map(|s| s * s).sum();
        let next: f64 = clipped.windows(2).map(|w| w[0] * w[1]).sum();
        let lag = if square > 0.0 { next / square } else { -0.5 };
        // In an autoregressive series with correlation c, the steps have -(1 - c) / 2.
        let unsure = 2.0 / (values.len() as f64).sqrt();
        let correlation = (1.0 + 2.0 * lag - unsure).clamp(0.0, 0.9);
        Self { sd: step_sd / (2.0 * (1.0 - correlation)).sqrt(), correlation }
    }

    /// Factor by which a score is worth less than one of independent trials.
    pub(super) fn discount(&self) -> f64 {
        ((1.0 - self.correlation) / (1.0 + self.correlation)).sqrt()
    }
}

/// The first trial of each level except the first, in order.
pub(crate) fn cuts(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < LEAST_TRIALS || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let noise = Noise::estimate(values);
    let all: Vec<Cut> =
        intervals(n).into_iter().filter_map(|(from, to)| best(values, from, to)).collect();
    let mut found = clear_steps(values, &noise);
    let ends: Vec<usize> = found.iter().copied().chain([n]).collect();
    let mut from = 0;
    for to in ends {
        split(values, &noise, &all, (from, to), &mut found);
        from = to;
    }
    found.sort_unstable();
    refine(values, &mut found);
    prune(values, &noise, &mut found);
    found
}

/// Clear steps: five trials on either side, all those of one far above all those of the other. One
/// trial between them may belong to neither, since half of it may.
fn clear_steps(values: &[f64], noise: &Noise) -> Vec<usize> {
    let sizes: f64 = values.windows(2).map(|w| (w[1] - w[0]).abs()).sum();
    // A mean, not a median: values that alternate all the time make no step.
    let usual = sizes / (values.len() - 1) as f64 * 0.8862;
    let extent = |part: &[f64]| {
        let low = part.iter().copied().fold(f64::INFINITY, f64::min);
        (low, part.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let gap = |at: usize, skip: usize| {
        let left = extent(values.get(at.checked_sub(CLEAR_SIDE)?..at)?);
        let right = extent(values.get(at + skip..at + skip + CLEAR_SIDE)?);
        Some((left.0 - right.1).max(right.0 - left.1))
    };
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (at, value) in values.iter().enumerate().skip(CLEAR_SIDE) {
        let Some(gap) = gap(at, 0).into_iter().chain(gap(at, 1)).max_by(f64::total_cmp) else {
            break;
        };
        if gap <= 0.0 || gap < CLEAR * usual || gap < least_step(noise, *value) {
            continue;
        }
        match found.last_mut() {
            // The same step, found from the next trial.
            Some(last) if at - last.0 < CLEAR_SIDE => {
                if gap > last.1 {
                    *last = (at, gap);
                }
            }
            _ => found.push((at, gap)),
        }
    }
    found.into_iter().map(|(at, _)| at).collect()
}

/// Smallest score of a change. In series of independent values of one level, of any distribution,
/// the highest of all scores exceeds it in about one of a hundred. It is fitted to that quantile of
/// 200 to 2000 uniform series each of 10 to 4096 values.
fn threshold(n: usize) -> f64 {
    2.56 + 0.83 * (n as f64 / 10.0).ln().max(0.0).sqrt()
}

/// The seeded intervals of `n` values.
fn intervals(n: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut length = n as f64;
    while length >= (2 * LEAST_SIDE) as f64 {
        let pieces = (2.0 * (n as f64 / length).ceil() - 1.0).max(1.0);
        let shift = if pieces > 1.0 { (n as f64 - length) / (pieces - 1.0) } else { 0.0 };
        for i in 0..pieces as usize {
            let from = (i as f64 * shift).floor() as usize;
            let to = ((i as f64 * shift + length).ceil() as usize).min(n);
            if all.last() != Some(&(from, to)) {
                all.push((from, to));
            }
        }
        length *= DECAY;
    }
    all
}

/// The cut of an interval at which the ranks of its sides differ most.
fn best(values: &[f64], from: usize, to: usize) -> Option<Cut> {
    let part = &values[from..to];
    let ranks = ranks(part);
    let n = part.len() as f64;
    let middle = (n + 1.0) / 2.0;
    let mut sum = 0.0;
    let mut found: Option<Cut> = None;
    for (i, rank) in ranks.iter().enumerate().take(part.len().saturating_sub(LEAST_SIDE)) {
        sum += rank - middle;
        let left = (i + 1) as f64;
        if i + 1 < LEAST_SIDE {
            continue;
        }
        let score = sum.abs() / (left * (n - left) * (n + 1.0) / 12.0).sqrt();
        if found.is_none_or(|f| score > f.score) {
            found = Some(Cut { from, to, at: from + i + 1, score });
        }
    }
    found
}

/// Ranks from 1; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut i = 0;
    while i < order.len() {
        let mut j = i;
        while j + 1 < order.len() && values[order[j + 1]] == values[order[i]] {
            j += 1;
        }
        for k in &order[i..=j] {
            ranks[*k] = (i + j) as f64 / 2.0 + 1.0;
        }
        i = j + 1;
    }
    ranks
}

/// Cuts a stretch at its narrowest significant change, and then both sides.
fn split(
    values: &[f64],
    noise: &Noise,
    all: &[Cut],
    (from, to): (usize, usize),
    found: &mut Vec<usize>,
) {
    if to - from < 2 * LEAST_SIDE {
        return;
    }
    let least = threshold(values.len()) / noise.discount();
    let inside = all.iter().copied().filter(|c| c.from >= from && c.to <= to);
    let whole = best(values, from, to);
    let narrowest = inside
        .chain(whole)
        .filter(|c| c.score > least && remains(values, noise, (from, to), c, least))
        .min_by(|a, b| (a.to - a.from).cmp(&(b.to - b.from)).then(b.score.total_cmp(&a.score)));
    if let Some(cut) = narrowest {
        found.push(cut.at);
        split(values, noise, all, (from, cut.at), found);
        split(values, noise, all, (cut.at, to), found);
    }
}

/// Returns true if a cut is still significant without the drift of its stretch. The drift is the
/// median slope of both sides, over pairs half a side apart.
fn remains(
    values: &[f64],
    noise: &Noise,
    (from, to): (usize, usize),
    cut: &Cut,
    least: f64,
) -> bool {
    let mut slopes = Vec::with_capacity((to - from) / 2 + 1);
    for side in [&values[from..cut.at], &values[cut.at..to]] {
        let half = side.len() / 2;
        if half > 0 {
            slopes.extend(side.iter().zip(&side[half..]).map(|(a, b)| (b - a) / half as f64));
        }
    }
    let slope = median(&slopes).unwrap_or(0.0);
    let part = values[cut.from..cut.to].iter().enumerate();
    let level: Vec<f64> = part.map(|(i, v)| v - slope * i as f64).collect();
    let at = cut.at - cut.from;
    score_at(&level, at) > least && jumps(&level, noise, at)
}

fn score_at(values: &[f64], at: usize) -> f64 {
    let (n, left) = (values.len() as f64, at as f64);
    let sum: f64 = ranks(values).iter().take(at).sum::<f64>() - left * (n + 1.0) / 2.0;
    sum.abs() / (left * (n - left) * (n + 1.0) / 12.0).sqrt()
}

/// Smallest difference between this level and another one.
fn least_step(noise: &Noise, level: f64) -> f64 {
    (LEAST_STEP * level.abs()).max(LEAST_OVER_NOISE * noise.sd)
}

/// Returns true if the values right before and right after a cut differ.
fn jumps(values: &[f64], noise: &Noise, at: usize) -> bool {
    let Some(level) = median(values) else { return false };
    let step = least_step(noise, level);
    let enough = if step > 0.0 { (6.0 * noise.sd / step).powi(2) } else { WINDOW[0] };
    let window = enough.clamp(WINDOW[0], WINDOW[1]) as usize;
    let left = &values[at.saturating_sub(window)..at];
    let right = &values[at..values.len().min(at + window)];
    let (Some(before), Some(after)) = (median(left), median(right)) else { return false };
    let error = 1.2533 * noise.sd / noise.discount()
        * (1.0 / left.len() as f64 + 1.0 / right.len() as f64).sqrt();
    (after - before).abs() >= step.max(ERRORS * error)
}

/// The start of the level before a cut, and the end of the one after it.
pub(super) fn between(values: &[f64], cuts: &[usize], which: usize) -> (usize, usize) {
    let from = which.checked_sub(1).map_or(0, |before| cuts[before]);
    (from, cuts.get(which + 1).copied().unwrap_or(values.len()))
}

/// Moves each cut to the place where values are nearest to the medians of their levels.
fn refine(values: &[f64], cuts: &mut [usize]) {
    for _ in 0..2 {
        for i in 0..cuts.len() {
            let (from, to) = between(values, cuts, i);
            let sides = (median(&values[from..cuts[i]]), median(&values[cuts[i]..to]));
            let (Some(before), Some(after)) = sides else { continue };
            // Moving the cut over a value takes it from one side to the other.
            let mut cost = 0.0;
            let mut least = (f64::INFINITY, cuts[i]);
            for (at, value) in values.iter().enumerate().take(to.saturating_sub(1)).skip(from) {
                cost += (value - before).abs() - (value - after).abs();
                if cost < least.0 {
                    least = (cost, at + 1);
                }
            }
            cuts[i] = least.1.clamp(from + 1, to - 1);
        }
    }
}

/// Removes cuts between levels that differ too little, the smallest first.
fn prune(values: &[f64], noise: &Noise, cuts: &mut Vec<usize>) {
    loop {
        let step = |i: usize| {
            let (from, to) = between(values, cuts, i);
            let (before, after) = (median(&values[from..cuts[i]])?, median(&values[cuts[i]..to])?);
            let least = least_step(noise, before.abs().max(after.abs()));
            Some((after - before).abs() / least)
        };
        let steps = (0..cuts.len()).map(|i| (step(i).unwrap_or(0.0), i));
        match steps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((size, i)) if size < 1.0 => drop(cuts.remove(i)),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests;
