//! proofmark's side of the pairs. Tables, bars and ratios all compare a tool with these trials and
//! no others.

use proofmark_model::{Better, Measurement, Reference, counted, summarise};

use crate::view::num::{ends, percent, percentage};
use crate::view::references::{ratio, ratio_interval};
use crate::view::text::joined;

/// proofmark's figures in the pairs with a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Median of proofmark's trials, in the measurement's unit.
    pub value: f64,
    /// The 95 % interval of the median.
    pub interval: Option<[f64; 2]>,
    /// The share of the measurement's ceiling, 1 for all of it; `None` without a ceiling.
    pub share: Option<f64>,
}

/// proofmark's side of the pairs; `None` where no pair was recorded.
pub fn paired(m: &Measurement, r: &Reference) -> Option<Paired> {
    let value = r.paired_median()?;
    let interval = summarise(&r.paired_values()).and_then(|s| s.ci95);
    let share = m.ceiling.as_ref().filter(|_| m.efficiency.is_some()).map(|c| match m.better {
        Better::Higher => value / c.value,
        Better::Lower => c.value / value,
    });
    Some(Paired { value, interval, share: share.filter(|s| s.is_finite()) })
}

impl Paired {
    /// The share of the ceiling in percent, without the sign.
    pub fn percent(&self) -> Option<String> {
        self.share.and_then(percent)
    }
}

/// Number of pairs that an interval needs.
pub const PAIRS: usize = 6;

/// `undecided: the tool's trials differ by 64 %` of too few pairs for an interval, where the trials of
/// either side lie on both sides of the other's figure; empty otherwise.
pub fn undecided_by_few(r: &Reference) -> String {
    let few = r.ratio.ci95.is_none() && r.trials.len() < PAIRS;
    let sides = [("the tool's", r.trials.clone(), r.paired_median()), {
        ("proofmark's", r.paired_values(), Some(r.value))
    }];
    let around = sides.iter().filter_map(|(whose, trials, other)| {
        let ([low, high], other) = (ends(trials.iter().copied()), (*other)?);
        let spread = high / low - 1.0;
        (low < other && other < high && spread.is_finite()).then_some((whose, spread))
    });
    let widest = around.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| few);
    let words = widest.and_then(|(whose, spread)| {
        Some(format!("undecided: {whose} trials differ by {}", percentage(spread)?))
    });
    words.unwrap_or_default()
}

/// Factor from the median of the pairs' ratios, and multiple of the others' greatest, from which on
/// a pair is named.
const OUTLYING: f64 = 1.5;
const FARTHER: f64 = 2.0;

/// `pair 5: 5.052, the others 1.504–1.934`: the pair whose ratio is far from those of the others, which
/// agree. `None` where there is none.
pub fn outlying_pair(r: &Reference) -> Option<String> {
    let ratios: Vec<f64> =
        r.paired_values().iter().zip(&r.trials).map(|(ours, theirs)| ours / theirs).collect();
    let distance = |ratio: f64| (ratio / r.ratio.median).ln().abs();
    let farthest =
        (0..ratios.len()).max_by(|a, b| distance(ratios[*a]).total_cmp(&distance(ratios[*b])))?;
    let others = (0..ratios.len()).filter(|at| *at != farthest).map(|at| ratios[at]);
    let [low, high] = ends(others);
    let usual = distance(low).max(distance(high));
    let far = distance(ratios[farthest]);
    (ratios.len() > 2 && far > OUTLYING.ln() && far > FARTHER * usual).then_some(())?;
    let others = ratio_interval([low, high])?;
    Some(format!("pair {}: {}, the others {others}", farthest + 1, ratio(ratios[farthest])?))
}

/// proofmark / tool of the medians shown. Where the pairs contradict it, both ratios: `0.155; pairs
/// 1.104`.
pub fn factor(r: &Reference) -> Option<String> {
    let shown = ratio(r.shown_ratio())?;
    match r.is_undecided() {
        true => Some(format!("{shown}; pairs {}", ratio(r.ratio.median)?)),
        false => Some(shown),
    }
}

/// `1.096 times iperf3 (0.269–3.225)`, `1.236 times hpl (3 pairs, no interval)`, `undecided: 0.155; pairs 1.104 times fio (0.9–1.3)`.
pub fn phrase(r: &Reference, tool: &str) -> Option<String> {
    let is_undecided = r.is_undecided() || !undecided_by_few(r).is_empty();
    let undecided = if is_undecided { "undecided: " } else { "" };
    let interval = r.ratio.ci95.and_then(ratio_interval);
    let interval = interval
        .unwrap_or_else(|| format!("{}, no interval", counted(r.paired.len() as u64, "pair")));
    let interval = joined([Some(interval), outlying_pair(r)].into_iter().flatten(), "; ");
    Some(format!("{undecided}{} times {tool} ({interval})", factor(r)?))
}
