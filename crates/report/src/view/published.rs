//! The tables of the published experiments: `Exp 1, Exp 2, ..., Average, Std Dev` by threads, or by
//! the workload's axis where that is another. There is one table per combination of the other
//! parameters.
//!
//! For blocks of a few bytes, the experiments printed the time divided by the number of blocks as a
//! latency. Here it is called reciprocal throughput, next to the real latency: that of memory, or
//! the median time of the same disk's I/Os. Systems of equations have LINPACK's listing instead.

use std::collections::BTreeSet;

use proofmark_model::{
    FigureKind, Host, Measurement, Property, Trial, Unit, format_count, format_size, key,
};

use super::columns::{Columns, not_finite};
use super::declared::{block_bytes, giving};
use super::grouping::grouped;
use super::label::{Group, spoken, why_missing, why_no_trials};
use super::latency::NOT_TIMED;
use super::levels::within;
use super::network::{is_network, round_trips};
use super::num::{Scale, percent};
use super::shared_parts::{
    Point, caption, ceiling, parameter, share_of_ceiling, verdict, why_no_ceiling,
};
use super::solves;
use super::table::Table;
use super::text::{clean, enclosed, joined};

/// Maximum number of trials in columns; the others are among the raw trials.
const SHOWN: usize = 10;
/// The largest block in bytes whose time is printed.
const SMALL: u64 = 8;
/// The largest block of a disk whose time is printed, if it is the smallest that was measured.
const SMALL_ON_DISK: u64 = 4096;
const RECIPROCAL: &str = "Elapsed time divided by the number of blocks of all threads. It is not a \
    latency: blocks overlap, so it falls with more threads. The latency is the time of one access \
    that waits for the one before it";

const RECIPROCAL_IO: &str = "Elapsed time divided by the number of I/Os of all threads. The \
    published experiments print it as latency, but I/Os overlap: it falls with more in flight. The \
    latency p50 is the median time of one I/O of the same configuration.";

/// Factor by which rounding may make a time longer than its trial.
const LONGEST: f64 = 1.0 + 1e-9;
const LESS_THAN_A_BLOCK: &str = "this trial did less than one block, so none was timed";

const MEAN: &str = "mean round trip, every trial";
/// A trial's figure includes the time that was taken from it, also where the headline does not.
const DELIVERED: &str = "delivered in every trial";
const EVERY: &str = "every trial";

struct Line<'a> {
    m: &'a Measurement,
    values: Vec<f64>,
    mean: Option<f64>,
    sd: Option<f64>,
}

impl Point for Line<'_> {
    fn measurement(&self) -> &Measurement {
        self.m
    }
}

pub fn tables(group: &Group, scale: &Scale) -> Vec<Table> {
    if solves::any(group) {
        return vec![solves::listing(group, scale)];
    }
    let by = rows_by(group);
    let published = as_published(group);
    let scale = published.as_ref().unwrap_or(scale);
    let theory = group.all.iter().any(|m| is_network(m) && m.ceiling.is_some());
    let what = match group.all.iter().all(|m| round_trips(m)) {
        true => MEAN,
        false if group.all.iter().any(has_other_headline) => DELIVERED,
        false => EVERY,
    };
    let table =
        |(name, members): (String, Vec<&Measurement>)| {
            let lines: Vec<Line> = members.into_iter().map(Line::from_trials).collect();
            start(group, scale, Some(by), [what, &name], &lines)
                .when(theory, |table| {
                    table
                        .number("Ceiling", |Line { m, .. }| ceiling(m, |v| scale.number(v)))
                        .measured("of ceiling", "%", |Line { m, .. }| {
                            let share = m.efficiency.and_then(percent);
                            share_of_ceiling(m, share.ok_or_else(|| why_no_ceiling(m)))
                        })
                })
                .rows(lines)
        };
    combinations(group, &group.all, by).into_iter().map(table).collect()
}

/// Returns true if the headline leaves out time that a trial's own figure includes.
fn has_other_headline(m: &&Measurement) -> bool {
    let headline = m.summary.as_ref().map(|s| s.headline);
    m.unit.is_work() && headline.is_some_and(|kind| kind != FigureKind::Delivered)
}

/// The published units: MB/s for a disk, Mbit/s for a network, ms for round trips.
fn as_published(group: &Group) -> Option<Scale> {
    let m = group.all.first()?;
    let (largest, unit) = match (m.subsystem.info(), m.unit) {
        (info, Unit::BytePerSecond) if info.uses_block_devices => (1e6, m.unit),
        (info, Unit::BitPerSecond) if info.has_server => (1e6, m.unit),
        _ if round_trips(m) => (1e-3, Unit::Second),
        _ => return None,
    };
    Some(Scale::for_largest([largest], unit))
}

/// The largest block of a workload whose time is printed.
fn small(group: &Group) -> u64 {
    let sizes = group.all.iter().filter_map(|m| m.params.get(key::BLOCK_SIZE));
    if on_disk(group) { sizes.min().unwrap_or(0).min(SMALL_ON_DISK) } else { SMALL }
}

/// Time per block, where blocks are small: for memory one table per combination of the parameters,
/// for a disk one table.
pub fn reciprocal(group: &Group) -> Vec<Table> {
    let most = small(group);
    let is_small = |m: &&Measurement| {
        let block = m.params.get(key::BLOCK_SIZE);
        m.unit == Unit::BytePerSecond && block.is_some_and(|b| (1..=most).contains(&b))
    };
    let small: Vec<&Measurement> = group.all.iter().copied().filter(is_small).collect();
    if on_disk(group) {
        return by_block(group, None, &small).into_iter().collect();
    }
    let by = rows_by(group);
    let parts = combinations(group, &small, by);
    parts.into_iter().filter_map(|(_, members)| by_block(group, Some(by), &members)).collect()
}

fn by_block<'t>(group: &Group, by: Option<&str>, members: &[&'t Measurement]) -> Option<Table> {
    let first = members.first()?;
    let size = first.params.get(key::BLOCK_SIZE)?;
    let name =
        by.map_or_else(String::new, |by| group.short_without(first, &[by, key::BLOCK_SIZE.name()]));
    let line = |m: &&'t Measurement| Line::times(m, block_bytes(group, m).unwrap_or(0.0));
    let lines: Vec<Line> = members.iter().map(line).collect();
    let disk = on_disk(group);
    // A disk is compared with the latency of its own I/Os, memory with the latency of the whole
    // run.
    let id = giving(group.run, Property::LoadLatency).first().map(|(id, _)| *id);
    let found = id.and_then(|id| Group::new(group.run, id).answer());
    let (title, term, meaning) = match disk {
        true => ("latency p50", "reciprocal throughput of a disk", RECIPROCAL_IO.to_owned()),
        false => {
            let here = found.map_or_else(String::new, |(m, _)| here(&group.run.host, m));
            let measured = id.map(|id| format!(", as {} measures it{here}", clean(id)));
            let meaning = format!("{RECIPROCAL}{}.", measured.unwrap_or_default());
            (id.unwrap_or("load latency"), "reciprocal throughput of memory", meaning)
        }
    };
    let title = clean(title);
    let latency = |m: &Measurement| match disk {
        true => {
            let p50 = m.latency.as_ref().map(|l| l.p50);
            p50.ok_or_else(|| why_missing(m, "latency", NOT_TIMED))
        }
        false => {
            let of_run = found.map(|(_, s)| s.value());
            of_run.ok_or_else(|| format!("{title} has no result in this run"))
        }
    };
    let means = lines.iter().flat_map(|l| [l.mean, latency(l.m).ok()]).flatten();
    let scale = Scale::for_values(&means.collect::<Vec<_>>(), Unit::Second);
    let what = format!("reciprocal throughput, time per block of {}", format_size(size));
    let table = start(group, &scale, by, [&what, &name], &lines)
        .measured(&title, scale.label(), |Line { m, .. }| {
            scale.number(latency(m)?).ok_or_else(not_finite)
        })
        .explained(term, &meaning);
    Some(table.rows(lines))
}

fn on_disk(group: &Group) -> bool {
    group.all.iter().any(|m| m.subsystem.info().uses_block_devices)
}

/// The conditions under which the latency was measured, as far as the configuration holds them.
fn here(host: &Host, m: &Measurement) -> String {
    let set = m.params.get(key::WORKING_SET);
    let word = |key| m.params.get(key).map(clean);
    let parts = [
        set.map(|bytes| format!("at a working set of {}", format_size(bytes))),
        set.and_then(|bytes| within(host, bytes, m.params.threads())),
        word(key::PAGES).map(|pages| format!("in {pages} pages")),
        word(key::ORDER).map(|order| format!("in order {order}")),
    ];
    enclosed("; here ", &joined(parts.into_iter().flatten(), ", "), "")
}

impl<'a> Line<'a> {
    /// The values as measured, with the run's own statistics.
    fn from_trials(m: &'a Measurement) -> Self {
        if round_trips(m) {
            // Each stream has one block under way at any time, so this is the mean of all.
            return Self::times(m, m.params.threads() as f64);
        }
        let trials = m.summary.as_ref().map(|s| &s.trials);
        let values = m.trials.iter().map(|t| t.value).collect();
        Self { m, values, mean: trials.map(|t| t.mean), sd: trials.and_then(|t| t.sd) }
    }

    /// The time of an amount of work in each trial. Trials that did less have no number. Mean and
    /// deviation are those of the times.
    fn times(m: &'a Measurement, work: f64) -> Self {
        let time = |t: &Trial| Some(work / t.value).filter(|time| *time <= t.seconds * LONGEST);
        let values: Vec<f64> = m.trials.iter().map(|t| time(t).unwrap_or(f64::NAN)).collect();
        let known = || values.iter().filter(|v| v.is_finite());
        let n = known().count() as f64;
        let mean = known().sum::<f64>() / n;
        let squares: f64 = known().map(|v| (v - mean).powi(2)).sum();
        let sd = (n > 1.0).then(|| (squares / (n - 1.0)).sqrt());
        Self { m, mean: (n > 0.0).then_some(mean), values, sd }
    }
}

/// The parameter that names the rows.
fn rows_by<'a>(group: &Group<'a>) -> &'a str {
    const BLOCK_SIZE: &str = key::BLOCK_SIZE.name();
    const QUEUE_DEPTH: &str = key::QUEUE_DEPTH.name();
    let threads: BTreeSet<u64> = group.all.iter().map(|m| m.params.threads()).collect();
    match group.axis {
        BLOCK_SIZE if group.all.iter().any(|m| round_trips(m)) => match threads.len() {
            0 | 1 => BLOCK_SIZE,
            _ => key::STREAMS.name(),
        },
        BLOCK_SIZE => key::THREADS.name(),
        QUEUE_DEPTH if threads.len() > 1 => key::THREADS.name(),
        axis => axis,
    }
}

/// Groups of measurements that differ in this parameter only, each with the name of what they
/// share.
fn combinations<'a>(
    group: &Group,
    all: &[&'a Measurement],
    by: &str,
) -> Vec<(String, Vec<&'a Measurement>)> {
    // The caption names what is the same in every row.
    let without = [&[by], &group.fixed[..]].concat();
    grouped(all.iter().map(|m| (group.short_without(m, &without), *m)))
}

/// A table whose rows are named by one parameter, or by all that vary.
fn start<'t>(
    group: &'t Group,
    scale: &'t Scale,
    by: Option<&'t str>,
    [what, name]: [&str; 2],
    lines: &[Line],
) -> Columns<'t, Line<'t>> {
    let most = lines.iter().map(|l| l.values.len()).max().unwrap_or(0);
    let (what, all) = if most > SHOWN {
        let first = what.replacen(EVERY, &format!("the first {SHOWN} trials"), 1);
        (first, "; average and deviation are over all trials")
    } else {
        (what.to_owned(), "")
    };
    let by_word = by.map_or_else(String::new, |by| format!(" by {}", spoken(by)));
    let what = format!("{what}{by_word}{}", enclosed(", ", name, ""));
    let caption = format!("{}, in {}{all}", caption(group, &what), scale.label());
    let columns = Columns::new(caption);
    let mut table = match by {
        Some(by) => columns.number(&spoken(by), move |Line { m, .. }| {
            let row = match key::THREADS == by {
                true => Some(format_count(m.params.threads())),
                false => group.text(m, by),
            };
            row.ok_or("not a parameter of this configuration")
        }),
        None => {
            let names = group.varying.iter().filter(|n| key::BLOCK_SIZE != **n);
            names.fold(columns, |columns, name| parameter(columns, group, name))
        }
    }
    .keys();
    for i in 0..most.min(SHOWN) {
        let title = format!("Exp {}", i + 1);
        let value = move |Line { m, values, .. }: &Line| {
            let value = values.get(i).and_then(|v| number(m, scale, *v));
            value.ok_or_else(|| match m.trials.len() {
                0 => why_no_trials(m),
                n if i >= n => "this configuration took fewer trials".to_owned(),
                _ if values[i].is_nan() => LESS_THAN_A_BLOCK.to_owned(),
                _ => not_finite(),
            })
        };
        table = table.number(&title, value).spare(3);
    }
    table
        .number("Average", |Line { m, mean, .. }| {
            mean.and_then(|v| number(m, scale, v)).ok_or_else(|| match m.trials.is_empty() {
                true => why_no_trials(m),
                false => "no trial did a whole block".to_owned(),
            })
        })
        .number("Std Dev", |Line { m, sd, .. }| {
            sd.and_then(|sd| number(m, scale, sd)).ok_or_else(|| match &m.summary {
                None => why_no_trials(m),
                Some(_) => why_missing(m, "summary.trials.sd", "one trial has no deviation"),
            })
        })
        .column("verdict", |Line { m, .. }| verdict(group, m))
}

/// A value on the scale; round trips of microseconds keep their digits in ms, as published.
fn number(m: &Measurement, scale: &Scale, value: f64) -> Option<String> {
    let scaled = scale.scaled(value);
    match round_trips(m) && (1e-5..1.0).contains(&scaled) {
        true => Some(format!("{scaled:.5}")),
        false => scale.number(value),
    }
}
