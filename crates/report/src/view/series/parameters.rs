//! Lines along each parameter that points of a disk or a network differ in alone: the device and
//! the page cache never in one chart, loopback and another machine in the same chart.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::Measurement;

use super::across::Across;
use super::lines::{LineChart, Shown, over};
use super::{drawable, follows};
use crate::view::disk::{WAY, chart_iops, iops, way};
use crate::view::label::Group;
use crate::view::network::round_trips;
use crate::view::num::Scale;
use crate::view::operation;

/// The parameters of which a chart is drawn where a workload was measured at several values.
const PARAMETERS: [&str; 4] = ["block_size", "threads", "streams", "queue_depth"];

/// The line charts of a workload: for each way to a disk's file one along the workload's axis,
/// and one along each other parameter that points differ in alone.
pub fn lines(group: &Group, scale: &Scale) -> Vec<LineChart> {
    let drawn = drawable(group, scale);
    let mut ways: Vec<Option<String>> = drawn.iter().map(|m| way(m)).collect();
    ways.sort_by_key(|way| !way.as_ref().is_some_and(|w| w.starts_with("direct")));
    let mut seen = BTreeSet::new();
    ways.retain(|way| seen.insert(way.clone()));
    let others = PARAMETERS.into_iter().filter(|k| *k != group.axis);
    let parameters: Vec<&str> = std::iter::once(group.axis).chain(others).collect();
    let mut out = Vec::new();
    for of in ways {
        let part: Vec<&Measurement> = drawn.iter().copied().filter(|m| way(m) == of).collect();
        for parameter in &parameters {
            out.extend(along(group, scale, parameter, &part).into_iter().flatten());
        }
    }
    out
}

/// Charts along one parameter, of the points that have company on its line.
fn along<'a>(
    group: &Group<'a>,
    scale: &Scale,
    parameter: &'a str,
    part: &[&'a Measurement],
) -> Option<Vec<LineChart>> {
    let mut said = vec![parameter, WAY];
    said.extend(follows(group, parameter));
    let name = |m: &&Measurement| group.short_without(m, &said);
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    part.iter().for_each(|m| *points.entry(name(m)).or_default() += 1);
    let company = |m: &&Measurement| points.get(&name(m)).is_some_and(|count| *count > 1);
    let members: Vec<&Measurement> = part.iter().copied().filter(company).collect();
    let across = Across::for_parameter(group, parameter, &members)?;
    // As in the headline, random I/O is counted in operations; of several block sizes the rates compare better.
    let count = group.axis == "queue_depth" && parameter != "block_size";
    let counted = chart_iops(members.iter().copied());
    let times = operation::scale(members.iter().filter_map(|m| m.latency.as_ref()));
    let shown = match count && members.iter().all(|m| iops(m).is_some()) {
        true => Shown::Iops(&counted),
        false if members.iter().all(|m| timed(m)) => Shown::Time(&times),
        false => Shown::As(scale),
    };
    // What all these points have in common is in the title.
    let common = common(group, &members, &said);
    let differing: Vec<&str> =
        group.varying.iter().copied().filter(|n| !common.contains(n) && *n != WAY).collect();
    let name = group.short_without(members.first()?, &differing);
    said.extend(common);
    Some(over(group, shown, &across, &members, &said, &name))
}

/// Whether the time of its round trips says more than how many there are.
fn timed(m: &Measurement) -> bool {
    round_trips(m) && m.latency.is_some()
}

/// Parameters that vary in the workload and not among these.
fn common<'a>(group: &Group<'a>, members: &[&Measurement], said: &[&str]) -> Vec<&'a str> {
    let same = |name: &&str| {
        let mut values = members.iter().map(|m| m.params.get(name));
        let first = values.next();
        values.all(|v| Some(v) == first)
    };
    group.varying.iter().copied().filter(|n| !said.contains(n)).filter(same).collect()
}
