//! Levels, changes and trend in words and as a table. Every factor is that of the medians in the
//! table.

use proofmark_model::{
    Change, FigureKind, Level, Measurement, Series, Unit, check_id, format_count, format_factor,
    format_seconds,
};

use super::Timed;
use crate::view::columns::{Columns, Entry, not_finite};
use crate::view::label::{Group, why_no_trials};
use crate::view::num::{Scale, ends, percent, percentage};
use crate::view::shared_parts::caption;
use crate::view::table::Table;
use crate::view::text::{clean, counted, enclosed, joined, lower_first, stop};

/// Maximum number of levels in the table.
const LEVELS: usize = 40;
/// The cause where no recorded condition changed together with the value.
const NO_CAUSE: &str = "no recorded condition changed with it";

pub struct ChangeText {
    /// Seconds after the first sample's start.
    pub at_s: f64,
    pub factor: f64,
    pub sentence: String,
}

/// `31.20 Gop/s from 0 to 200 s (median; 95 % interval 31.1 to 31.3)`.
pub fn level(l: &Level, scale: &Scale) -> Option<String> {
    let interval = l.ci95.and_then(|i| scale.interval(i));
    let interval = interval.map_or_else(String::new, |i| format!("; 95 % interval {i}"));
    let [from, until] = [l.from_s, l.until_s].map(seconds);
    Some(format!("{} from {from} to {until} (median{interval})", scale.with_label(l.median)?))
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
            "At {} ({} UTC) it {went} to {} times the previous level, from {} to {}: {}",
            seconds(c.at_s),
            utc(c),
            format_factor(factor),
            from?,
            to?,
            cause(m, Some(c)),
        );
        Some(ChangeText { at_s: c.at_s, factor, sentence })
    };
    series.changes.iter().enumerate().filter_map(of).collect()
}

/// The cause of a change, as one or two sentences.
fn cause(m: &Measurement, change: Option<&Change>) -> String {
    match change.and_then(|c| c.cause.as_deref()) {
        Some(cause) => stop(&clean(cause)),
        None => joined([format!("{NO_CAUSE}."), over_all(m)], " "),
    }
}

/// Checks for what takes time from a load, or slows it.
const DISTURBANCES: [&str; 6] = [
    check_id::THROTTLED,
    check_id::OTHER_CPU,
    check_id::STEAL,
    check_id::CLOCK_DROP,
    check_id::SHARED_DEVICE,
    check_id::IO_DURING_LOAD,
];

/// What a check saw over the whole series: `Over the whole time a competing process took 31 % of the
/// trials' CPU time.` Empty where none did.
fn over_all(m: &Measurement) -> String {
    let seen = |check: &str| m.findings.iter().find(|f| f.check == check);
    let found = DISTURBANCES.into_iter().find_map(seen);
    found.map_or_else(String::new, |f| format!("Over the whole time {}", stop(&clean(&f.message))))
}

/// The cause of a trend, where its check found one: `: CPU time stolen by ...`.
fn cause_of_trend(m: &Measurement) -> String {
    let found = m.findings.iter().find(|f| f.check == check_id::DRIFT);
    match found.and_then(|f| f.evidence.get("cause")?.as_str()) {
        Some(cause) => format!(": {}", stop(&clean(cause))),
        None => enclosed(". ", &over_all(m), ""),
    }
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
        out.extend(beside_level(m, scale));
    }
    out.extend(trend(m, series));
    out
}

/// Says why the result differs from the level, which is the median of its samples.
fn beside_level(m: &Measurement, scale: &Scale) -> Option<String> {
    let s = m.summary.as_ref().filter(|s| s.headline == FigureKind::Delivered)?;
    let value = scale.with_label(s.value())?;
    Some(format!(
        "The result, {value}, is all work over all time; its interval also allows for a stall."
    ))
}

/// The conclusion: the levels with the largest change between two, or the trend.
///
/// `3 levels, 15.6 to 31.2 Gop/s; the largest of 2 changes: at 200 s it fell ...`, or `the rate fell by
/// 77 % over 10 min, from about ...`.
pub fn sentence(m: &Measurement, scale: &Scale) -> Option<String> {
    let series = m.series.as_ref()?;
    let [low, high] = ends(series.levels.iter().map(|l| l.median).filter(|v| v.is_finite()));
    Some(match changes(m, scale).as_slice() {
        [] => one_level(m, series.levels.first()?, scale)?,
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

/// The command that measures much longer than a series of so many seconds. It is named in full: only
/// one command has that option.
fn longer(m: &Measurement, series_s: f64) -> String {
    let minutes = (10.0 * series_s / 60.0).ceil().clamp(10.0, 1440.0);
    format!("Measure longer: proofmark endure {} --for {minutes}m", clean(&m.workload))
}

/// The conclusion of a series of one level: its trend, or that there is none.
fn one_level(m: &Measurement, one: &Level, scale: &Scale) -> Option<String> {
    let level = level(one, scale)?;
    let Some(drift) = m.drift() else {
        return Some(format!("{level}; too few samples to see a trend."));
    };
    let tolerance = m.subsystem.info().tolerance;
    let over = seconds(drift.seconds);
    let Some(interval) = drift.ci95 else {
        return Some(format!(
            "{level}; whether it rose or fell is undecided: {} over {over}, but neighbouring samples \
             are too much alike for an interval. {}.",
            signed(drift.share)?,
            longer(m, drift.seconds)
        ));
    };
    let in_words = format!("95 % interval {} to {}", signed(interval[0])?, signed(interval[1])?);
    let widest = interval.into_iter().map(f64::abs).fold(0.0, f64::max);
    Some(if drift.is_shown() && drift.share.abs() > tolerance {
        let [from, to] = drift.ends.map(|end| scale.with_label(end));
        let went = if drift.share < 0.0 { "fell" } else { "rose" };
        let by = percentage(drift.share.abs())?;
        let what = rate_or_time(m);
        let (from, to) = (from?, to?);
        let cause = cause_of_trend(m);
        let text = format!(
            "the {what} {went} by {by} over {over}, from about {from} to {to} ({in_words})"
        );
        stop(&format!("{text}{cause}"))
    } else if widest <= tolerance {
        format!(
            "steady at {level}: it changed by {} over {over} ({in_words}).",
            signed(drift.share)?
        )
    } else if drift.is_shown() {
        format!("{level}; it changed by {} over {over} ({in_words}).", signed(drift.share)?)
    } else {
        format!(
            "{level}; whether it rose or fell is undecided: {} over {over} ({in_words}). {}.",
            signed(drift.share)?,
            longer(m, drift.seconds)
        )
    })
}

/// A change with its sign: `+6.5 %`; `0.0 %` for one that rounds to nothing.
fn signed(share: f64) -> Option<String> {
    let text = percentage(share)?;
    let is_nothing = percent(share)?.parse() == Ok(0.0);
    Some(if share > 0.0 && !is_nothing { format!("+{text}") } else { text })
}

fn rate_or_time(m: &Measurement) -> &'static str {
    if m.unit == Unit::Second { "time" } else { "rate" }
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
    // A sample ends with a whole piece of work, and a busy machine skips some.
    let every_s = last / series.samples.max(1) as f64;
    let planned = match every_s / series.every_s - 1.0 > OFF_TICK {
        true => format!(" instead of {} as planned", seconds(series.every_s)),
        false => String::new(),
    };
    let every_s = if planned.is_empty() { series.every_s } else { every_s };
    format!(
        "{} in {}{short}, one every {}{planned}{merged}{between}.",
        counted(series.samples, "sample"),
        seconds(last),
        seconds(every_s)
    )
}

/// Change of the spacing of the samples from which on it is not as planned.
const OFF_TICK: f64 = 0.1;

/// Share of the time from which on all of it counts as timed.
const ALL_TIMED: f64 = 0.95;

/// The trend as a share of its start, over the measured time.
fn trend(m: &Measurement, series: &Series) -> Option<String> {
    let drift = m.drift()?;
    let (what, over) = (rate_or_time(m), seconds(drift.seconds));
    let levels = if series.levels.len() > 1 { " through all levels" } else { "" };
    let share = signed(drift.share)?;
    let Some([low, high]) = drift.ci95 else {
        return Some(format!(
            "Trend of the {what}{levels}: {share} over {over}, without an interval."
        ));
    };
    let interval = format!("{} to {}", signed(low)?, signed(high)?);
    let none = !drift.is_shown() || percent(drift.share)?.parse() == Ok(0.0);
    Some(match none {
        true => {
            format!("No trend of the {what} is shown{levels}: {share} over {over} ({interval}).")
        }
        false => format!("Trend of the {what}{levels}: {share} over {over} ({interval})."),
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
            Some((factor, change)) => {
                Entry::from(format_factor(factor)).noted(cause(m, change).trim_end_matches('.'))
            }
            None => "".into(),
        })
        .number("UTC", |row| change(row).and_then(|(_, c)| c).map_or_else(String::new, utc))
        .spare(2)
        .rows(series.levels.iter().take(LEVELS).enumerate())
}
