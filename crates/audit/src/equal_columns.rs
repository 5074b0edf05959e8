//! Columns that hold the same numbers as another column.

use std::collections::{BTreeMap, HashMap, HashSet};

use proofmark_model::Subsystem;

use crate::figure::Figure;
use crate::quantity::{Metric, Statistic};

/// Maps a figure to the figure in the same row of an equal column, both by index.
pub(crate) type EqualColumns = HashMap<usize, usize>;

/// Minimum of distinct numbers in a column: fewer may agree by chance, as a coarse timer repeats.
const MIN_DISTINCT: usize = 3;

/// Minimum of columns that could be printed in the numbers' range with their last digit. Fewer may
/// agree by chance, as those of a saturated link do.
const MIN_POSSIBLE: f64 = 1000.0;

/// True if another operation's column is unlikely to be the same by chance.
fn is_particular(column: &[&Figure]) -> bool {
    let values = || column.iter().map(|figure| figure.value);
    let different: HashSet<u64> = values().map(f64::to_bits).collect();
    let range = values().fold(0.0, f64::max) - values().fold(f64::INFINITY, f64::min);
    let digit = column.iter().map(|figure| 2.0 * figure.rounding() * figure.value);
    let digit = digit.filter(|digit| *digit > 0.0).fold(f64::INFINITY, f64::min);
    let possible = (range / digit + 1.0).powi(column.len().min(1000) as i32);
    different.len() >= MIN_DISTINCT && possible >= MIN_POSSIBLE
}

/// Finds equal columns of one unit. Columns are the numbered trials of every point, and each
/// summary (mean, deviation, ..., or not stated) of every operation over its blocks and threads. Names both columns: the numbers
/// do not show which one is the copy.
pub(crate) fn find<'a>(
    figures: &[Figure],
    points: impl Iterator<Item = &'a Vec<usize>>,
) -> EqualColumns {
    let trials = points.map(|trials| {
        let mut column: Vec<usize> = trials.clone();
        column.sort_by_key(|i| (figures[*i].statistic, *i));
        (None, column)
    });
    let mut columns: HashMap<_, Vec<Vec<usize>>> = HashMap::new();
    for (place, column) in trials.chain(over_settings(figures)) {
        let numbers: Vec<&Figure> = column.iter().map(|i| &figures[*i]).collect();
        if is_particular(&numbers) {
            let values: Vec<u64> = numbers.iter().map(|figure| figure.value.to_bits()).collect();
            let key = (figures[column[0]].unit.as_str(), place, values);
            columns.entry(key).or_default().push(column);
        }
    }
    let mut found = EqualColumns::new();
    for same in columns.values().filter(|same| same.len() > 1) {
        for (n, column) in same.iter().enumerate() {
            let other = &same[if n == 0 { 1 } else { 0 }];
            found.extend(column.iter().copied().zip(other.iter().copied()));
        }
    }
    found
}

/// Identity of a column: its tool and statistic, and the block and threads of each of its numbers.
type Place<'a> = (Subsystem, &'a str, Metric, Statistic, Vec<(Option<u64>, Option<u64>)>);

/// Iterates over the summaries of each operation of a tool, by block and threads.
fn over_settings(figures: &[Figure]) -> impl Iterator<Item = (Option<Place<'_>>, Vec<usize>)> {
    let mut columns: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let is_summary = |f: &&Figure| !matches!(f.statistic, Statistic::Trial(_) | Statistic::Other);
    for f in figures.iter().filter(is_summary) {
        let operation = (f.subsystem, f.tool.as_str(), f.metric, f.statistic);
        let column = (operation, f.operation.as_str(), f.metric_name.as_str(), f.unit.as_str());
        columns.entry(column).or_default().push(((f.block, f.threads), f.index));
    }
    columns.into_iter().map(|(((subsystem, tool, metric, statistic), ..), mut column)| {
        column.sort_unstable();
        let (settings, figures) = column.into_iter().unzip();
        (Some((subsystem, tool, metric, statistic, settings)), figures)
    })
}
