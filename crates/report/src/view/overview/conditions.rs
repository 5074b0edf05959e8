//! Charts of several workloads under the same conditions. A line never takes the best over threads,
//! queue depths or block sizes: each combination has its own line or its own chart.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proofmark_model::{IO_PATH, Measurement, Params, key};

use super::best_by;
use crate::view::chart::{Chart, LINES, left_out};
use crate::view::disk::io_path;
use crate::view::grouping::grouped;
use crate::view::label::Group;
use crate::view::network::PATH;
use crate::view::series::follows;
use crate::view::series::workloads::{About, Line, Value, chart};
use crate::view::text::{enclosed, joined};

/// Maximum number of charts for different conditions.
const CHARTS: usize = 4;

/// Parameters that are no condition: they follow another one, or the name of the line has them.
const OTHERS: [&str; 5] = [IO_PATH, PATH, key::CACHE.name(), key::ENGINE.name(), key::FLUSH.name()];

/// A line of a workload under one condition.
pub struct Entry<'g, 'a> {
    /// The workload: `Sequential read`.
    pub name: String,
    /// The condition: `2 threads`; empty where there is only one.
    condition: String,
    line: Line<'g, 'a>,
}

/// The lines of named workloads along a parameter, one for each condition.
pub fn entries<'g, 'a>(
    all: impl IntoIterator<Item = (String, &'g Group<'a>, Vec<&'a Measurement>)>,
    parameter: &'a str,
) -> Vec<Entry<'g, 'a>> {
    let all: Vec<_> = all.into_iter().collect();
    let varying: BTreeSet<&str> = all.iter().flat_map(|(_, g, _)| g.varying.clone()).collect();
    let mut entries = Vec::new();
    for (name, group, points) in all {
        let follower = follows(group, parameter);
        let axis = |n: &str| n == parameter || (is_threads(parameter) && is_threads(n));
        let condition = |n: &&str| !axis(n) && !OTHERS.contains(n) && Some(*n) != follower;
        let names: Vec<&str> = varying.iter().copied().filter(condition).collect();
        // With and without a flush, a disk does other work.
        let ways = grouped(points.iter().map(|m| (io_path(m), *m)));
        let are_several = ways.len() > 1;
        for (way, points) in ways {
            let way = way.filter(|_| are_several).unwrap_or_default();
            let named = points.iter().map(|m| (group.phrase(m, names.iter().copied()), *m));
            for (condition, of) in grouped(named) {
                let points = best_by(&of, |m| place(m, parameter));
                let line = Line { name: String::new(), group, points };
                entries.push(Entry { name: joined([&name, &way], ", "), condition, line });
            }
        }
    }
    entries
}

fn is_threads(parameter: &str) -> bool {
    Params::THREADS.into_iter().any(|k| k == *parameter)
}

/// A number that places a result on an axis.
fn place(m: &Measurement, parameter: &str) -> Option<u64> {
    if is_threads(parameter) { Some(m.params.threads()) } else { m.params.number(parameter) }
}

/// Draws the lines. One chart has room for a few; of more, each chart has those of one condition.
pub fn charts(about: &About, entries: &[Entry]) -> Vec<Chart> {
    let drawn: Vec<&Entry> = entries.iter().filter(|e| e.line.points.len() > 1).collect();
    // Rates of a single workload would repeat its own chart.
    let least = if matches!(about.value, Value::TimeOf(_) | Value::Payload) { 1 } else { 2 };
    let count = |entries: &[&Entry]| entries.iter().map(|e| &e.name).collect::<BTreeSet<_>>().len();
    let draw = |condition: &str, entries: &[&Entry]| {
        if count(entries) < least {
            return None;
        }
        let name = |e: &Entry| match e.condition == condition {
            true => e.name.clone(),
            false => joined([&e.name, &e.condition], ", "),
        };
        let title = format!("{}{}", about.title, enclosed(" (", condition, ")"));
        let line = entries.iter().map(|e| Line { name: name(e), ..e.line.clone() });
        let lines: Vec<Line> = line.collect();
        chart(&About { title: &title, ..*about }, &lines)
    };
    let mut conditions = grouped(drawn.iter().map(|e| (e.condition.clone(), *e)));
    if drawn.len() <= LINES {
        let one = conditions.first().filter(|_| conditions.len() == 1);
        let condition = one.map_or("", |(condition, _)| condition);
        return draw(condition, &drawn).into_iter().collect();
    }
    let places = |(_, of): &(String, Vec<&Entry>)| {
        Reverse(of.iter().map(|e| e.line.points.len()).sum::<usize>())
    };
    conditions.retain(|(_, of)| count(of) >= least);
    conditions.sort_by_key(places);
    let more = conditions.len().saturating_sub(CHARTS);
    conditions.truncate(CHARTS);
    let mut charts: Vec<Chart> =
        conditions.iter().filter_map(|(condition, of)| draw(condition, of)).collect();
    if let Some(last) = charts.last_mut() {
        let more = left_out(more, "condition", "in the charts of each workload");
        last.left_out = joined([&last.left_out, &more], " ");
    }
    charts
}
