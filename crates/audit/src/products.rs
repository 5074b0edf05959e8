//! Detection of latencies that were computed from throughputs, by the product of both.
//!
//! A measured latency and a measured throughput are independent: more threads, other blocks and
//! other operations change their product. A product that stays the same while the rates differ
//! shows one of two things. Either one was divided out of the other, or the same number of
//! operations was always in flight (Little's law).

use std::collections::{BTreeMap, HashMap};

use proofmark_model::Subsystem;

use crate::figure::Figure;
use crate::index::{Index, Point};
use crate::quantity::{Metric, Statistic};

/// Tolerance for equal products: three digits leave 0.5 %, and two figures are multiplied.
const PRINTED: f64 = 0.01;
/// Minimum ratio of the rates: similar rates do not show what the product depends on.
const RATES_DIFFER: f64 = 1.1;
/// Minimum of points with an equal product: two could agree by chance.
const MIN_EQUAL: usize = 3;

/// Minimum of tied points that shows that a tool computes its latencies. One in ten that is not
/// tied is then a misprint.
const MIN_TIED: usize = 9;
const ONE_IN: usize = 10;

/// Tie between a latency and a throughput: their constant product.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Product {
    /// Latency x throughput in bytes or bits, divided by the block if `per_block`.
    pub constant: f64,
    /// True if the product is constant only after division by the block.
    pub per_block: bool,
    /// Points of this tool that share the product.
    pub shared: usize,
    pub of: usize,
    /// True if only this figure differs: a misprint among tied figures.
    pub odd: bool,
    /// True if true latencies would give the same with a queue or window of constant size.
    pub in_flight: bool,
}

/// A latency with its throughput.
struct Pair {
    index: usize,
    product: f64,
    rate: f64,
    block: Option<f64>,
    threads: f64,
    /// Latency x throughput / block: operations in flight, by Little's law.
    in_flight: Option<f64>,
}

/// Returns the latencies that are tied to a throughput, by index: numbered trials, means without
/// trials, and means whose trials are all tied.
pub(crate) fn find(index: &Index) -> HashMap<usize, Product> {
    let mut groups: BTreeMap<(Subsystem, &str), Vec<Pair>> = BTreeMap::new();
    for figure in index.figures().iter().filter(|f| f.metric == Metric::Latency) {
        if figure.statistic == Statistic::Deviation
            || figure.statistic == Statistic::Mean && !index.trial_indexes(figure).is_empty()
        {
            continue;
        }
        // Operations per second are left out: latency x rate is the number in flight (Little's
        // law), for true latencies too, and no column gives the queue depth.
        let rate = index.partner_in(figure, Metric::Throughput);
        if let Some(pair) = rate.and_then(|rate| pair(figure, rate)) {
            groups.entry((figure.subsystem, figure.tool.as_str())).or_default().push(pair);
        }
    }
    let mut found = HashMap::new();
    for ((subsystem, _), pairs) in &groups {
        tied(*subsystem, pairs, false, &mut found);
        tied(*subsystem, pairs, true, &mut found);
    }
    let means = means_of_tied(index, &found);
    found.extend(means);
    found
}

/// Returns a latency and its throughput if their product is a number above 0.
fn pair(latency: &Figure, throughput: &Figure) -> Option<Pair> {
    let rate = throughput.level()?;
    let product = latency.level()? * rate;
    let block = latency.block.map(|b| b as f64);
    let bits = throughput.subsystem.info().counts_bits;
    let bytes = if bits { product / 8.0 } else { product };
    (product > 0.0).then_some(Pair {
        index: latency.index,
        product,
        rate,
        block,
        threads: latency.threads.map_or(1.0, |t| t as f64),
        in_flight: block.map(|b| bytes / b),
    })
}

/// Returns the pairs that share a product, if most pairs do.
fn tied(
    subsystem: Subsystem,
    pairs: &[Pair],
    per_block: bool,
    found: &mut HashMap<usize, Product>,
) {
    let scaled = |p: &Pair| Some(if per_block { p.product / p.block? } else { p.product });
    let mut products: Vec<f64> = pairs.iter().filter_map(scaled).collect();
    products.sort_by(f64::total_cmp);
    let Some(&constant) = products.get(products.len() / 2) else { return };
    let near = |p: &&Pair| scaled(p).is_some_and(|x| (x / constant - 1.0).abs() <= PRINTED);
    let (shared, others): (Vec<&Pair>, Vec<&Pair>) = pairs.iter().partition(|p| near(p));
    // With one synchronous operation in flight per thread, true latencies also give threads x block
    // (Little's law).
    let synchronous = |p: &Pair| p.threads * if per_block { 1.0 } else { p.block.unwrap_or(1.0) };
    let ties = shared.len() >= MIN_EQUAL
        && shared.len() * 2 >= products.len()
        && spread(shared.iter().map(|p| p.rate)) >= RATES_DIFFER
        && spread(shared.iter().map(|p| synchronous(p))) >= RATES_DIFFER;
    if ties {
        let product = Product {
            constant,
            per_block,
            shared: shared.len(),
            of: products.len(),
            odd: false,
            // A network keeps a window of bytes in flight, for any block size.
            in_flight: subsystem.info().has_server || constant_queue(&shared),
        };
        if !product.in_flight && shared.len() >= MIN_TIED && others.len() * ONE_IN <= pairs.len() {
            let odd = Product { odd: true, ..product.clone() };
            for pair in others {
                found.entry(pair.index).or_insert_with(|| odd.clone());
            }
        }
        found.extend(shared.iter().map(|p| (p.index, product.clone())));
    }
}

/// True if the same whole number of operations may have been in flight; a fraction cannot be.
fn constant_queue(shared: &[&Pair]) -> bool {
    let Some(depth) = shared.first().and_then(|p| p.in_flight) else { return false };
    let depth = depth.round().max(1.0);
    shared.iter().all(|p| p.in_flight.is_some_and(|n| (n / depth - 1.0).abs() <= PRINTED))
}

fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) =
        values.fold((f64::INFINITY, 0.0), |(l, m): (f64, f64), v| (l.min(v), m.max(v)));
    most / least
}

/// Adds means whose trials are all tied. Trials are examined once per point, not once per figure.
fn means_of_tied(index: &Index, found: &HashMap<usize, Product>) -> Vec<(usize, Product)> {
    let mut points: HashMap<Point, Option<&Product>> = HashMap::new();
    let is_mean = |f: &&Figure| f.metric == Metric::Latency && f.statistic == Statistic::Mean;
    let tied = |figure: &Figure| {
        let product = points.entry(index.point(figure));
        let product = product.or_insert_with(|| tied_by_all(index.trial_indexes(figure), found));
        Some((figure.index, (*product)?.clone()))
    };
    index.figures().iter().filter(is_mean).filter_map(tied).collect()
}

/// Returns the first trial's product if every trial has one.
fn tied_by_all<'a>(trials: &[usize], found: &'a HashMap<usize, Product>) -> Option<&'a Product> {
    let first = found.get(trials.first()?)?;
    trials.iter().all(|i| found.get(i).is_some_and(|p| !p.odd)).then_some(first)
}
