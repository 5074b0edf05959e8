//! TCP and UDP in the same charts, loopback and another machine each under its name.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, format_count, format_size};

use super::best_by;
use crate::view::chart::Chart;
use crate::view::declared::rows_of;
use crate::view::label::Group;
use crate::view::network::PATH;
use crate::view::series::workloads::{About, Line, Value, chart};

const STREAMS: &str = "network_throughput";
const ROUND_TRIPS: &str = "network_round_trips";

/// The charts.
pub fn lines(all: &[&Group]) -> Vec<Chart> {
    let forward = |m: &Measurement| m.params.text("direction").is_none_or(|d| d == "forward");
    let blocking = |m: &Measurement| m.params.text("mode").is_none_or(|mode| mode == "block");
    let smallest = |g: &Group| g.all.iter().filter_map(|m| m.params.int("block_size")).min();
    let streams = |m: &Measurement| Some(m.params.threads());
    let block = |m: &Measurement| m.params.int("block_size");
    let throughput = named(all, STREAMS, |_, m| forward(m), streams);
    let trips = named(all, ROUND_TRIPS, |g, m| blocking(m) && block(m) == smallest(g), streams);
    let sizes = named(all, ROUND_TRIPS, |_, m| blocking(m) && m.params.threads() == 1, block);
    let of = |title, axis, place, value, key, lines: &[Line]| {
        chart(&About { title, axis, place, value, key }, lines)
    };
    let best = "Best result at each number of streams, over all block sizes. Loopback is not a \
        network.";
    let loopback = "Loopback is not a network.";
    let charts = [
        of(
            "TCP and UDP throughput by streams",
            "streams",
            format_count,
            Value::Rate,
            best,
            &throughput,
        ),
        of(
            "Round trip of the smallest block by streams, p50",
            "streams",
            format_count,
            Value::P50,
            loopback,
            &trips,
        ),
        of(
            "Round trip by block size, p50",
            "block size",
            format_size,
            Value::P50,
            loopback,
            &sizes,
        ),
    ];
    charts.into_iter().flatten().collect()
}

/// A line a protocol and path.
fn named<'g, 'a>(
    all: &[&'g Group<'a>],
    table: &str,
    keep: impl Fn(&Group, &Measurement) -> bool,
    x: impl Fn(&Measurement) -> Option<u64> + Copy,
) -> Vec<Line<'g, 'a>> {
    let mut lines = Vec::new();
    for (group, protocol) in rows_of(all.iter().copied(), table) {
        let kept: Vec<&Measurement> =
            group.all.iter().copied().filter(|m| keep(group, m)).collect();
        let paths: BTreeSet<Option<String>> = kept.iter().map(|m| group.text(m, PATH)).collect();
        for path in paths {
            let here: Vec<&Measurement> =
                kept.iter().copied().filter(|m| group.text(m, PATH) == path).collect();
            let name = path.map_or_else(|| protocol.clone(), |p| format!("{protocol}, {p}"));
            lines.push(Line { name, group, points: best_by(&here, x) });
        }
    }
    lines
}
