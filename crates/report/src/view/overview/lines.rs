//! Charts over several workloads: GIOPS and GFLOPS of the instruction mixes by threads, and TCP
//! with UDP. Loopback and another machine have lines of their own.

use proofmark_model::{Measurement, format_count, format_size, key, word};

use super::best_by;
use crate::view::chart::{Chart, LINES};
use crate::view::declared::rows_of;
use crate::view::grouping::grouped;
use crate::view::label::Group;
use crate::view::network::PATH;
use crate::view::series::workloads::{About, Line, Value, chart};
use crate::view::text::{clean, enclosed, joined};

const RATES: &str = "TCP and UDP throughput by streams";
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

pub fn network(all: &[&Group]) -> Vec<Chart> {
    let forward = |m: &Measurement| m.params.get(key::DIRECTION).is_none_or(|d| d == "forward");
    let blocking = |m: &Measurement| m.params.get(key::MODE).is_none_or(|mode| mode == word::BLOCK);
    let smallest = |g: &Group| g.all.iter().filter_map(|m| m.params.get(key::BLOCK_SIZE)).min();
    let streams = |m: &Measurement| Some(m.params.threads());
    let block = |m: &Measurement| m.params.get(key::BLOCK_SIZE);
    let throughput = named(all, STREAMS, |_, m| forward(m), streams);
    let trips = named(all, ROUND_TRIPS, |g, m| blocking(m) && block(m) == smallest(g), streams);
    let sizes = named(all, ROUND_TRIPS, |_, m| blocking(m) && m.params.threads() == 1, block);
    let best = "Best result at each number of streams, over all block sizes. Loopback is not a \
        network.";
    let loopback = "Loopback is not a network.";
    let about = |title, value, key| About {
        title,
        axis: key::STREAMS.name(),
        place: format_count,
        value,
        key,
    };
    let by_size = about(BY_SIZE, Value::P50, loopback);
    let by_size = About { axis: "block size", place: format_size, ..by_size };
    let charts = [
        chart(&about(RATES, Value::Rate, best), &throughput),
        chart(&about(SMALLEST, Value::P50, loopback), &trips),
        chart(&by_size, &sizes),
    ];
    charts.into_iter().flatten().collect()
}

/// One line per protocol and path.
fn named<'g, 'a>(
    all: &[&'g Group<'a>],
    table: &str,
    keep: impl Fn(&Group, &Measurement) -> bool,
    x: impl Fn(&Measurement) -> Option<u64> + Copy,
) -> Vec<Line<'g, 'a>> {
    let lines = |(group, protocol): (&'g Group<'a>, String)| {
        let kept = group.all.iter().copied().filter(|m| keep(group, m));
        let mut paths = grouped(kept.map(|m| (group.text(m, PATH).unwrap_or_default(), m)));
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        let line = move |(path, here): (String, Vec<&'a Measurement>)| Line {
            name: joined([&protocol, &path], ", "),
            group,
            points: best_by(&here, x),
        };
        paths.into_iter().map(line).collect::<Vec<_>>()
    };
    rows_of(all.iter().copied(), table).into_iter().flat_map(lines).collect()
}
