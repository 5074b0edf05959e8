//! The rounds of a workload: their windows as lines of blocks, over time and by rate, and their
//! figures by vCPU placement.

use proofmark_model::{CpuPlacement, Measurement, Round};

use super::label::{Group, MIXED, figure_of};
use super::num::{Scale, percent};
use super::shared_parts::{keyed, statistic};
use super::table::Table;
use super::text::clean;
use crate::spark::blocks;

/// Blocks per round, and maximum number of rounds that are drawn.
const PER_ROUND: usize = 4;
const MOST_ROUNDS: usize = 20;

/// Steps of the rate in a line: all rates below 65 % are in one.
const STEPS: usize = 8;

const OVER_TIME: &str = "The rate of each round over its time, all threads together, in four \
    blocks per round. Full height is that round's highest rate. At most 20 rounds are drawn.";
const BY_RATE: &str = "The distribution of the windows by rate, as a share of the round's \
    attainable figure: below 65 %, then in steps of 5 %, then from 95 % on. Full height is the \
    most frequent step.";

const PLACEMENT: &str = "The place of two threads' CPUs before and after a round: two hardware \
    threads of one core (SMT siblings), or two cores. In parentheses is the time that a cache line \
    takes to the other CPU and back. Of several such times, the shortest is near and the longest \
    far, as on another chip of the package or another socket. A hypervisor may move vCPUs at any \
    time.";

/// The headline figures by vCPU placement; without rows where no configuration had several
/// placements.
pub(super) fn by_placement(group: &Group, scale: &Scale) -> Table {
    let why = |placement: &CpuPlacement| {
        let missing = placement.figure.as_ref().and_then(|f| f.missing.clone());
        missing.unwrap_or_else(|| "the placement of the CPU pairs was mixed".to_owned())
    };
    let several = group.all.iter().filter(|m| m.cpu_placements.len() > 1);
    keyed(group, "by vCPU placement")
        .column("placement", |(_, p): &(&Measurement, &CpuPlacement)| clean(&p.name))
        .explained("placement", PLACEMENT)
        .measured("of the time", "%", |(_, p)| percent(p.share).ok_or("not a share"))
        .number("rounds", |(_, p)| p.rounds.to_string())
        .measured(figure_of(group), scale.label(), |(_, p)| {
            p.figure.as_ref().and_then(|f| scale.number(f.value?)).ok_or_else(|| why(p))
        })
        .when(figure_of(group) == MIXED, |table| table.column("statistic", |(m, _)| statistic(m)))
        .measured("±", "%", |(_, p)| {
            p.figure.as_ref().and_then(|f| percent(f.half_width()?)).ok_or_else(|| why(p))
        })
        .rows(several.flat_map(|m| m.cpu_placements.iter().map(move |p| (*m, p))))
}

/// A row per configuration that was cut into windows.
pub(super) fn table(group: &Group) -> Table {
    keyed(group, "windows of the rounds")
        .column("over time", |m: &&Measurement| over_time(m))
        .explained("over time", OVER_TIME)
        .column("by rate", |m| by_rate(m))
        .explained("by rate", BY_RATE)
        .rows(group.all.iter().copied().filter(|m| m.has_rounds()))
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
