//! The network in few numbers: throughput each way, round trips, connections.

use std::collections::BTreeSet;

use proofmark_model::{Host, Measurement, NetworkPath, Param, Run, Summary, Unit};

use crate::view::headline::best;
use crate::view::host::quantity;
use crate::view::label::{Group, why_no_trials};
use crate::view::latency::percentile;
use crate::view::network::{PATH, is_network, loss, round_trips, single, streams};
use crate::view::num::{Scale, percent};
use crate::view::table::{Cell, Table};
use crate::view::text::clean;

/// Parameters that split the points of a workload into rows: one of them, whichever it has.
const SPLITS: [&str; 2] = ["direction", "mode"];

/// A planned row: its name, its configurations and its best usable result.
struct Line<'a> {
    name: String,
    group: &'a Group<'a>,
    points: Vec<&'a Measurement>,
    best: Option<(&'a Measurement, &'a Summary)>,
}

/// The tables, of throughput and of answers; without rows where none was measured.
pub fn tables(run: &Run, groups: &[Group]) -> [Table; 2] {
    let groups = groups.iter().filter(|group| group.all.iter().any(|m| is_network(m)));
    let lines: Vec<Line> = groups.flat_map(lines).collect();
    let paths: BTreeSet<Option<&Param>> =
        lines.iter().flat_map(|l| &l.points).map(|m| m.params.get(PATH)).collect();
    let paths = paths.len() > 1;
    let place = if paths { String::new() } else { place(&run.host) };
    let (rates, answers): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|l| l.points.iter().any(|m| streams(m)));
    [throughput(&rates, paths, &place), times(&answers, paths, &place)]
}

/// The columns that name a row.
fn start(caption: &str, paths: bool) -> Table {
    let mut table = Table::new(caption).column("operation");
    if paths {
        table = table.column(PATH);
    }
    table.keys = if paths { 4 } else { 3 };
    table.number("block").spare(2).number("streams").spare(2)
}

fn throughput(lines: &[Line], paths: bool, place: &str) -> Table {
    let rates: Vec<f64> = lines.iter().filter_map(|l| l.best).map(|(_, s)| s.value()).collect();
    let scale = Scale::for_values(&rates, Unit::BitPerSecond);
    let mut table = start(&format!("Network throughput at a glance{place}"), paths)
        .measured("payload", scale.label())
        .measured("lost", "%")
        .spare(1)
        .column("verdict");
    for line in lines {
        let cells = cells(line, paths, &mut table, |m, s, table| {
            let lost = loss(m).and_then(percent);
            vec![
                table.maybe(scale.number(s.value()), || "not a finite number".to_owned()),
                table.maybe(lost, || "TCP retransmits lost data".to_owned()),
            ]
        });
        table.push(cells);
    }
    table
}

fn times(lines: &[Line], paths: bool, place: &str) -> Table {
    let found = || lines.iter().filter_map(|l| l.best);
    let times: Vec<f64> = found().filter_map(|(m, _)| m.latency.as_ref()).map(|l| l.p50).collect();
    let scale = Scale::for_values(&times, Unit::Second);
    let each = Scale::for_largest([1.0], Unit::OpPerSecond);
    let mut table = start(&format!("Round trips and connections at a glance{place}"), paths)
        .measured("p50", scale.label())
        .measured("p99", scale.label())
        .measured("rate", each.label())
        .spare(2)
        .column("verdict");
    for line in lines {
        let cells = cells(line, paths, &mut table, |m, s, table| {
            vec![
                percentile(m, &scale, table, |l| Some(l.p50)),
                percentile(m, &scale, table, |l| l.p99),
                table.maybe(each.number(s.value()), || "not a finite number".to_owned()),
            ]
        });
        table.push(cells);
    }
    table
}

/// A row per path and value of the splitting parameter.
fn lines<'a>(group: &'a Group<'a>) -> Vec<Line<'a>> {
    let title = group.spec.map_or(group.id, |s| &s.title);
    // The table is of throughput, and says so.
    let name = clean(title.strip_suffix(" throughput").unwrap_or(title));
    let word = |m: &'a Measurement| SPLITS.iter().find_map(|parameter| m.params.text(parameter));
    let split = |m: &'a Measurement| (m.params.get(PATH), word(m));
    let mut kinds: Vec<_> = Vec::new();
    for m in &group.all {
        if !kinds.contains(&split(m)) {
            kinds.push(split(m));
        }
    }
    // Loopback next to the other machine, whatever the order of the points.
    let rank = |kind: Option<&str>| group.all.iter().position(|m| word(m) == kind);
    kinds.sort_by_key(|(path, kind)| (rank(*kind), *path));
    let line = |kind| {
        let mut points: Vec<&Measurement> =
            group.all.iter().copied().filter(|m| split(m) == kind).collect();
        if points.iter().all(|m| round_trips(m)) {
            points = single(points);
        }
        let name = match kind.1 {
            Some("block") => format!("{name}, blocking"),
            Some("poll") => format!("{name}, polling"),
            Some("both") => format!("{name}, both ways"),
            Some(word) => format!("{name}, {}", clean(word)),
            None => name.clone(),
        };
        Line { name, group, best: best(group, &points), points }
    };
    kinds.into_iter().map(line).collect()
}

/// A row; `measured` are the cells between the names and the verdict.
fn cells(
    line: &Line,
    paths: bool,
    table: &mut Table,
    measured: impl FnOnce(&Measurement, &Summary, &mut Table) -> Vec<Cell>,
) -> Vec<Cell> {
    let mut cells = vec![Cell::text(line.name.as_str())];
    let first = line.best.map(|(m, _)| m).or(line.points.first().copied());
    if paths {
        let path = first.and_then(|m| line.group.text(m, PATH));
        cells.push(table.maybe(path, || "not a parameter of this configuration".to_owned()));
    }
    let Some((m, s)) = line.best else {
        let none = table.missing(match line.points.as_slice() {
            [m] if m.summary.is_none() => why_no_trials(m),
            _ => "no usable result".to_owned(),
        });
        cells.resize(table.columns.len() - 1, none);
        let worst = line.points.iter().map(|m| m.verdict).max();
        cells.push(worst.map_or_else(|| Cell::text("-"), Cell::verdict));
        return cells;
    };
    let block = line.group.text(m, "block_size");
    cells.push(table.maybe(block, || "a connection carries one byte".to_owned()));
    cells.push(Cell::text(proofmark_model::format_count(m.params.threads())));
    cells.extend(measured(m, s, table));
    cells.push(Cell::verdict(m.verdict));
    cells
}

/// `: loopback, no network`, or `: to peer-1 over eth0 (10 Gbit/s)`.
fn place(host: &Host) -> String {
    let Some(n) = host.network.get() else { return String::new() };
    let by = n.interface.get().map_or_else(String::new, |i| {
        let rate = i
            .bits_per_s
            .map_or_else(|| "no line rate".to_owned(), |r| quantity(r, Unit::BitPerSecond));
        format!(" over {} ({rate})", i.name)
    });
    match n.path {
        NetworkPath::Loopback => ": loopback, no network".to_owned(),
        NetworkPath::Peer => clean(&format!(": to {}{by}", n.server.name)),
    }
}
