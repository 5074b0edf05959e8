//! Columns that hold the same numbers as another column.

use std::collections::{BTreeMap, HashMap, HashSet};

use proofmark_model::Subsystem;

use crate::figure::{Figure, Metric, Statistic};

/// For a figure in a column that equals another, the figure of the same place there.
pub(crate) type EqualColumns = HashMap<usize, usize>;

/// Fewer different numbers may agree by chance: a coarse timer repeats itself.
const LEAST_DIFFERENT: usize = 3;

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
        let values: Vec<u64> = column.iter().map(|i| figures[*i].value.to_bits()).collect();
        if values.iter().collect::<HashSet<_>>().len() >= LEAST_DIFFERENT {
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
