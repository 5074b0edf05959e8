//! Charts as data. Every picture over two axes is a [`Chart`], and one function draws it.
//!
//! The view states the content: axes, series of values, marks of the axis. `html/chart` decides the
//! appearance.

mod axis;
mod bars;

use proofmark_model::{Reliance, Verdict};
use serde::Serialize;

pub use self::axis::{Axis, Tick};
pub use self::bars::{Bar, BarChart, BarGroup, Limit};
use super::num::{Scale, ends};
use super::text::{counted, joined};
use super::workload_figure::ceiling_word;

/// Maximum number of lines in one chart.
pub const LINES: usize = 6;
/// Ratio of maximum to minimum above which only a logarithmic axis shows both.
const SPAN: f64 = 20.0;
/// A ceiling above this many times the largest value is left off a linear or a logarithmic axis, on
/// which it would squeeze the values.
const FAR: f64 = 2.5;
const FAR_LOG: f64 = 10.0;
/// Values on an axis beyond which a chart shows nothing.
pub const AXIS: f64 = 1e7;

/// One value, on its chart's scale.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mark {
    pub value: f64,
    /// The value as printed.
    pub text: String,
    /// The text that a pointer over the mark shows.
    pub about: String,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
    pub ceiling: Option<f64>,
    /// How far the ceiling can be relied on; `None` for a known one.
    pub doubt_of_ceiling: Option<Reliance>,
    /// The burst and the sustained rate, where the rate fell.
    pub fall: Option<[f64; 2]>,
    /// The verdict; `Valid` where the name of the series gives it.
    pub verdict: Verdict,
}

/// A value with its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spot {
    /// The place on the horizontal axis.
    pub at: f64,
    /// The place in words.
    pub x: String,
    pub mark: Mark,
    /// The text next to the mark.
    pub label: String,
    pub saturates: bool,
}

/// The kind of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// A line with a sign at each value.
    #[default]
    Line,
    /// Very many values by time.
    Samples,
    /// A period in which a value stayed the same.
    Level,
    Trend,
    /// A limit, named at its right end.
    Roof,
    /// Values without a line, each with its name.
    Cross,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    pub kind: Kind,
    /// The corners of the line, from left to right.
    pub line: Vec<[f64; 2]>,
    /// The corners of the ceiling's line; empty where each value has its own ceiling.
    pub ceiling: Vec<[f64; 2]>,
    pub spots: Vec<Spot>,
}

/// The kind of a vertical rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RuleKind {
    Reported,
    Measured,
    Change,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// The place on the horizontal axis.
    pub at: f64,
    /// The label.
    pub label: String,
    /// The text that a pointer over the rule shows; empty if there is none.
    pub about: String,
    pub kind: RuleKind,
}

/// A narrow plot below the chart, over the same axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// The name and the unit.
    pub name: [String; 2],
    pub points: Vec<[f64; 2]>,
    /// The values in words.
    pub about: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Chart {
    pub title: String,
    /// The chart in words.
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    /// The series, the preferred one first.
    pub series: Vec<Series>,
    /// Vertical rules, as marks of the axis.
    pub rules: Vec<Rule>,
    pub below: Vec<Panel>,
    /// The meaning of the signs; empty where the page explains those of all charts.
    pub key: String,
    /// The note on what is left out and why; empty if nothing is.
    pub left_out: String,
    /// The ceilings above the vertical axis: `ceiling 614.4`; empty if there are none.
    pub beyond: String,
}

impl Series {
    pub fn through(name: &str, mut spots: Vec<Spot>) -> Self {
        spots.sort_by(|a, b| a.at.total_cmp(&b.at));
        Self::along(name, spots)
    }

    /// A line through values in the given order.
    pub fn along(name: &str, spots: Vec<Spot>) -> Self {
        let line = spots.iter().map(|s| [s.at, s.mark.value]).collect();
        Self { name: name.to_owned(), line, spots, ..Self::default() }
    }

    fn top(&self) -> f64 {
        self.spots.iter().map(|s| s.mark.value).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Chart {
    /// The chart without its key, for several charts that share one.
    pub fn without_key(self) -> Self {
        Self { key: String::new(), ..self }
    }

    /// A chart over that horizontal axis; the vertical axis holds all values of the series, and is
    /// logarithmic if `log`.
    pub fn new(
        title: String,
        x: Axis,
        [unit, by]: [&str; 2],
        log: bool,
        series: Vec<Series>,
    ) -> Self {
        let y = Axis::either(log, unit, values(&series, log).into_iter());
        let description = describe(&series, [unit, by]);
        let beyond = beyond(&series, log);
        Self { title, description, x, y, series, beyond, ..Self::default() }
    }

    /// A chart of the series with the highest values, as many as a reader can follow.
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

/// `3 more lines: in the table.`; empty for 0.
pub fn left_out(more: usize, what: &str, place: &str) -> String {
    match more {
        0 => String::new(),
        n => format!("{}: {place}.", counted(n as u64, &format!("more {what}"))),
    }
}

/// Returns true if only a logarithmic axis shows all values.
pub fn wide(series: &[Series]) -> bool {
    let [low, high] = ends(series.iter().flat_map(|s| &s.spots).map(|s| s.mark.value));
    low > 0.0 && high > SPAN * low
}

/// The highest ceiling that does not squeeze the values on the axis.
fn highest_ceiling(series: &[Series], log: bool) -> f64 {
    let values = series.iter().flat_map(|s| &s.spots).map(|s| s.mark.value);
    values.fold(0.0, f64::max) * if log { FAR_LOG } else { FAR }
}

/// The ceilings that are left off the axis, in words.
fn beyond(series: &[Series], log: bool) -> String {
    let limit = highest_ceiling(series, log);
    let spots = series.iter().flat_map(|s| &s.spots);
    let own = spots.filter_map(|s| Some((s.mark.ceiling?, s.mark.doubt_of_ceiling)));
    let lines = series.iter().flat_map(|s| {
        let doubt = s.spots.iter().find_map(|spot| spot.mark.doubt_of_ceiling);
        s.ceiling.iter().map(move |at| (at[1], doubt))
    });
    let far: Vec<(f64, Option<Reliance>)> = own.chain(lines).filter(|(c, _)| *c > limit).collect();
    // One doubtful ceiling makes the word doubtful.
    let doubt = far.iter().find_map(|(_, doubt)| *doubt);
    let word = ceiling_word(doubt.unwrap_or(Reliance::Known));
    let [low, high] = ends(far.iter().map(|(c, _)| *c));
    let [from, to] = [low, high].map(|c| Scale::as_is("").number(c));
    match (from, to) {
        (Some(one), Some(same)) if one == same => format!("{word} {one}"),
        (Some(from), Some(to)) => format!("{word}s {from} to {to}"),
        _ => String::new(),
    }
}

/// All values that need a place on the vertical axis.
fn values(series: &[Series], log: bool) -> Vec<f64> {
    let marks = || series.iter().flat_map(|s| &s.spots).map(|s| &s.mark);
    let limit = highest_ceiling(series, log);
    let shown = |c: &f64| *c <= limit;
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
    let one = |s: &Series| format!("{}: {}", s.name, joined(s.spots.iter().map(value), ", "));
    format!("Figures in {unit} by {by}. {}.", joined(series.iter().map(one), ". "))
}

/// ` (suspect)`; empty for a verdict without doubt.
pub fn doubt(verdict: Verdict) -> String {
    match verdict {
        verdict if verdict.is_undoubted() => String::new(),
        other => format!(" ({other})"),
    }
}
