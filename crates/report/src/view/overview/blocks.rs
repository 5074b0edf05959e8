//! Sequential and random blocks of memory and disk: rates by block size, the time of one block by
//! threads, and times per operation and per byte.
//!
//! Charts compare workloads under the same conditions: a line has one number of threads and one
//! queue depth. For a disk only direct I/O counts, so that no line mixes it with the page cache. The
//! table has the best result of each block size.

use proofmark_model::{Measurement, Unit, format_count, format_size, key};

use super::best_by;
use super::conditions::{charts, entries};
use crate::view::chart::Chart;
use crate::view::columns::{Columns, not_finite};
use crate::view::declared::{block_bytes, rows_of};
use crate::view::disk;
use crate::view::grouping::grouped;
use crate::view::label::{Group, why_missing};
use crate::view::latency::NOT_TIMED;
use crate::view::num::Scale;
use crate::view::operation::time_of;
use crate::view::series::workloads::{About, Line, Value, chart};
use crate::view::table::Table;
use crate::view::text::{clean, joined};

pub const MEMORY: &str = "memory_blocks";
pub const DISK: &str = "disk_blocks";

const OPERATION: [&str; 2] = [
    "time per operation",
    "The block size divided by the rate of all threads: a reciprocal throughput, not a latency. It \
     falls with more threads. The time per byte is one byte divided by that rate.",
];

/// The note under the charts of a disk.
const DEVICE: &str = "Direct I/O only.";
/// The note under the charts of times.
const RECIPROCAL: &str =
    "Block size divided by the rate of all threads. It is not a latency: blocks overlap.";

fn block(m: &Measurement) -> Option<u64> {
    m.params.get(key::BLOCK_SIZE)
}

/// The workloads in a table, each with the results that count.
fn members<'g, 'a>(
    all: &[&'g Group<'a>],
    table: &str,
) -> Vec<(&'g Group<'a>, Vec<&'a Measurement>)> {
    let points = |g: &'g Group<'a>| {
        let near = |m: &&Measurement| {
            m.unit == Unit::BytePerSecond && disk::distance_from_device(m) == Some(0)
        };
        (g, g.all.iter().copied().filter(near).collect())
    };
    let known = rows_of(all.iter().copied(), table).into_iter();
    known.map(|(g, _)| points(g)).filter(|(_, points): &(_, Vec<_>)| !points.is_empty()).collect()
}

pub fn lines(all: &[&Group], table: &str) -> Vec<Chart> {
    let members = members(all, table);
    let disk =
        members.iter().flat_map(|(g, _)| &g.all).any(|m| m.subsystem.info().uses_block_devices);
    let (what, note) = if disk { ("Disk", DEVICE) } else { ("Memory", "") };
    let named = members.iter().map(|(g, points)| (g.heading(), *g, points.clone()));
    let lines = entries(named, key::BLOCK_SIZE.name());
    let of_block = |title: &str, value, key: &str| {
        let title = format!("{what}: {title} by block size");
        let about = About { title: &title, axis: "block size", place: format_size, value, key };
        charts(&about, &lines)
    };
    let times = joined([RECIPROCAL, note], " ");
    let mut all = of_block("sequential and random rate", Value::Rate, note);
    all.extend(by_threads(&members, disk));
    all.extend(of_block("time of one operation", Value::TimeOf(block_bytes), &times));
    all.extend(of_block("time of one byte", Value::TimeOf(|_, _| Some(1.0)), &times));
    all
}

/// Draws what the published experiments call latency, by threads. For a disk it is the median time
/// of single I/Os with the smallest block. For memory it is the time of one block, which is not a
/// latency.
fn by_threads<'a>(members: &[(&Group<'a>, Vec<&'a Measurement>)], disk: bool) -> Option<Chart> {
    let smallest = members.iter().flat_map(|(_, points)| points).filter_map(|m| block(m)).min()?;
    let found: Vec<Line> =
        members.iter().flat_map(|(g, points)| lines_by_threads(g, points, smallest)).collect();
    let size = format_size(smallest);
    let (title, value, key) = match disk {
        true => (format!("Disk: latency p50 of {size} by threads"), Value::P50, DEVICE),
        false => {
            (format!("Memory: time of {size} by threads"), Value::TimeOf(block_bytes), RECIPROCAL)
        }
    };
    let about = About { title: &title, axis: key::THREADS.name(), place: format_count, value, key };
    chart(&about, &found)
}

/// The results of one block size at the shallowest queue, a line for those that are alike in all but
/// their threads.
fn lines_by_threads<'g, 'a>(
    group: &'g Group<'a>,
    points: &[&'a Measurement],
    size: u64,
) -> Vec<Line<'g, 'a>> {
    let small = || points.iter().copied().filter(|m| block(m) == Some(size));
    let depth = |m: &Measurement| m.params.get(key::QUEUE_DEPTH);
    let least = small().filter_map(depth).min();
    let same = [key::THREADS.name(), key::BLOCK_SIZE.name(), key::QUEUE_DEPTH.name()];
    let here = small().filter(|m| depth(m) == least);
    let settings = grouped(here.map(|m| (group.short_without(m, &same), m)));
    let are_several = settings.len() > 1;
    let line = |(setting, of): (String, Vec<&'a Measurement>)| {
        let setting = if are_several { setting } else { String::new() };
        let points = best_by(&of, |m| Some(m.params.threads()));
        Line { name: joined([group.heading(), setting], ", "), group, points }
    };
    settings.into_iter().map(line).collect()
}

/// The time of one operation and of one byte: a row per workload and block size.
pub fn times(all: &[&Group], table: &str) -> Table {
    let members = members(all, table);
    let rows: Vec<(&Group, u64, &Measurement)> = members
        .iter()
        .flat_map(|(g, points)| best_by(points, block).into_iter().map(|(b, m)| (*g, b, m)))
        .collect();
    let value = |m: &Measurement, amount: Option<f64>| time_of(m, amount?);
    let scale = |values: Vec<f64>| Scale::for_values(&values, Unit::Second);
    let each = scale(rows.iter().filter_map(|(g, _, m)| value(m, block_bytes(g, m))).collect());
    let bytes = scale(rows.iter().filter_map(|(_, _, m)| value(m, Some(1.0))).collect());
    let p50 = |m: &Measurement| m.latency.as_ref().map(|l| l.p50);
    let latencies = scale(rows.iter().filter_map(|(_, _, m)| p50(m)).collect());
    let timed = rows.iter().any(|(_, _, m)| m.latency.is_some());
    // With one size per workload there is nothing to compare.
    let compares = rows.iter().any(|(g, _, m)| {
        m.summary.is_some() && rows.iter().filter(|(h, _, _)| h.id == g.id).count() > 1
    });
    Columns::new("Time per operation and per byte, at the best rate of each block size")
        .column("workload", |(g, _, _): &(&Group, u64, &Measurement)| clean(g.id))
        .number("block size", |(_, size, _)| format_size(*size))
        .keys()
        .column("configuration", |(g, _, m)| g.short_without(m, &[key::BLOCK_SIZE]))
        .spare(2)
        .measured("per operation", each.label(), |(g, _, m)| {
            value(m, block_bytes(g, m)).and_then(|v| each.number(v)).ok_or_else(not_finite)
        })
        .explained(OPERATION[0], OPERATION[1])
        .measured("per byte", bytes.label(), |(_, _, m)| {
            value(m, Some(1.0)).and_then(|v| bytes.number(v)).ok_or_else(not_finite)
        })
        .when(timed, |table| {
            table.measured("latency p50", latencies.label(), |(_, _, m)| {
                let time = p50(m).and_then(|v| latencies.number(v));
                time.ok_or_else(|| why_missing(m, "latency", NOT_TIMED))
            })
        })
        .column("verdict", |(_, _, m)| m.verdict)
        .rows(rows.into_iter().filter(|_| compares))
}
