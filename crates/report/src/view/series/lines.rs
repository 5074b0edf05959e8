//! Line charts along each parameter in which results differ. Device and page cache are never in one
//! chart, loopback and another machine may be.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Pace, Unit, key};

use super::across::{Across, across};
use super::panels::{Panel, panels};
use super::value::Value;
use super::{drawable, follows, line_name, title};
use crate::view::chart::{Chart, LINES, Series, Spot};
use crate::view::disk::{self, IO_PATH, chart_iops, io_path, iops};
use crate::view::grouping::{distinct, grouped};
use crate::view::label::Group;
use crate::view::network::round_trips;
use crate::view::num::Scale;
use crate::view::saturation::{self, RING};
use crate::view::text::joined;

/// Parameters along which a chart is drawn where results differ in them.
const PARAMETERS: [&str; 4] =
    [key::BLOCK_SIZE.name(), key::THREADS.name(), key::STREAMS.name(), key::QUEUE_DEPTH.name()];

const FALL: &str = "Arrow: the rate fell from the burst rate to the sustained rate.";

/// The line charts of one workload. For each I/O mode there is one along the workload's axis and
/// one along each other parameter.
pub fn lines(group: &Group, scale: &Scale) -> Vec<Chart> {
    let drawn = drawable(group, scale);
    let mut paths: Vec<Option<String>> = distinct(drawn.iter().map(|m| io_path(m)));
    paths.sort_by_key(|path| !path.as_ref().is_some_and(|w| w.starts_with("direct")));
    let mut out = Vec::new();
    for of in paths {
        let part: Vec<&Measurement> = drawn.iter().copied().filter(|m| io_path(m) == of).collect();
        let first = along(group, scale, group.axis, &part).unwrap_or_default();
        let other = |n: &&str| *n != group.axis && (first.is_empty() || is_drawn(group, n, &part));
        let others = PARAMETERS.into_iter().filter(other);
        let others = others.filter_map(|n| along(group, scale, n, &part)).flatten();
        let others: Vec<Chart> = others.collect();
        out.extend([first, others].concat());
    }
    out
}

/// Returns true if a parameter other than the axis has a chart. For disk and network each one has;
/// for others, as published, the threads where few block sizes allow a line each.
fn is_drawn(group: &Group, parameter: &str, part: &[&Measurement]) -> bool {
    let sizes: BTreeSet<_> = part.iter().map(|m| m.params.named(group.axis)).collect();
    let published =
        key::THREADS == parameter && key::BLOCK_SIZE == group.axis && sizes.len() <= LINES;
    published || part.iter().any(|m| is_io(m))
}

fn is_io(m: &Measurement) -> bool {
    m.subsystem.info().uses_system_calls
}

/// Charts along one parameter. For disk and network, lines of a single point are left out.
fn along<'a>(
    group: &Group<'a>,
    scale: &Scale,
    parameter: &'a str,
    part: &[&'a Measurement],
) -> Option<Vec<Chart>> {
    let mut named = vec![parameter, IO_PATH];
    named.extend(follows(group, parameter));
    let name = |m: &&Measurement| group.short_without(m, &named);
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    part.iter().for_each(|m| *points.entry(name(m)).or_default() += 1);
    let company =
        |m: &&Measurement| !is_io(m) || points.get(&name(m)).is_some_and(|count| *count > 1);
    let members: Vec<&Measurement> = part.iter().copied().filter(company).collect();
    let across = across(group, parameter, &members)?;
    // Like the headline, random I/O is counted in operations; over several block sizes, rates
    // compare better.
    let count = key::QUEUE_DEPTH == group.axis && key::BLOCK_SIZE != parameter;
    let value = match count && members.iter().all(|m| iops(m).is_some()) {
        true => Value::Iops,
        // The time of round trips is more useful than their rate.
        false if members.iter().all(|m| round_trips(m) && m.latency.is_some()) => Value::P50,
        false => Value::Rate,
    };
    // The title names what all these results have in common.
    let common = common(group, &members, &named);
    let differing: Vec<&str> =
        group.varying.iter().copied().filter(|n| !common.contains(n) && *n != IO_PATH).collect();
    let name = group.short_without(members.first()?, &differing);
    named.extend(common);
    let panels = panels(group, &members, &named, LINES);
    let drawn =
        |p: &Panel| chart(group, scale, value, &across, p, &joined([&*name, &p.name], ", "));
    let is_lonely = |c: &Chart| c.series.iter().all(|s| s.spots.len() < 2);
    Some(panels.iter().map(drawn).filter(|c| !is_lonely(c)).collect())
}

/// Parameters that vary in the workload, but not among these measurements.
fn common<'a>(group: &Group<'a>, members: &[&Measurement], named: &[&str]) -> Vec<&'a str> {
    let same = |name: &&str| {
        let mut values = members.iter().map(|m| m.params.named(name));
        let first = values.next();
        values.all(|v| Some(v) == first)
    };
    group.varying.iter().copied().filter(|n| !named.contains(n)).filter(same).collect()
}

fn chart(
    group: &Group,
    rates: &Scale,
    value: Value,
    across: &Across,
    panel: &Panel,
    name: &str,
) -> Chart {
    let rings = if across.is_n { saturation::points(group, &panel.members) } else { Vec::new() };
    let iops = chart_iops(panel.members.iter().copied());
    let values: Vec<f64> = panel.members.iter().filter_map(|m| value.read(group, m)).collect();
    let times = Scale::for_values(&values, Unit::Second);
    // All scales have the same label.
    // The chart's own values decide: those of other charts may be millions of times larger.
    let own = panel.members.first().map_or_else(|| rates.clone(), |m| disk::scale(m, &values));
    let scales = |m: &Measurement| match value {
        Value::Iops => iops(m).unwrap_or_else(|| own.clone()),
        Value::P50 => times.clone(),
        _ => own.clone(),
    };
    let spot = |m: &&Measurement| {
        let ((at, x), mut mark) = (across.place)(m).zip(value.mark(group, m, &scales(m)))?;
        let saturates = rings.iter().any(|ring| std::ptr::eq(*ring, *m));
        if saturates {
            mark.about.push_str(", saturates here");
        }
        Some((
            line_name(group, m, &panel.named),
            Spot { at, x, mark, saturates, ..Spot::default() },
        ))
    };
    let line = |(name, spots): (String, Vec<Spot>)| {
        let mut line = Series::through(&name, spots);
        if across.is_n {
            let ceilings = line.spots.iter().filter_map(|s| Some([s.at, s.mark.ceiling?]));
            line.ceiling = ceilings.collect();
        }
        line
    };
    let series: Vec<Series> =
        grouped(panel.members.iter().filter_map(spot)).into_iter().map(line).collect();
    let (rules, about) = &across.rules;
    let spots = || series.iter().flat_map(|s| &s.spots);
    let ring = if spots().any(|s| s.saturates) { RING } else { "" };
    let fall = if spots().any(|s| s.mark.fall.is_some()) { FALL } else { "" };
    let key = joined([ring, fall, about], " ");
    // Rates of a CPU are compared with their ceilings and with zero.
    let may_be_log = panel.members.iter().all(|m| m.subsystem.info().pace != Pace::Core);
    let unit = panel.members.first().map(|m| scales(m).label().to_owned()).unwrap_or_default();
    let title = title(group, &format!("{} by {}", value.noun(group), across.name), name);
    let words = [&*unit, &across.name];
    let chart = Chart::highest(title, across.axis.clone(), words, may_be_log, series);
    Chart { rules: rules.clone(), key, ..chart }
}
