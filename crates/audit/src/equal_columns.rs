//! Columns that hold the same numbers as another column.

use std::collections::{BTreeMap, HashMap, HashSet};

use proofmark_model::Subsystem;

use crate::figure::Figure;
use crate::quantity::{Metric, Statistic};

/// For a figure in a column that equals another, the figure of the same place there.
pub(crate) type EqualColumns = HashMap<usize, usize>;

/// Fewer different numbers may agree by chance: a coarse timer repeats itself.
const LEAST_DIFFERENT: usize = 3;

/// So many columns could have been printed, by the range and the last digit of the numbers: fewer
/// may agree by chance, as those of a link that is full.
const LEAST_POSSIBLE: f64 = 1000.0;

/// Whether the column of another operation would hardly be the same by chance.
fn is_particular(column: &[&Figure]) -> bool {
    let values = || column.iter().map(|figure| figure.value);
    let different: HashSet<u64> = values().map(f64::to_bits).collect();
    let range = values().fold(0.0, f64::max) - values().fold(f64::INFINITY, f64::min);
    let digit = column.iter().map(|figure| 2.0 * figure.rounding() * figure.value);
    let digit = digit.filter(|digit| *digit > 0.0).fold(f64::INFINITY, f64::min);
    let possible = (range / digit + 1.0).powi(column.len().min(1000) as i32);
    different.len() >= LEAST_DIFFERENT && possible >= LEAST_POSSIBLE
}

/// Compares the numbered trials of every point, and the means and the deviations of every
/// operation over its blocks and threads, with all others of the same unit. Of two equal columns
/// both are named: which one was copied the numbers do not say.
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

/// Where the numbers of a column stand: of which tool and statistic, and at which block and
/// threads each.
type Place<'a> = (Subsystem, &'a str, Metric, Statistic, Vec<(Option<u64>, Option<u64>)>);

/// The means and the deviations of each operation of a tool, by block and threads.
fn over_settings(figures: &[Figure]) -> impl Iterator<Item = (Option<Place<'_>>, Vec<usize>)> {
    let mut columns: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let summaries = [Statistic::Mean, Statistic::Deviation];
    for f in figures.iter().filter(|f| summaries.contains(&f.statistic)) {
        let of = (f.subsystem, f.tool.as_str(), f.metric, f.statistic);
        let column = (of, f.operation.as_str(), f.metric_name.as_str(), f.unit.as_str());
        columns.entry(column).or_default().push(((f.block, f.threads), f.index));
    }
    columns.into_iter().map(|(((subsystem, tool, metric, statistic), ..), mut column)| {
        column.sort_unstable();
        let (settings, figures) = column.into_iter().unzip();
        (Some((subsystem, tool, metric, statistic, settings)), figures)
    })
}
