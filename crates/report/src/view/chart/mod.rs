//! A chart as data: every picture over two axes is one, and one function draws it.
//!
//! The view says what is there: axes, series of values, marks of the axis. How it looks is said
//! where it is drawn (`html/chart`).

mod axis;
mod bars;

use proofmark_model::Verdict;
use serde::Serialize;

pub use self::axis::{Axis, Tick};
pub use self::bars::{Bar, BarChart, BarGroup, Limit};
use super::num::ends;
use super::text::counted;

/// Lines in one chart.
pub const LINES: usize = 6;
/// Times the least value that the greatest is where only a logarithm shows both.
const SPAN: f64 = 20.0;
/// A ceiling so many times the greatest value is left off a linear axis, on which the values would
/// lie on the floor.
const FAR: f64 = 4.0;
/// Values on an axis beyond which a chart shows nothing.
pub const AXIS: f64 = 1e7;

/// One value, on its chart's scale.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mark {
    pub value: f64,
    /// The same as it is printed.
    pub text: String,
    /// What a pointer over it shows.
    pub about: String,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    pub ceiling: Option<f64>,
    /// Where the rate fell: what it began with and what lasted.
    pub fall: Option<[f64; 2]>,
    /// Verdict; valid where the name of the series gives it.
    pub verdict: Verdict,
}

/// A value at its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spot {
    /// Place on the axis from left to right.
    pub at: f64,
    /// The same in words.
    pub x: String,
    pub mark: Mark,
    /// What is written at it.
    pub label: String,
    pub saturates: bool,
}

/// What a series is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// A line with a sign at each value.
    #[default]
    Line,
    /// Very many values by time.
    Samples,
    /// A stretch in which a value stayed the same.
    Level,
    Trend,
    /// A limit, named at its right end.
    Roof,
    /// Values without a line, named where they are.
    Cross,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    pub kind: Kind,
    /// Corners of its line, from left to right.
    pub line: Vec<[f64; 2]>,
    /// Corners of the line of its ceiling; empty where each value has its own.
    pub ceiling: Vec<[f64; 2]>,
    pub spots: Vec<Spot>,
}

/// What an upright rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RuleKind {
    Reported,
    Measured,
    Change,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Place on the axis from left to right.
    pub at: f64,
    /// What is there.
    pub label: String,
    /// What a pointer over it shows; empty if nothing.
    pub about: String,
    pub kind: RuleKind,
}

/// A narrow plot below the chart, over the same axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// What it shows, and its unit.
    pub name: [String; 2],
    pub points: Vec<[f64; 2]>,
    /// The same in words.
    pub about: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Chart {
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    /// The one to go by first.
    pub series: Vec<Series>,
    /// Marks of the axis from left to right.
    pub rules: Vec<Rule>,
    pub below: Vec<Panel>,
    /// What its signs are; empty where the page says it of all charts.
    pub key: String,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

impl Series {
    pub fn through(name: &str, mut spots: Vec<Spot>) -> Self {
        spots.sort_by(|a, b| a.at.total_cmp(&b.at));
        Self::along(name, spots)
    }

    /// A line through values in their order.
    pub fn along(name: &str, spots: Vec<Spot>) -> Self {
        let line = spots.iter().map(|s| [s.at, s.mark.value]).collect();
        Self { name: name.to_owned(), line, spots, ..Self::default() }
    }

    fn top(&self) -> f64 {
        self.spots.iter().map(|s| s.mark.value).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Chart {
    /// The chart among others, below which its signs are explained once.
    pub fn without_key(self) -> Self {
        Self { key: String::new(), ..self }
    }

    /// Over these axes; one upwards with all that the series show, logarithmic if that is asked for.
    pub fn new(
        title: String,
        x: Axis,
        [unit, by]: [&str; 2],
        log: bool,
        series: Vec<Series>,
    ) -> Self {
        let y = Axis::either(log, unit, values(&series, log).into_iter());
        let description = describe(&series, [unit, by]);
        Self { title, description, x, y, series, ..Self::default() }
    }

    /// Of the series with the highest values, as many as a reader can follow.
    pub fn highest(
        title: String,
        x: Axis,
        words: [&str; 2],
        may_be_log: bool,
        mut series: Vec<Series>,
    ) -> Self {
        series.sort_by(|a, b| b.top().total_cmp(&a.top()));
        let left_out = left_out(series.len().saturating_sub(LINES), "line", "in the table");
        series.truncate(LINES);
        let log = may_be_log && wide(&series);
        Self { left_out, ..Self::new(title, x, words, log, series) }
    }
}

/// `3 more lines: in the table.`; nothing without any.
pub fn left_out(more: usize, what: &str, place: &str) -> String {
    match more {
        0 => String::new(),
        n => format!("{}: {place}.", counted(n as u64, &format!("more {what}"))),
    }
}

/// Whether values differ so much that only a logarithm shows all.
pub fn wide(series: &[Series]) -> bool {
    let [low, high] = ends(series.iter().flat_map(|s| &s.spots).map(|s| s.mark.value));
    low > 0.0 && high > SPAN * low
}

/// All that has a place upwards.
fn values(series: &[Series], log: bool) -> Vec<f64> {
    let marks = || series.iter().flat_map(|s| &s.spots).map(|s| &s.mark);
    let most = marks().map(|m| m.value).fold(0.0, f64::max);
    let shown = |c: &f64| log || *c <= FAR * most;
    let of = |m: &Mark| {
        let sides = m.interval.into_iter().chain(m.fall).flatten();
        sides.chain([m.value]).chain(m.ceiling.filter(shown)).collect::<Vec<f64>>()
    };
    let corners = series.iter().flat_map(|s| &s.line).map(|at| at[1]);
    let ceilings = series.iter().flat_map(|s| &s.ceiling).map(|at| at[1]).filter(shown);
    marks().flat_map(of).chain(corners).chain(ceilings).collect()
}

fn describe(series: &[Series], [unit, by]: [&str; 2]) -> String {
    let value = |s: &Spot| {
        let saturates = if s.saturates { " (saturates)" } else { "" };
        format!("{} at {}{}{saturates}", s.mark.text, s.x, doubt(s.mark.verdict))
    };
    let one = |s: &Series| {
        let values: Vec<String> = s.spots.iter().map(value).collect();
        format!("{}: {}", s.name, values.join(", "))
    };
    let all: Vec<String> = series.iter().map(one).collect();
    format!("Figures in {unit} by {by}. {}.", all.join(". "))
}

/// ` (suspect)`; nothing of what is valid.
pub fn doubt(verdict: Verdict) -> String {
    match verdict {
        verdict if verdict.is_undoubted() => String::new(),
        other => format!(" ({other})"),
    }
}
