//! Charts over several workloads: GIOPS and GFLOPS of the instruction mixes by threads, STREAM's
//! functions, and TCP with UDP. Loopback and another machine have lines of their own.

use proofmark_model::{Measurement, format_count, format_size, key, word};

use super::conditions::{charts, entries};
use crate::view::chart::{Chart, LINES};
use crate::view::declared::rows_of;
use crate::view::grouping::grouped;
use crate::view::label::Group;
use crate::view::network::PATH;
use crate::view::series::workloads::{About, Line, Value, chart};
use crate::view::text::{clean, enclosed, joined};

const RATES: &str = "TCP and UDP throughput by streams";
const RATES_BY_SIZE: &str = "TCP and UDP throughput by block size";
const BYTES: &str = "Round trips: message bytes per second in one direction, by block size";
const SMALLEST: &str = "Round trip of the smallest block by streams, p50";
const BY_SIZE: &str = "Round trip by block size, p50";
const STREAMS: &str = "network_throughput";
const ROUND_TRIPS: &str = "network_round_trips";

/// One chart, or one per mix where a single chart would have too many lines.
pub fn instructions(all: &[&Group]) -> Vec<Chart> {
    let mixes = rows_of(all.iter().copied(), "instruction_mixes");
    let lines: Vec<Line> =
        mixes.iter().flat_map(|(group, counted_work)| lines_for(group, counted_work)).collect();
    if lines.len() <= LINES {
        return instruction_chart(&lines, "").into_iter().collect();
    }
    let mix = |l: &Line| l.points.first().and_then(|(_, m)| m.params.get(key::MIX)).map(clean);
    let mut by_mix = grouped(lines.into_iter().map(|l| (mix(&l), l)));
    by_mix.sort_by(|a, b| a.0.cmp(&b.0));
    let chart = |(mix, lines): &(Option<String>, Vec<Line>)| {
        instruction_chart(lines, &enclosed(" (", mix.as_deref().unwrap_or_default(), ")"))
    };
    by_mix.iter().filter_map(chart).collect()
}

fn instruction_chart(lines: &[Line], name: &str) -> Option<Chart> {
    let about = About {
        title: &format!("GIOPS and GFLOPS by threads{name}"),
        axis: key::THREADS.name(),
        place: format_count,
        value: Value::Rate,
        key: "",
    };
    chart(&about, lines)
}

/// One line per combination of the other parameters.
fn lines_for<'g, 'a>(group: &'g Group<'a>, counted_work: &str) -> Vec<Line<'g, 'a>> {
    let measured = group.all.iter().copied().filter(|m| m.summary.is_some());
    let named = measured.map(|m| {
        // Where all results have the same mix, its name is not among the parameters that vary.
        let name = joined([counted_work, &group.short_without(m, &[key::THREADS])], ", ");
        (name, (m.params.threads(), m))
    });
    grouped(named).into_iter().map(|(name, points)| Line { name, group, points }).collect()
}

/// The rates of STREAM's functions, as its listing and the published reports compare them.
pub fn stream(all: &[&Group]) -> Vec<Chart> {
    let functions = rows_of(all.iter().copied(), "stream").into_iter();
    let named = functions.map(|(group, function)| (function, group, group.all.clone()));
    let about = About {
        title: "STREAM functions by threads",
        axis: key::THREADS.name(),
        place: format_count,
        value: Value::Rate,
        key: "",
    };
    charts(&about, &entries(named, key::THREADS.name()))
}

pub fn network(all: &[&Group]) -> Vec<Chart> {
    let forward = |m: &Measurement| m.params.get(key::DIRECTION).is_none_or(|d| d == "forward");
    let blocking = |m: &Measurement| m.params.get(key::MODE).is_none_or(|mode| mode == word::BLOCK);
    let smallest = |g: &Group| g.all.iter().filter_map(|m| m.params.get(key::BLOCK_SIZE)).min();
    let block = |m: &Measurement| m.params.get(key::BLOCK_SIZE);
    let [streams, size] = [key::STREAMS.name(), key::BLOCK_SIZE.name()];
    let rates = |axis| entries(named(all, STREAMS, |_, m| forward(m)), axis);
    let trips = named(all, ROUND_TRIPS, |g, m| blocking(m) && block(m) == smallest(g));
    let sizes =
        entries(named(all, ROUND_TRIPS, |_, m| blocking(m) && m.params.threads() == 1), size);
    let key = "Loopback is not a network.";
    let about =
        |title, value| About { title, axis: key::STREAMS.name(), place: format_count, value, key };
    let by_size =
        |title, value| About { axis: "block size", place: format_size, ..about(title, value) };
    [
        charts(&about(RATES, Value::Rate), &rates(streams)),
        charts(&by_size(RATES_BY_SIZE, Value::Rate), &rates(size)),
        charts(&about(SMALLEST, Value::P50), &entries(trips, streams)),
        charts(&by_size(BY_SIZE, Value::P50), &sizes),
        charts(&by_size(BYTES, Value::Payload), &sizes),
    ]
    .concat()
}

/// The results of each protocol and path.
fn named<'g, 'a>(
    all: &[&'g Group<'a>],
    table: &str,
    keep: impl Fn(&Group, &Measurement) -> bool,
) -> Vec<(String, &'g Group<'a>, Vec<&'a Measurement>)> {
    let paths = |(group, protocol): (&'g Group<'a>, String)| {
        let kept = group.all.iter().copied().filter(|m| keep(group, m));
        let mut paths = grouped(kept.map(|m| (group.text(m, PATH).unwrap_or_default(), m)));
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        let name = move |path: String| joined([&protocol, &path], ", ");
        paths.into_iter().map(|(path, here)| (name(path), group, here)).collect::<Vec<_>>()
    };
    rows_of(all.iter().copied(), table).into_iter().flat_map(paths).collect()
}
