//! A line over time as one line of blocks: a sign per run, or one for several.

use proofmark_model::{Verdict, median};

use super::line::Line;
use crate::spark::{Spark, spark};

/// In place of an invalid result.
const INVALID: char = '✗';

/// A chart at most so many columns wide, at least one; with the most runs that share a sign, which
/// then shows the median of those that are not invalid.
pub fn chart(line: &Line, width: usize) -> (Spark, usize) {
    let each = line.moments.len().div_ceil(width.max(1)).max(1);
    let values = line.moments.chunks(each).map(|some| {
        let usable = some.iter().filter(|m| m.verdict != Verdict::Invalid);
        median(&usable.map(|m| m.value).collect::<Vec<_>>())
    });
    (spark(values, INVALID), each)
}
