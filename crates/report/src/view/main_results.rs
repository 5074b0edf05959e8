//! The main results, one row each, for the cards of the page and as tables.

use proofmark_model::{FigureKind, Verdict};
use serde::Serialize;

use super::columns::{Columns, Entry};
use super::delivered_share::Lost;
use super::table::Table;
use super::text::{and_list, capital, joined};
use super::workload_figure::Near;

/// The results of a subsystem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenPart {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The title: `CPU`, `Memory`.
    pub title: &'static str,
    /// The title within a sentence: `CPU`, `memory`.
    #[serde(skip)]
    pub word: &'static str,
    /// The disk or the network path that was measured; empty for the machine itself.
    pub about: String,
    /// The rows, one per result.
    pub rows: Vec<ScreenRow>,
}

/// A main result with the data to judge it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenRow {
    /// The question that the row answers: `Random read`.
    pub title: String,
    /// `4 KiB, depth 32`: the parameters that the title does not imply.
    pub configuration: String,
    /// The workload's id.
    pub workload: String,
    /// The anchor of the workload's section on the page.
    pub anchor: String,
    /// The kind of the headline: attainable for CPU loads, typical for memory loads, else
    /// delivered.
    pub kind: FigureKind,
    /// The headline figure; `None` where there is no usable result.
    pub value: Option<String>,
    /// The delivered figure, where the headline is another.
    pub delivered: Option<String>,
    /// The delivered share of the headline, where it is so small that a reader must see it; or the
    /// reason why the delivered figure is missing.
    pub lost: Option<Lost>,
    /// The unit of both figures; I/Os per second for a disk's random I/O.
    pub unit: String,
    /// Half the width of the headline's interval as a share: `1.9 %`.
    pub within: Option<String>,
    /// Half the width of the interval of one run by the variation between earlier runs, and their
    /// number: `4.0 % (9)`. `None` where it is not known.
    pub between: Option<String>,
    /// The 95 % interval of the delivered figure, which `check` tests: `75.48–105.8`.
    pub delivered_interval: Option<String>,
    /// `3 trials`, where they are too few for an interval.
    pub few: Option<String>,
    /// The comparison with the ceiling.
    pub near: Option<Near>,
    /// The figures of the rounds, or trials, in order, as differences from their median: 0.5 for
    /// 50 % more.
    #[serde(skip)]
    pub rounds: Vec<f64>,
    /// The share of the datagrams that were lost, of a rate of datagrams: `3.1 %`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// p50 and p99 of the times of single operations.
    pub percentiles: Option<[String; 2]>,
    /// True if p99 may be that of a disturbance.
    pub has_disturbed_tail: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why there is no figure; empty where there is one.
    pub why_none: String,
    /// `1.010 times fio (0.990–1.020)`; `None` where no reference tool has a valid result.
    pub reference: Option<String>,
}

impl ScreenRow {
    /// `FP peak, 2 CPUs, avx512`.
    pub fn name(&self) -> String {
        joined([&*self.title, &self.configuration], ", ")
    }

    /// `UDP throughput, 1 stream (5.0 % lost)`: a column of its own would leave no room for intervals.
    fn name_with_loss(&self) -> String {
        let lost = self.loss.as_ref().map_or_else(String::new, |share| format!(" ({share} lost)"));
        format!("{}{lost}", self.name())
    }

    /// The delivered figure with the unit, for a row without a figure before it.
    pub fn delivered_with_unit(&self) -> Option<String> {
        self.delivered.as_ref().map(|value| format!("{value} {}", self.unit))
    }
}

/// Ends of the common scale of the lines of rounds, as shares of each line's median.
const SPREADS: [f64; 4] = [0.1, 0.2, 0.5, 1.0];

/// The smallest scale that holds the rounds of all rows; values beyond the largest are cut.
pub fn spread(parts: &[ScreenPart]) -> f64 {
    let rounds = parts.iter().flat_map(|p| &p.rows).flat_map(|r| &r.rounds);
    let most = rounds.fold(0.0_f64, |most, v| most.max(v.abs()));
    SPREADS.into_iter().find(|s| *s >= most).unwrap_or(SPREADS[SPREADS.len() - 1])
}

/// The note on a p99 that something may have made. Every result has its own causes.
const DISTURBED_TAIL: &str =
    "p99 may be that of a disturbance; the finding disturbed_tail has the cause";

/// The column of attainable and typical figures, and its meaning.
const UNDISTURBED: [&str; 2] = [
    "undisturbed",
    "Attainable for CPU loads, typical for memory loads: both leave out the time that was taken \
     from the threads. A complete solve cannot, so it has delivered alone.",
];

/// The column of the variation between runs, and its meaning.
const BETWEEN_RUNS: [&str; 2] = [
    "between runs",
    "Half of the 95 % interval of the machine about the figure of one run, from earlier runs of the \
     history (their number). The larger of it and ± holds.",
];

/// The results as tables: one of the machine itself, one of devices and networks, so that each has
/// only the columns that it needs.
pub fn result_tables(parts: &[ScreenPart]) -> Vec<Table> {
    let (own, others): (Vec<_>, Vec<_>) = parts.iter().partition(|p| p.about.is_empty());
    [own, others].iter().filter(|parts| !parts.is_empty()).map(|p| table(p)).collect()
}

/// The title of the first column of figures: the kind of the headlines, or the word for those of
/// several kinds that leave out taken time.
fn first_column<'a>(rows: impl Iterator<Item = &'a ScreenRow>) -> &'static str {
    let mut kinds: Vec<FigureKind> =
        rows.map(|r| r.kind).filter(|kind| *kind != FigureKind::Delivered).collect();
    kinds.dedup();
    match kinds.as_slice() {
        [] => FigureKind::Delivered.as_str(),
        [one] => one.as_str(),
        _ => UNDISTURBED[0],
    }
}

/// Returns true if the row's headline is a figure of the column with that title.
fn belongs_to(row: &ScreenRow, title: &str) -> bool {
    match title == UNDISTURBED[0] {
        true => row.kind != FigureKind::Delivered,
        false => row.kind.as_str() == title,
    }
}

fn table(parts: &[&ScreenPart]) -> Table {
    let rows = || parts.iter().flat_map(|p| &p.rows);
    let has = |what: fn(&ScreenRow) -> bool| rows().any(what);
    let first = first_column(rows());
    let delivered = has(|r| r.delivered.is_some());
    let only_delivered = move |r: &ScreenRow| delivered && !belongs_to(r, first);
    let about = |p: &&ScreenPart| match p.about.as_str() {
        "" => p.title.to_owned(),
        about => format!("{}: {about}", p.title),
    };
    let value = |r: &ScreenRow| match &r.value {
        Some(value) => Entry::from(format!("{value} {}", r.unit)),
        None => Entry::from("-").noted(&*r.why_none),
    };
    let percentile = |r: &ScreenRow, at: usize| r.percentiles.as_ref().map(|p| p[at].clone());
    Columns::new(joined(parts.iter().map(about), "; "))
        .column(&capital(&and_list(parts.iter().map(|p| p.word))), |r: &&ScreenRow| {
            r.name_with_loss()
        })
        .keys()
        .number(first, |r| if only_delivered(r) { "-".into() } else { value(r) })
        .when(first == UNDISTURBED[0], |table| table.explained(UNDISTURBED[0], UNDISTURBED[1]))
        // A ± and an interval are next to the figure that they belong to.
        .number("±", move |r| match only_delivered(r) {
            true => None,
            false => r.within.clone().or_else(|| r.few.clone()),
        })
        .spare(if delivered { 2 } else { 3 })
        .when(has(|r| r.between.is_some()), |table| {
            table
                .number(BETWEEN_RUNS[0], |r| r.between.clone())
                .spare(1)
                .explained(BETWEEN_RUNS[0], BETWEEN_RUNS[1])
        })
        .when(delivered, |table| {
            table.number("delivered", |r| match only_delivered(r) {
                true => value(r),
                false if r.value.is_none() => r.delivered_with_unit().into(),
                false => match &r.lost {
                    Some(Lost::Unknown(why)) => Entry::from("-").noted(&**why),
                    _ => r.delivered.clone().into(),
                },
            })
        })
        .when(has(|r| r.delivered_interval.is_some()), |table| {
            let interval = |r: &&ScreenRow| r.delivered_interval.clone().or_else(|| r.few.clone());
            table.number("95 % interval", interval).spare(1)
        })
        .when(has(|r| r.near.is_some()), |table| {
            let near = |r: &&ScreenRow| match &r.near {
                Some(near) => Entry::from(format!("{} %", near.percent)).noted(near.note),
                None => None.into(),
            };
            table.number("of ceiling", near).spare(if delivered { 3 } else { 2 })
        })
        .when(has(|r| r.percentiles.is_some()), |table| {
            let table = table.number("p50", move |r| percentile(r, 0)).spare(3);
            let p99 = move |r: &&ScreenRow| {
                let note = if r.has_disturbed_tail { DISTURBED_TAIL } else { "" };
                percentile(r, 1).map_or_else(|| None.into(), |p99| Entry::from(p99).noted(note))
            };
            table.number("p99", p99).spare(1)
        })
        .column("verdict", |r| match r.value.is_some() || r.verdict != Verdict::Valid {
            true => Entry::from(r.verdict),
            // A configuration that was not measured has no verdict.
            false => "-".into(),
        })
        .rows(rows())
}
