//! The windows of a workload's rounds as lines of blocks: over time, and by their rate.

use proofmark_model::{Measurement, Round};

use super::keyed::{caption, keyed, keys};
use super::label::Group;
use super::table::{Cell, Table};
use crate::spark::blocks;

/// Blocks of a round, and rounds of which so many are drawn.
const PER_ROUND: usize = 4;
const MOST_ROUNDS: usize = 20;

/// Steps of the rate in a line: those below 65 % are one.
const STEPS: usize = 8;

const OVER_TIME: &str = "The rate of each round over its time, all threads together: four blocks a round, full height is \
    that round's highest. At most 20 rounds are drawn.";
const BY_RATE: &str = "How often windows had which rate, as a share of the round's attainable figure: below 65 %, then \
    in steps of 5 % up to 95 % and more. Full height is the most frequent.";

/// A row per configuration that was cut into windows.
pub(super) fn table(group: &Group) -> Table {
    let mut table = keyed(group, caption(group, "windows of the rounds"), &[])
        .column("over time")
        .explained("over time", OVER_TIME)
        .column("by rate")
        .explained("by rate", BY_RATE);
    for m in group.all.iter().filter(|m| m.has_rounds()) {
        let mut cells = keys(group, m, &mut table, &[]);
        cells.push(Cell::text(over_time(m)));
        cells.push(Cell::text(by_rate(m)));
        table.push(cells);
    }
    table
}

fn over_time(m: &Measurement) -> String {
    let round = |round: &Round| {
        let digits: Vec<f64> =
            round.strip.chars().filter_map(|c| Some(f64::from(c.to_digit(10)?) / 9.0)).collect();
        let each = digits.len().div_ceil(PER_ROUND).max(1);
        let mean = |part: &[f64]| Some(part.iter().sum::<f64>() / part.len() as f64);
        blocks(digits.chunks(each).map(mean))
    };
    m.all_rounds().take(MOST_ROUNDS).map(round).collect::<Vec<_>>().join(" ")
}

fn by_rate(m: &Measurement) -> String {
    let mut steps = [0_u64; STEPS];
    for round in m.all_rounds() {
        let low = round.histogram.len().saturating_sub(STEPS);
        for (at, count) in round.histogram.iter().enumerate() {
            steps[at.saturating_sub(low).min(STEPS - 1)] += u64::from(*count);
        }
    }
    let most = steps.iter().copied().max().unwrap_or(0).max(1) as f64;
    blocks(steps.map(|n| Some(n as f64 / most)))
}
