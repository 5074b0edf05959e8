//! The rule by which a node is slow at a figure, on plain numbers.
//!
//! Each value is divided by its round's median over the nodes, so that changes of all nodes cancel.
//! A node is slow if at least 7 of 8 rounds are below 1 - margin. That is so exactly if its
//! deciding round is, the 7th from below. The margin shows how low the deciding round of a healthy
//! node may be by chance. It is the median of the nodes' deciding rounds, less k standard
//! deviations between them; at least [`FLOOR`]. So it includes both the permanent differences
//! between healthy nodes and the variation of their rounds.
//!
//! k is 3 or more. With it healthy nodes cause a false alarm at any figure of any node with
//! probability [`FALSE_ALARMS`] at most (Bonferroni). The standard deviation is robust, so that
//! slow nodes do not hide themselves. From few nodes it is imprecise. So it is moderated by the
//! other figures of its pool, after Smyth, *Linear models and empirical Bayes methods for assessing
//! differential expression in microarray experiments* (2004), and k is from Student's distribution.

use std::collections::BTreeMap;

pub use proofmark_model::FEWEST_NODES;
use proofmark_model::rounds_needed;

use crate::statistics::median;
use proofmark_model::student;

/// Smallest margin.
pub const FLOOR: f64 = 0.02;
/// Largest margin by which a node that is not slow is level. Beyond it "as fast as the others"
/// would mean little.
pub const LIMIT: f64 = 0.15;
/// Probability that a healthy fleet has a node that is called slow.
pub const FALSE_ALARMS: f64 = 0.01;
/// Smallest k, in standard deviations.
const LEAST_DEVIATIONS: f64 = 3.0;

/// Expected deviation between nodes of one kind before any is measured, as a share. Only a few
/// nodes with few figures need it.
const USUAL: f64 = 0.01;
/// Degrees of freedom of that expectation.
const USUAL_FREEDOM: f64 = 4.0;
/// Smallest speed of the middle pair of a round, relative to the best quarter of all pairs. Below
/// it many pairs of the round are slow.
const LEAST_OF_BEST: f64 = 0.75;
/// Standard deviations of a normal distribution in its median absolute deviation.
pub(super) const MAD_TO_DEVIATION: f64 = 1.482_6;
/// Factor of k for three nodes, whose median is one of them. With it simulated healthy fleets make
/// at most [`FALSE_ALARMS`], even if no figure has a fourth node.
const OF_THREE: f64 = 1.5;
/// Smallest deviation between nodes, for logarithms of nodes that do not differ at all.
const LEAST_SPREAD: f64 = 1e-4;

/// Returns how many nodes of a group must have a figure that is compared: 4, of a group of 4 three.
/// So one node without it does not hide the figure of the others.
pub fn fewest_values(nodes: usize) -> usize {
    FEWEST_NODES.min((3 * nodes).div_ceil(4))
}

/// The speeds of a group's nodes for one figure.
#[derive(Debug, Clone)]
pub struct Rounds {
    rounds: usize,
    /// Fewest slow rounds of a slow node, by node.
    needed: Vec<usize>,
    /// True if each value is that of two nodes.
    of_pairs: bool,
    /// Speeds node by node; NaN if there is none.
    speeds: Vec<f64>,
}

impl Rounds {
    /// Creates the rounds of `nodes` nodes without speeds.
    pub fn new(nodes: usize, rounds: usize) -> Self {
        let needed = vec![rounds_needed(rounds); nodes];
        Self { rounds, needed, of_pairs: false, speeds: vec![f64::NAN; nodes * rounds] }
    }

    /// Creates the rounds of pairs of nodes, with the planned number of rounds by node.
    pub fn for_pairs(planned: &[usize], rounds: usize) -> Self {
        let needed = planned.iter().map(|rounds| rounds_needed(*rounds)).collect();
        Self { needed, of_pairs: true, ..Self::new(planned.len(), rounds) }
    }

    /// Stores a speed (for a time, operations per second). Values that are not positive and finite
    /// do not count.
    pub fn set(&mut self, node: usize, round: usize, speed: f64) {
        let counts = speed.is_finite() && speed > 0.0;
        self.speeds[node * self.rounds + round] = if counts { speed } else { f64::NAN };
    }

    fn nodes(&self) -> usize {
        self.speeds.len().checked_div(self.rounds).unwrap_or(0)
    }

    /// Fewest values of a round that are compared, and fewest nodes of a figure. Of pairs each node
    /// counts: two that lost one node are alone.
    fn fewest(&self) -> usize {
        if self.of_pairs { FEWEST_NODES } else { fewest_values(self.nodes()) }
    }

    /// The speed that each round's speeds are compared with: the median over the nodes. A slow node
    /// makes its whole pair slow, so a third of the nodes may make more than half of the pairs
    /// slow. For pairs it is therefore never far below what the best quarter of all reach.
    fn references(&self) -> Vec<Option<f64>> {
        let best = self.upper_quartile().filter(|_| self.of_pairs);
        let reference = |round: usize| {
            let all = self.speeds.iter().skip(round).step_by(self.rounds);
            let mut all: Vec<f64> = all.copied().filter(|v| v.is_finite()).collect();
            // A pair that is alone in its round would be compared with itself.
            if all.len() < self.fewest() {
                return None;
            }
            if !self.of_pairs {
                return median(&all);
            }
            // The faster of two in the middle, so that one slow pair of two does not lower it.
            all.sort_by(f64::total_cmp);
            let middle = all.get(all.len() / 2).copied();
            middle
                .zip(best)
                .map(|(middle, best)| if middle < LEAST_OF_BEST * best { best } else { middle })
        };
        (0..self.rounds).map(reference).collect()
    }

    /// The upper quartile of all rounds of all nodes; `None` for too few nodes.
    fn upper_quartile(&self) -> Option<f64> {
        let nodes = self.speeds.chunks(self.rounds.max(1));
        let nodes = nodes.filter(|own| own.iter().any(|v| v.is_finite())).count();
        let mut all: Vec<f64> = self.speeds.iter().copied().filter(|v| v.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all.get(3 * all.len() / 4).copied().filter(|_| nodes >= FEWEST_NODES)
    }
}

/// Rounds to 4 decimals: a report has up to a million ratios.
pub(super) fn rounded(ratio: f32) -> f32 {
    if ratio < 1e3 { (ratio * 1e4).round() / 1e4 } else { ratio }
}

/// The median of rounds' ratios.
pub(super) fn median_ratio<'a>(ratios: impl IntoIterator<Item = &'a f32>) -> Option<f64> {
    median(&ratios.into_iter().map(|ratio| f64::from(*ratio)).collect::<Vec<_>>())
}

/// Result of the rule for a figure.
#[derive(Debug, Clone, Default)]
pub struct Ruled {
    /// The speed that each round's speeds are compared with.
    pub medians: Vec<Option<f64>>,
    /// Standard deviation between the nodes' deciding rounds, as a share.
    pub spread: Option<f64>,
    /// Rounds below 1 - margin are slow.
    pub margin: Option<f64>,
    /// Results by node.
    pub nodes: Vec<RuledNode>,
}

/// Result of the rule for a node at a figure.
#[derive(Debug, Clone, Default)]
pub struct RuledNode {
    /// Speed as a share of the nodes' median, by round.
    pub ratios: Vec<Option<f32>>,
    /// Number of rounds with a ratio.
    pub usable: usize,
    /// Number of rounds below the margin.
    pub below: usize,
    /// Number of such rounds that makes the node slow.
    pub needed: usize,
    /// True if the node is slow.
    pub slow: bool,
}

impl RuledNode {
    /// Creates a node without counted rounds. Among rounds beyond the planned ones, which make up
    /// for a lost partner, the same share must be slow.
    fn new(ratios: Vec<Option<f32>>, least: usize) -> Self {
        let usable = ratios.iter().flatten().count();
        Self { needed: least.max(rounds_needed(usable)), usable, ratios, ..Self::default() }
    }

    /// Returns true if enough rounds have a ratio.
    pub(super) fn decides(&self) -> bool {
        self.usable >= self.needed
    }

    /// The same with the rounds below the margin counted.
    pub(super) fn counted(mut self, margin: f64) -> Self {
        let is_below = |ratio: &&f32| f64::from(**ratio) < 1.0 - margin;
        self.below = self.ratios.iter().flatten().filter(is_below).count();
        self.slow = !self.ratios.is_empty() && self.below >= self.needed;
        self
    }

    /// Applies the rule to other ratios of a node.
    pub(super) fn from_ratios(ratios: Vec<Option<f32>>, margin: f64) -> Self {
        let least = rounds_needed(ratios.len());
        Self::new(ratios, least).counted(margin)
    }

    /// The logarithm of the round that decides; `None` if too few rounds have a ratio.
    fn deciding(&self) -> Option<f64> {
        let mut sorted: Vec<f32> = self.ratios.iter().flatten().copied().collect();
        sorted.sort_by(f32::total_cmp);
        let last = self.needed.checked_sub(1)?;
        sorted.get(last).map(|ratio| f64::from(*ratio).ln())
    }
}

/// Judges the figures of one group. Figures of a pool are expected to differ about as much between
/// nodes. `tests` is the number of nodes x figures that are judged in total.
pub fn apply<P: Ord>(figures: &[(P, Rounds)], tests: usize) -> Vec<Ruled> {
    let mut all: Vec<Ruled> = figures.iter().map(|(_, rounds)| relative(rounds)).collect();
    let seen = |(ruled, (_, rounds)): (&Ruled, &(P, Rounds))| Spread::seen(ruled, rounds.fewest());
    let spreads: Vec<Option<Spread>> = all.iter().zip(figures).map(seen).collect();
    let mut pools: BTreeMap<&P, Pool> = BTreeMap::new();
    for ((pool, _), spread) in figures.iter().zip(&spreads) {
        spread.iter().for_each(|spread| pools.entry(pool).or_default().add(spread));
    }
    let chance = FALSE_ALARMS / tests.max(1) as f64;
    for (ruled, ((pool, _), spread)) in all.iter_mut().zip(figures.iter().zip(&spreads)) {
        let (Some(spread), Some(pool)) = (spread, pools.get(pool)) else { continue };
        let (deviation, freedom) = pool.without(spread).prior().moderate(spread);
        let k = student(chance, freedom).max(LEAST_DEVIATIONS);
        let k = if spread.is_of_three() { OF_THREE * k } else { k };
        let margin = (-(spread.centre - k * deviation).exp_m1()).max(FLOOR);
        ruled.nodes = ruled.nodes.drain(..).map(|node| node.counted(margin)).collect();
        (ruled.spread, ruled.margin) = (Some(deviation.exp_m1()), Some(margin));
    }
    all
}

/// Divides every value by its round's median; judges nothing.
pub(super) fn relative(rounds: &Rounds) -> Ruled {
    let medians = rounds.references();
    let ruled_node = |node: usize| {
        let own = &rounds.speeds[node * rounds.rounds..][..rounds.rounds];
        let ratio = |(speed, median): (&f64, &Option<f64>)| {
            let ratio = (speed / (*median)?) as f32;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        };
        let ratios = own.iter().zip(&medians).map(ratio).collect();
        RuledNode::new(ratios, rounds.needed[node])
    };
    let nodes = (0..rounds.nodes()).map(ruled_node).collect();
    Ruled { medians, nodes, ..Ruled::default() }
}

/// Spread of the deciding rounds of a figure's nodes, as logarithms.
#[derive(Debug, Clone, Copy)]
struct Spread {
    centre: f64,
    deviation: f64,
    nodes: f64,
}

impl Spread {
    /// Derives the spread from the median and the median absolute deviation; `None` for too few
    /// nodes.
    fn seen(ruled: &Ruled, fewest: usize) -> Option<Self> {
        let all: Vec<f64> = ruled.nodes.iter().filter_map(RuledNode::deciding).collect();
        let centre = median(&all).filter(|_| all.len() >= fewest)?;
        let away: Vec<f64> = all.iter().map(|v| (v - centre).abs()).collect();
        let nodes = all.len() as f64;
        // For few values it is too low on average; the factor is within 3 % of simulated ones.
        let factor = MAD_TO_DEVIATION * (1.0 + 0.83 / (nodes - 1.7));
        Some(Self { centre, deviation: factor * median(&away)?, nodes })
    }

    /// The logarithm of the variance, unbiased.
    fn log_variance(&self) -> f64 {
        let deviation = self.deviation.max(LEAST_SPREAD) / (1.0 + 0.83 / (self.nodes - 1.7));
        let bias = if self.is_of_three() { 1.72 } else { 3.1 / (self.nodes - 0.9) };
        2.0 * deviation.ln() + bias
    }

    /// Returns true for three nodes, for which the fits to simulated values have values of their own.
    fn is_of_three(&self) -> bool {
        self.nodes < 3.5
    }

    /// Variance of that logarithm by chance, fitted to simulated values; an odd node adds nothing.
    fn log_noise(&self) -> f64 {
        if self.is_of_three() { 5.56 } else { 5.44 / (2.0 * (self.nodes / 2.0).floor() - 1.3) }
    }

    /// Degrees of freedom of a variance that varies as much.
    fn freedom(&self) -> f64 {
        let own = if self.is_of_three() { 0.0 } else { 0.8 };
        own + 2.0 / self.log_noise()
    }
}

/// Sums over the figures of a pool.
#[derive(Debug, Clone, Copy, Default)]
struct Pool {
    figures: f64,
    logs: f64,
    squares: f64,
    noise: f64,
    freedom: f64,
}

impl Pool {
    fn add(&mut self, spread: &Spread) {
        *self = self.plus(spread, 1.0);
    }

    /// The pool without one figure, so that no figure decides alone how much it may differ.
    fn without(&self, spread: &Spread) -> Self {
        self.plus(spread, -1.0)
    }

    fn plus(&self, spread: &Spread, times: f64) -> Self {
        let log = spread.log_variance();
        Self {
            figures: self.figures + times,
            logs: self.logs + times * log,
            squares: self.squares + times * log * log,
            noise: self.noise + times * spread.log_noise(),
            freedom: self.freedom + times * spread.freedom(),
        }
    }

    /// The expectation for one more figure.
    fn prior(&self) -> Prior {
        if self.figures < 2.5 {
            return Prior { variance: USUAL.powi(2), freedom: USUAL_FREEDOM };
        }
        let log = self.logs / self.figures;
        let squares = (self.squares - self.figures * log * log) / (self.figures - 1.0);
        // The true differences are the rest after chance and its standard error.
        let noise = self.noise / self.figures;
        let chance = noise * (1.0 + (2.0 / (self.figures - 1.0)).sqrt());
        let differ = (squares - chance).max(1e-9);
        // At most as certain as all of them together.
        let freedom = (1.0 + 2.0 / differ).min(self.freedom).max(USUAL_FREEDOM);
        Prior { variance: (log - 1.0 / freedom).exp(), freedom }
    }
}

/// Expected spread of a figure before its own nodes are examined.
#[derive(Debug, Clone, Copy)]
struct Prior {
    variance: f64,
    freedom: f64,
}

impl Prior {
    /// Standard deviation and degrees of freedom of a figure and its pool together.
    fn moderate(&self, spread: &Spread) -> (f64, f64) {
        let own = spread.freedom();
        let freedom = own + self.freedom;
        let variance = own * spread.deviation.powi(2) + self.freedom * self.variance;
        ((variance / freedom).sqrt(), freedom)
    }
}

#[cfg(test)]
mod tests;
