//! Tables in IOzone's form. With several file sizes, each operation has a table of rates by file
//! size and record size. With one file size, a table has a row per record size and a column per
//! operation.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Measurement, Unit, format_size, key};

use crate::view::columns::{Columns, Entry};
use crate::view::disk::distance_from_device;
use crate::view::grouping::grouped;
use crate::view::label::{Group, best_usable};
use crate::view::num::Scale;
use crate::view::shared_parts::figure;
use crate::view::table::Table;
use crate::view::text::{enclosed, joined};

/// Maximum number of tables, and of record sizes in one.
const TABLES: usize = 12;
const RECORDS: usize = 16;

fn record(m: &Measurement) -> Option<u64> {
    m.params.get(key::BLOCK_SIZE)
}

fn file(m: &Measurement) -> Option<u64> {
    m.params.get(key::FILE_SIZE)
}

fn depth(m: &Measurement) -> u64 {
    m.params.get(key::QUEUE_DEPTH).unwrap_or(1)
}

/// Of each file and record size the results with the shallowest queue, of these on the fewest
/// threads, since IOzone has one process with one I/O at a time.
fn single<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let is_rate = |m: &&Measurement| {
        m.unit == Unit::BytePerSecond && record(m).is_some() && file(m).is_some()
    };
    let rates = || group.all.iter().copied().filter(is_rate);
    let as_iozone = |m: &Measurement| (depth(m), m.params.threads());
    let mut least = BTreeMap::new();
    for m in rates() {
        let known = least.entry((file(m), record(m))).or_insert(as_iozone(m));
        *known = as_iozone(m).min(*known);
    }
    rates().filter(|m| least.get(&(file(m), record(m))) == Some(&as_iozone(m))).collect()
}

/// `queue depth 8`; empty for one I/O at a time, as IOzone has it.
fn other_depth(m: &Measurement) -> String {
    let depth = depth(m);
    if depth > 1 { format!("queue depth {depth}") } else { String::new() }
}

/// One table per operation with files of several sizes, or else one table of all operations.
pub fn tables(all: &[&Group]) -> Vec<Table> {
    let scale = Scale::for_largest([1e6], Unit::BytePerSecond);
    let mut out = Vec::new();
    for group in all {
        let name = |m: &Measurement| {
            let columns = [key::FILE_SIZE.name(), key::BLOCK_SIZE.name(), key::QUEUE_DEPTH.name()];
            joined([group.short_without(m, &columns), other_depth(m)], ", ")
        };
        let named = grouped(single(group).into_iter().map(|m| (name(m), m)));
        out.extend(named.iter().filter_map(|(name, here)| matrix(group, here, name, &scale)));
    }
    out.truncate(TABLES);
    if out.is_empty() {
        out.extend(by_operation(all, &scale));
    }
    out
}

fn sizes(of: &[&Measurement], read: fn(&Measurement) -> Option<u64>) -> BTreeSet<u64> {
    of.iter().filter_map(|m| read(m)).collect()
}

/// Rows of file sizes, columns of record sizes; `None` unless there are several of each.
fn matrix(group: &Group, of: &[&Measurement], name: &str, scale: &Scale) -> Option<Table> {
    let (files, records) = (sizes(of, file), sizes(of, record));
    (files.len() > 1 && (2..=RECORDS).contains(&records.len())).then_some(())?;
    let mut table = Columns::new(format!(
        "IOzone table, {}{}: figure by file size and record size, in {}",
        group.heading(),
        enclosed(" (", name, ")"),
        scale.label()
    ))
    .number("file", |size: &u64| format_size(*size))
    .keys();
    for of_record in records {
        table = table.number(&format_size(of_record), move |size| {
            let here = |m: &&Measurement| file(m) == Some(*size) && record(m) == Some(of_record);
            entry(of.iter().copied().find(here), scale)
        });
    }
    Some(table.rows(files))
}

/// Rows of record sizes, one column per operation; `None` unless there are several of both.
fn by_operation(all: &[&Group], scale: &Scale) -> Option<Table> {
    let points: Vec<(&Group, Vec<&Measurement>)> =
        all.iter().map(|g| (*g, single(g))).filter(|(_, points)| !points.is_empty()).collect();
    let every: Vec<&Measurement> = points.iter().flat_map(|(_, p)| p).copied().collect();
    let (files, records) = (sizes(&every, file), sizes(&every, record));
    (points.len() > 1 && records.len() > 1).then_some(())?;
    let of = files.first().filter(|_| files.len() == 1);
    let of = of.map_or_else(String::new, |one| format!(" of {}", format_size(*one)));
    let mut table = Columns::new(format!(
        "IOzone table, one file{of}: figure by record size, on the fewest threads, in {}",
        scale.label()
    ))
    .number("record", |size: &u64| format_size(*size))
    .keys();
    for (group, points) in &points {
        let depths: BTreeSet<String> = points.iter().map(|m| other_depth(m)).collect();
        let one = depths.first().filter(|_| depths.len() == 1).cloned().unwrap_or_default();
        let heading = group.heading() + &enclosed(" (", &one, ")");
        table = table.number(&heading, move |size| {
            // Of several I/O modes, direct I/O is preferred, then the one nearest to the device.
            let near = |m: &Measurement| distance_from_device(m).unwrap_or(u8::MAX);
            let here = || points.iter().copied().filter(|m| record(m) == Some(*size));
            let nearest = here().map(near).min();
            let here: Vec<&Measurement> = here().filter(|m| Some(near(m)) == nearest).collect();
            let best = best_usable(&here).map(|(m, _)| m).or(here.first().copied());
            let depth = best.map(other_depth).filter(|depth| *depth != one);
            match depth {
                Some(depth) => entry(best, scale).noted(depth),
                None => entry(best, scale),
            }
        });
    }
    Some(table.rows(records))
}

fn entry(m: Option<&Measurement>, scale: &Scale) -> Entry {
    m.map_or_else(|| Err("not measured").into(), |m| figure(m, scale))
}
