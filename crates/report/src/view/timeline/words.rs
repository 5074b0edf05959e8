//! Levels, changes and trend in words and as a table. Every factor is that of the medians in the
//! table.

use proofmark_model::{
    Change, Level, Measurement, Series, Unit, format_count, format_factor, format_seconds,
};

use super::Timed;
use crate::view::columns::{Columns, Entry, not_finite};
use crate::view::label::{Group, why_no_trials};
use crate::view::num::{Scale, ends, percent, percentage};
use crate::view::shared_parts::caption;
use crate::view::table::Table;
use crate::view::text::{clean, counted, enclosed, lower_first};

/// Maximum number of levels in the table.
const LEVELS: usize = 40;
/// Seconds from which on a trend is given per hour.
const HOUR: f64 = 3600.0;
/// The cause where no recorded condition changed together with the value.
const NO_CAUSE: &str = "no recorded condition changed with it";

pub struct ChangeText {
    /// Seconds after the first sample's start.
    pub at_s: f64,
    pub factor: f64,
    pub sentence: String,
}

/// `31.20 Gop/s from 0 to 200 s (95 % interval 31.1 to 31.3)`.
pub fn level(l: &Level, scale: &Scale) -> Option<String> {
    let interval = l.ci95.and_then(|i| scale.interval(i));
    let interval = interval.map_or_else(String::new, |i| format!(" (95 % interval {i})"));
    let [from, until] = [l.from_s, l.until_s].map(seconds);
    Some(format!("{} from {from} to {until}{interval}", scale.with_label(l.median)?))
}

fn seconds(v: f64) -> String {
    match v.is_finite() && v >= 0.0 {
        true if v == 0.0 => "0 s".to_owned(),
        true => format_seconds(v),
        false => "an unknown time".to_owned(),
    }
}

/// The factor between two neighbouring levels.
fn ratio(series: &Series, at: usize) -> Option<f64> {
    let [before, after] = [series.levels.get(at)?, series.levels.get(at + 1)?];
    Some(after.median / before.median).filter(|r| r.is_finite() && *r > 0.0)
}

/// The changes between the levels that the series holds.
pub fn changes(m: &Measurement, scale: &Scale) -> Vec<ChangeText> {
    let Some(series) = &m.series else { return Vec::new() };
    let of = |(i, c): (usize, &Change)| {
        let factor = ratio(series, i)?;
        let [from, to] = [i, i + 1].map(|at| scale.with_label(series.levels.get(at)?.median));
        let went = match factor {
            f if f < 1.0 => "fell",
            f if f > 1.0 => "rose",
            _ => "went",
        };
        let sentence = format!(
            "At {} ({} UTC) it {went} to {} times the previous level, from {} to {}: {}.",
            seconds(c.at_s),
            utc(c),
            format_factor(factor),
            from?,
            to?,
            cause(Some(c)),
        );
        Some(ChangeText { at_s: c.at_s, factor, sentence })
    };
    series.changes.iter().enumerate().filter_map(of).collect()
}

fn cause(change: Option<&Change>) -> String {
    change.and_then(|c| c.cause.as_deref()).map_or_else(|| NO_CAUSE.to_owned(), clean)
}

fn utc(change: &Change) -> String {
    change.at.0.strftime("%H:%M:%S").to_string()
}

/// Sentences on the samples, a single level, and the trend. The table of levels has the changes.
pub fn sentences(m: &Measurement, scale: &Scale, timed: &[Timed]) -> Vec<String> {
    let Some(series) = &m.series else { return Vec::new() };
    let mut out = vec![sampled(m, series, timed)];
    if let [one] = series.levels.as_slice() {
        out.extend(level(one, scale).map(|l| format!("One level: {l}.")));
    }
    out.extend(trend(m, series, timed));
    out
}

/// `3 levels, 15.6 to 31.2 Gop/s; the largest of 2 changes: at 200 s it fell ...`.
pub fn in_short(m: &Measurement, scale: &Scale) -> Option<String> {
    let series = m.series.as_ref()?;
    let [low, high] = ends(series.levels.iter().map(|l| l.median).filter(|v| v.is_finite()));
    Some(match changes(m, scale).as_slice() {
        [] => format!("one level, {}, no change.", level(series.levels.first()?, scale)?),
        changes => {
            let range = format!("{} to {}", scale.number(low)?, scale.with_label(high)?);
            let size = |c: &ChangeText| c.factor.ln().abs();
            // Of equal ones, the first is taken.
            let largest = changes.iter().rev().max_by(|a, b| size(a).total_cmp(&size(b)))?;
            let which = match changes.len() {
                1 => String::new(),
                n => format!("the largest of {}: ", counted(n as u64, "change")),
            };
            let levels = counted(series.levels.len() as u64, "level");
            format!("{levels}, {range}; {which}{}", lower_first(&largest.sentence))
        }
    })
}

fn sampled(m: &Measurement, series: &Series, timed: &[Timed]) -> String {
    let last = timed.last().map(|s| s.at_s + s.t.seconds);
    let Some(last) = last.filter(|v| v.is_finite()) else {
        return format!("No sample was taken: {}.", why_no_trials(m));
    };
    let merged = match series.merged {
        0 | 1 => String::new(),
        n => format!("; up to {n} neighbouring samples are merged into one"),
    };
    let short = match last < series.for_s * 0.98 {
        true => format!(" of {} planned", seconds(series.for_s)),
        false => String::new(),
    };
    let timed_s: f64 = timed.iter().map(|s| s.t.seconds).sum();
    let between = match percentage(timed_s / last).filter(|_| timed_s < ALL_TIMED * last) {
        Some(share) => format!("; {share} of the time was timed, the rest was verification"),
        None => String::new(),
    };
    format!(
        "{} in {}{short}, one every {}{merged}{between}.",
        counted(series.samples, "sample"),
        seconds(last),
        seconds(series.every_s)
    )
}

/// Share of the time from which on all of it counts as timed.
const ALL_TIMED: f64 = 0.95;

/// The trend as a share of its start, over the measured time, but at most an hour. No trend is
/// shown where its interval contains zero.
fn trend(m: &Measurement, series: &Series, timed: &[Timed]) -> Option<String> {
    let trend = series.trend.as_ref()?;
    let last = timed.last().map(|s| s.at_s + s.t.seconds)?;
    (last.is_finite() && last > 0.0).then_some(())?;
    let over = if last > HOUR { "per hour".to_owned() } else { format!("over {}", seconds(last)) };
    // A value cannot fall by more than all of it, whatever a straight line predicts.
    let share = |slope: f64| (slope * last.min(HOUR) / trend.start.abs()).max(-1.0);
    let slope = percent(share(trend.slope)).filter(|_| trend.slope.is_finite())?;
    let levels = if series.levels.len() > 1 { " through all levels" } else { "" };
    let what = if m.unit == Unit::Second { "time" } else { "rate" };
    let Some([low, high]) = trend.ci95.map(|i| i.map(share)) else {
        return Some(format!(
            "Trend of the {what}{levels}: {slope} % {over}, without an interval."
        ));
    };
    let interval = format!("{} to {} %", percent(low)?, percent(high)?);
    let none = (low <= 0.0 && high >= 0.0) || slope.parse() == Ok(0.0);
    Some(match none {
        true => format!("No trend of the {what} is shown{levels}: {slope} % {over} ({interval})."),
        false => format!("Trend of the {what}{levels}: {slope} % {over} ({interval})."),
    })
}

pub fn table(group: &Group, m: &Measurement, scale: &Scale) -> Table {
    type Row<'a> = (usize, &'a Level);
    let Some(series) = &m.series else { return Table::default() };
    let name = enclosed(", ", &group.short(m), "");
    let more = series.levels.len() > LEVELS;
    let first = if more { format!("the first {LEVELS} ") } else { String::new() };
    // The factor to the level before, and the change between the two.
    let change = |(i, _): &Row| {
        let at = i.checked_sub(1)?;
        Some((ratio(series, at)?, series.changes.get(at)))
    };
    Columns::new(caption(group, &format!("{first}levels over time{name}")))
        .number("from", |(_, l): &Row| seconds(l.from_s))
        .number("until", |(_, l)| seconds(l.until_s))
        .keys()
        .number("samples", |(_, l)| format_count(l.trials))
        .spare(1)
        .measured("median", scale.label(), |(_, l)| scale.number(l.median).ok_or_else(not_finite))
        .measured("95 % interval", scale.label(), |(_, l)| {
            l.ci95.and_then(|i| scale.tight_interval(i)).ok_or("fewer than 6 samples")
        })
        .spare(1)
        .number("× previous", |row| match change(row) {
            Some((factor, change)) => Entry::from(format_factor(factor)).noted(cause(change)),
            None => "".into(),
        })
        .number("UTC", |row| change(row).and_then(|(_, c)| c).map_or_else(String::new, utc))
        .spare(2)
        .rows(series.levels.iter().take(LEVELS).enumerate())
}
