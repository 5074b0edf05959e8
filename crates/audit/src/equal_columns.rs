//! Columns that hold the same numbers as another column.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::figure::{Figure, Statistic};
use crate::series::Series;

/// For a figure in a column that equals another, the figure of the same trial there.
pub(crate) type EqualColumns = HashMap<usize, usize>;

/// Fewer different numbers may agree by chance: a coarse timer repeats itself.
const LEAST_DIFFERENT: usize = 3;

/// Compares the numbered trials of every series and number of threads with all others of
/// the same metric and unit. Of two equal columns both are named: which one was copied the
/// numbers do not say.
pub(crate) fn find(figures: &[Figure], series: &[Series]) -> EqualColumns {
    let mut columns: HashMap<(String, Vec<u64>), Vec<Vec<usize>>> = HashMap::new();
    for one in series {
        let mut by_threads: BTreeMap<Option<u64>, Vec<(Statistic, usize, u64)>> = BTreeMap::new();
        for &index in &one.members {
            let figure = &figures[index];
            if matches!(figure.statistic, Statistic::Trial(_)) {
                by_threads.entry(figure.threads).or_default().push((
                    figure.statistic,
                    index,
                    figure.value.to_bits(),
                ));
            }
        }
        for mut column in by_threads.into_values() {
            column.sort_unstable();
            let values: Vec<u64> = column.iter().map(|(_, _, bits)| *bits).collect();
            if values.iter().collect::<HashSet<_>>().len() < LEAST_DIFFERENT {
                continue;
            }
            let column: Vec<usize> = column.into_iter().map(|(_, i, _)| i).collect();
            let key = (figures[column[0]].unit.clone(), values);
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
