//! The document of several runs.

use proofmark_model::{
    GroupedResult, GroupedRun, LevelShift, OverRuns, RunGroup, RunLevel, RunState, Unit, Verdict,
    and_list, format_percent, format_quantity, format_seconds,
};

use crate::view::{
    Audience, Blocks, Chart, Columns, Dates, Document, Drawing, Drawings, Entry, Item, Mark, Scale,
    Section, Series, Spot, Table, Timeline, agree, clean, counted, joined, level_change, mark_at,
    minute, percent, verdict_mark,
};

/// Makes the document: the main results over all runs, what changed, and the runs. With `all`, every
/// result.
pub fn document(group: &RunGroup, all: bool) -> Document {
    let results = shown(group, all);
    let mut out = Blocks::default();
    out.add("summary", summary(group, &results));
    out.add("results", results_table(&results));
    out.add("states", states(group, &results));
    out.add("levels", Section::plain("Changes of level", "levels", levels(group, &results)));
    out.add("changes", Section::plain("Changes from run to run", "changes", changes(group)));
    out.add("runs", Section::plain("Runs", "runs", runs_table(group)));
    let charts = results.iter().filter_map(|r| timeline(group, r));
    let charts = Drawings::new(Drawing::OverTime, charts);
    out.add_for(Audience::Page, "charts", Section::plain("Each run", "charts", charts));
    Document { title: title(group), facts: Vec::new(), blocks: out.0 }
}

/// The results of the first screen in its order; every result, or those of a group without main ones,
/// in the order of the plan.
fn shown(group: &RunGroup, all: bool) -> Vec<&GroupedResult> {
    let mut main: Vec<&GroupedResult> =
        group.results.iter().filter(|r| r.main_row.is_some()).collect();
    if all || main.is_empty() {
        return group.results.iter().collect();
    }
    main.sort_by_key(|r| r.main_row);
    main
}

fn title(group: &RunGroup) -> String {
    let count = counted(group.runs.len() as u64, "run");
    match group.runs.first().zip(group.runs.last()) {
        Some((first, last)) => {
            format!("{count} from {} to {} UTC", minute(first.started), minute(last.started))
        }
        None => count,
    }
}

/// The results that runs know less well than their own intervals say.
fn summary(group: &RunGroup, results: &[&GroupedResult]) -> String {
    let machine = group.runs.first().map(|run| clean(&run.machine)).unwrap_or_default();
    let both: Vec<(f64, f64)> = results
        .iter()
        .filter_map(|r| match r.over_runs.as_ref()? {
            OverRuns::One(level) => Some((r.within?, level.between_runs()?)),
            OverRuns::Two { .. } => None,
        })
        .collect();
    let more = both.iter().filter(|(within, between)| between > within).count();
    let has_two = |r: &&&GroupedResult| matches!(r.over_runs, Some(OverRuns::Two { .. }));
    let vary = match both.len() {
        0 => String::new(),
        n => format!(
            "In {more} of {}, the uncertainty between runs is larger than that within one (±).",
            counted(n as u64, "result")
        ),
    };
    let states = match results.iter().filter(has_two).count() as u64 {
        0 => String::new(),
        n => format!(
            "{} {} two states: no single value describes both.",
            counted(n, "result"),
            agree(n, ["has", "have"])
        ),
    };
    let changed = results.iter().filter(|r| !r.level_changes.is_empty());
    let levels = match changed.count() as u64 {
        0 => String::new(),
        n => format!(
            "The level of {} changed during the runs (see Changes of level).",
            counted(n, "result")
        ),
    };
    let short = short_time(group);
    joined([format!("{machine}."), vary, states, levels, short], " ")
}

/// Hours from which on the runs cover more than the circumstances of one.
const LONG_ENOUGH_H: f64 = 3.0;

/// Says that runs close to each other share their circumstances.
fn short_time(group: &RunGroup) -> String {
    let Some((first, last)) = group.runs.first().zip(group.runs.last()) else {
        return String::new();
    };
    let span_s = last.started.since(first.started);
    match span_s < LONG_ENOUGH_H * 3600.0 {
        true => format!(
            "The runs span {}: another hour or day may differ by more.",
            format_seconds(span_s.max(0.0))
        ),
        false => String::new(),
    }
}

fn name(r: &GroupedResult) -> String {
    clean(&r.title)
}

fn scale(r: &GroupedResult) -> Scale {
    let values = r.values.iter().flatten().map(|v| v.value);
    Scale::for_result(values, r.unit, (r.subsystem, r.random), &r.params)
}

fn level(r: &GroupedResult) -> Option<&RunLevel> {
    match r.over_runs.as_ref()? {
        OverRuns::One(level) => Some(level),
        OverRuns::Two { .. } => None,
    }
}

fn results_table(results: &[&GroupedResult]) -> Table {
    let whole = "The median of the runs' figures, and half of its 95 % interval over runs.";
    Columns::new("")
        .column("result", |r: &&GroupedResult| name(r))
        .keys()
        .column("median of runs", |r| median(r))
        .number("±", |r| {
            let ci95 = level(r).and_then(|level| Some((level.ci95?, level.median)));
            ci95.and_then(|([low, high], median)| half_width(low, high, median))
        })
        .explained("±", whole)
        .number("between runs", |r| level(r)?.between_runs().and_then(percent_of))
        .explained(
            "between runs",
            "Half of the 95 % interval of the machine about the figure of one run.",
        )
        .number("± in a run", |r| r.within.and_then(percent_of))
        .explained("± in a run", "Half of the 95 % interval of one run: the median over the runs.")
        .spare(1)
        .column("lowest–highest", |r| ends(r))
        .spare(2)
        .number("runs", |r| r.values.iter().flatten().count().to_string())
        .number("suspect", |r| {
            let suspect = |v: &&proofmark_model::RunValue| v.verdict == Verdict::Suspect;
            r.values.iter().flatten().filter(suspect).count().to_string()
        })
        .spare(3)
        .rows(results.iter().copied())
}

/// Half of an interval as a share of its median.
fn half_width(low: f64, high: f64, median: f64) -> Option<String> {
    percent_of(((high - low) / 2.0 / median).abs())
}

fn percent_of(share: f64) -> Option<String> {
    Some(format!("{} %", percent(share)?))
}

/// The median, or both states.
fn median(r: &GroupedResult) -> Option<String> {
    let scale = scale(r);
    match r.over_runs.as_ref() {
        Some(OverRuns::One(level)) => scale.with_label(level.median),
        Some(OverRuns::Two { states: [low, high] }) => {
            let [low, high] = [scale.number(low.median)?, scale.with_label(high.median)?];
            Some(format!("{low} or {high}"))
        }
        None => scale.with_label(r.values.iter().flatten().next()?.value),
    }
}

fn ends(r: &GroupedResult) -> Option<String> {
    let values = || r.values.iter().flatten().map(|v| v.value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    scale(r).tight_interval([low, high])
}

/// The directory of a run: `run-03`.
fn run_name(run: &GroupedRun) -> String {
    clean(run.name.trim_end_matches('/').rsplit('/').next().unwrap_or(&run.name))
}

/// A sentence for each result in two states.
fn states(group: &RunGroup, results: &[&GroupedResult]) -> Vec<Item> {
    let of = |r: &&&GroupedResult| match r.over_runs.as_ref()? {
        OverRuns::Two { states } => {
            let scale = scale(r);
            let one = |state: &RunState| {
                let value = scale.with_label(state.median)?;
                let runs = state.places.iter().filter_map(|place| group.runs.get(*place));
                let runs: Vec<String> = runs.map(run_name).collect();
                Some(format!(
                    "{value} in {} of the runs with a value ({})",
                    format_percent(state.share),
                    and_list(runs)
                ))
            };
            let both: Option<Vec<String>> = states.iter().map(one).collect();
            let text = format!("two states: {}; no interval describes both.", both?.join(", "));
            Some(Item { term: name(r), texts: vec![text.into()] })
        }
        OverRuns::One(_) => None,
    };
    results.iter().filter_map(|r| of(&r)).collect()
}

/// The changes of level of each result.
fn levels(group: &RunGroup, results: &[&GroupedResult]) -> Vec<Item> {
    let item = |r: &GroupedResult| {
        let text = |change: &LevelShift| {
            let run = group.runs.get(change.run)?;
            let medians = level_change(&scale(r), change.medians, change.runs);
            Some(format!("from {} on ({}): {medians}", run_name(run), minute(run.started)))
        };
        let texts: Vec<_> = r.level_changes.iter().filter_map(text).map(Into::into).collect();
        (!texts.is_empty()).then(|| Item { term: name(r), texts })
    };
    results.iter().filter_map(|r| item(r)).collect()
}

fn changes(group: &RunGroup) -> Vec<Item> {
    let item = |change: &proofmark_model::GroupChange| {
        let all = change.differences.iter();
        let all =
            all.map(|d| format!("{}: {}, before {}", clean(&d.what), clean(&d.b), clean(&d.a)));
        let texts = all.map(|text| text.into()).collect();
        let name = group.runs.get(change.run).map(run_name).unwrap_or_default();
        Item { term: format!("From {name} on"), texts }
    };
    let all: Vec<Item> = group.changes.iter().map(item).collect();
    match all.is_empty() {
        true => vec![Item {
            term: "None".to_owned(),
            texts: vec![
                "no fact about the machine, its limits, the program or the plan changed."
                    .to_owned()
                    .into(),
            ],
        }],
        false => all,
    }
}

fn runs_table(group: &RunGroup) -> Table {
    Columns::new("")
        .column("run", |run: &&GroupedRun| run_name(run))
        .column("started, UTC", |run| minute(run.started))
        .keys()
        .column("took", |run| run.seconds.map(format_seconds))
        .spare(3)
        .number("valid", |run| run.verdicts.valid.to_string())
        .number("suspect", |run| run.verdicts.suspect.to_string())
        .number("invalid", |run| run.verdicts.invalid.to_string())
        .spare(2)
        .column("clock", |run| run.clock_hz.map(|hz| format_quantity(hz, Unit::Hertz)))
        .spare(1)
        .number("at work", |run| run.at_work.and_then(percent_of))
        .explained("at work", "The share of the threads' time in which they worked.")
        .spare(1)
        .number("others", |run| run.others_of_one_cpu.and_then(percent_of))
        .explained("others", "CPU time of other programs: 100 % is one CPU.")
        .spare(2)
        .column("vCPU placement", |run| Entry::from(run.placements.as_deref().map(clean)))
        .spare(2)
        .rows(&group.runs)
}

/// The runs of a result over time; `None` where fewer than two have a value.
fn timeline(group: &RunGroup, r: &GroupedResult) -> Option<Timeline> {
    let dates = Dates::new(group.runs.first()?.started, group.runs.last()?.started);
    let scale = scale(r);
    let spots = group.runs.iter().zip(&r.values).filter_map(|(run, value)| {
        let value = value.as_ref()?;
        let text = scale.with_label(value.value)?;
        let x = minute(run.started);
        let about = format!("{}, {x}: {text}, {}", run_name(run), verdict_mark(value.verdict));
        let mark: Mark = mark_at(&scale, value.value, about, value.verdict)?;
        Some(Spot { at: dates.place(run.started), x, mark, ..Spot::default() })
    });
    let spots: Vec<Spot> = spots.collect();
    if spots.len() < 2 {
        return None;
    }
    let description = format!("{} over {}.", name(r), counted(spots.len() as u64, "run"));
    let title = format!("{}, {}", name(r), r.figure.name(r.better));
    let unit = scale.label().to_owned();
    let series = vec![Series::through(&name(r), spots)];
    let chart = Chart::new(title, dates.axis(), [&unit, "time"], false, series);
    Some(Timeline { chart: Chart { description, ..chart }, unit })
}
