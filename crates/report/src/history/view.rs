//! The documents of a history: a list of runs, and a section with a chart and a table for each
//! line.

use proofmark_model::{LevelChange, PastRun};

use super::line::{Line, Moment};
use super::table;
use crate::view::{
    Audience, Blocks, Chart, Dates, Document, Drawing, Drawings, Fact, Item, Mark, Section, Series,
    Spot, Style, Text, Timeline, both_on_axis, clean, counted, enclosed, joined, level_change,
    mark_at, minute, verdict_mark,
};

pub fn runs(runs: &[PastRun]) -> Document {
    let title = format!("{}, newest last", counted(runs.len() as u64, "past run"));
    Document { title, facts: Vec::new(), blocks: Blocks::one("runs", table::runs(runs)).0 }
}

pub fn points(workload: &str, shared: &str, lines: &[Line]) -> Document {
    let workload = clean(workload);
    let mut out = Blocks::default();
    let change = "Change: compared with the previous run that is not invalid.";
    out.add("about", enclosed("In all runs: ", shared, ". ") + change);
    let key = "Whiskers: 95 % interval. ! suspect, ✗ invalid.";
    out.add_for(Audience::Page, "about", Text::new(Style::Quiet, [key]));
    if lines.is_empty() {
        out.add("none", "The history holds no such results.".to_owned());
    }
    for line in lines {
        let name = if line.name.is_empty() { &workload } else { &line.name };
        let section = Section::new("", name, |out| {
            out.add("changes", changes(line));
            out.add("chart", Drawings::new(Drawing::OverTime, timeline(name, line)));
            out.add("line", table::line(line));
        });
        out.add("line", section);
    }
    Document { title: format!("{workload} over time"), facts: facts(lines), blocks: out.0 }
}

/// Most facts that are named at a change.
const NAMED: usize = 6;

/// Returns the changes of a line's level, each with the run in which it began.
fn changes(line: &Line) -> Vec<Item> {
    let item = |change: &&LevelChange| {
        let [last, first] = change.between;
        let medians = level_change(&line.scale, change.medians, change.runs);
        let level =
            format!("Change of level at run {first} ({}): {medians}", minute(change.started));
        let more = change.differences.len().saturating_sub(NAMED);
        let named = change.differences.iter().take(NAMED);
        let named = named
            .map(|d| format!("{} {} before, {} after", clean(&d.what), clean(&d.a), clean(&d.b)));
        let named = joined(named, "; ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let why = match (&change.missing, named.is_empty()) {
            (Some(why), _) => {
                format!(". Differences from run {last} are not known: {}", clean(why))
            }
            (None, true) => format!(". No known fact differs from run {last}"),
            (None, false) => format!(". Differences from run {last}: {named}{more}"),
        };
        Item::from(format!("{level}{why}."))
    };
    line.changes.iter().map(item).collect()
}

/// Returns the number of lines, and the first and the last run.
fn facts(lines: &[Line]) -> Vec<Fact> {
    let starts = || lines.iter().flat_map(|l| &l.moments).map(|m| m.point.started);
    let span = starts().min().zip(starts().max());
    let span = span.map(|(from, to)| format!("{} to {} UTC", minute(from), minute(to)));
    let span = span.map(|span| Fact::plain("runs", &span));
    [Fact::plain("lines", &lines.len().to_string())].into_iter().chain(span).collect()
}

/// Returns the chart of a line; `None` where none of its values has a place on the axis.
fn timeline(name: &str, line: &Line) -> Option<Timeline> {
    let (first, last) = (line.moments.first()?.point.started, line.moments.last()?.point.started);
    let dates = Dates::new(first, last);
    let spots = line.moments.iter().filter_map(|m| spot(line, m, dates.place(m.point.started)));
    let spots: Vec<Spot> = spots.collect();
    let (from, to) = spots.first().zip(spots.last())?;
    let count = counted(spots.len() as u64, "result");
    let description = format!(
        "{count} from {} to {} UTC; {} first, {} last.",
        from.x, to.x, from.mark.text, to.mark.text
    );
    let missing = line.moments.len() - spots.len();
    let series = vec![Series::through(name, spots)];
    let left_out = match missing {
        0 => String::new(),
        n => format!(
            "Too large for the chart, or without a figure: {}.",
            counted(n as u64, "result")
        ),
    };
    let unit = line.scale.label();
    let title = format!("{}, {} is better", line.figure, line.better.as_str());
    let chart = Chart::new(title, dates.axis(), [unit, "time"], false, series);
    Some(Timeline { chart: Chart { description, left_out, ..chart }, unit: unit.to_owned() })
}

fn spot(line: &Line, m: &Moment, at: f64) -> Option<Spot> {
    let (p, scale) = (m.point, &line.scale);
    let value = m.value?;
    let text = scale.number(value)?;
    let interval = m.ci95.and_then(|i| scale.interval(i));
    let interval = match (m.several_levels(), interval) {
        (Some(levels), _) => format!("over {levels}"),
        (None, Some(interval)) => format!("95 % interval {interval}"),
        (None, None) => "no interval".to_owned(),
    };
    let x = minute(p.started);
    let (unit, verdict) = (scale.label(), verdict_mark(p.verdict));
    let about = format!("run {}, {x}: {text} {unit}, {interval}, {verdict}", p.run);
    let interval = m.ci95.and_then(|i| both_on_axis(scale, i));
    let mark = Mark { interval, ..mark_at(scale, value, about, p.verdict)? };
    Some(Spot { at, x, mark, ..Spot::default() })
}
