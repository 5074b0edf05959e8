//! Columns that hold the same numbers as another column.

use std::collections::{HashMap, HashSet};

use crate::figure::Figure;

/// For a figure in a column that equals another, the figure of the same trial there.
pub(crate) type EqualColumns = HashMap<usize, usize>;

/// Fewer different numbers may agree by chance: a coarse timer repeats itself.
const LEAST_DIFFERENT: usize = 3;

/// Compares the numbered trials of every point with all others of the same unit. Of two equal
/// columns both are named: which one was copied the numbers do not say.
pub(crate) fn find<'a>(
    figures: &[Figure],
    points: impl Iterator<Item = &'a Vec<usize>>,
) -> EqualColumns {
    let mut columns: HashMap<(&str, Vec<u64>), Vec<Vec<usize>>> = HashMap::new();
    for trials in points {
        let mut column = trials.clone();
        column.sort_by_key(|i| (figures[*i].statistic, *i));
        let values: Vec<u64> = column.iter().map(|i| figures[*i].value.to_bits()).collect();
        if values.iter().collect::<HashSet<_>>().len() >= LEAST_DIFFERENT {
            let key = (figures[column[0]].unit.as_str(), values);
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
