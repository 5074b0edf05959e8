//! Tables in IOzone's form. With several file sizes, each operation has a table of rates by file
//! size and record size. With one file size, a table has a row per record size and a column per
//! operation.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Unit, format_size, key};

use crate::view::columns::{Columns, Entry};
use crate::view::disk::distance_from_device;
use crate::view::grouping::grouped;
use crate::view::label::{Group, best_usable};
use crate::view::num::Scale;
use crate::view::shared_parts::figure;
use crate::view::table::Table;
use crate::view::text::enclosed;

/// Maximum number of tables, and of record sizes in one.
const TABLES: usize = 12;
const RECORDS: usize = 16;

fn record(m: &Measurement) -> Option<u64> {
    m.params.get(key::BLOCK_SIZE)
}

fn file(m: &Measurement) -> Option<u64> {
    m.params.get(key::FILE_SIZE)
}

/// Results on the fewest threads, since IOzone has one process.
fn single<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let is_rate = |m: &&Measurement| m.unit == Unit::BytePerSecond && record(m).is_some();
    let rates = || group.all.iter().copied().filter(is_rate);
    let fewest = rates().map(|m| m.params.threads()).min();
    rates().filter(|m| Some(m.params.threads()) == fewest && file(m).is_some()).collect()
}

/// One table per operation with files of several sizes, or else one table of all operations.
pub fn tables(all: &[&Group]) -> Vec<Table> {
    let scale = Scale::for_largest([1e6], Unit::BytePerSecond);
    let mut out = Vec::new();
    for group in all {
        let name = |m: &Measurement| group.short_without(m, &[key::FILE_SIZE, key::BLOCK_SIZE]);
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
        table = table.number(&group.heading(), move |size| {
            // Of several I/O modes, direct I/O is preferred, then the one nearest to the device.
            let near = |m: &Measurement| distance_from_device(m).unwrap_or(u8::MAX);
            let here = || points.iter().copied().filter(|m| record(m) == Some(*size));
            let nearest = here().map(near).min();
            let here: Vec<&Measurement> = here().filter(|m| Some(near(m)) == nearest).collect();
            entry(best_usable(&here).map(|(m, _)| m).or(here.first().copied()), scale)
        });
    }
    Some(table.rows(records))
}

fn entry(m: Option<&Measurement>, scale: &Scale) -> Entry {
    m.map_or_else(|| Err("not measured").into(), |m| figure(m, scale))
}
