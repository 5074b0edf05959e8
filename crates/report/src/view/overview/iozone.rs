//! What IOzone prints: rates by file size and record size, a table an operation; of one file size
//! a row per record size, a column per operation.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Unit, Verdict, format_size};

use crate::view::label::{Group, best_usable, why_no_trials};
use crate::view::num::Scale;
use crate::view::table::{Cell, Table};

/// Tables at most, and record sizes in one.
const TABLES: usize = 12;
const RECORDS: usize = 16;

fn record(m: &Measurement) -> Option<u64> {
    m.params.int("block_size")
}

fn file(m: &Measurement) -> Option<u64> {
    m.params.int("file_size")
}

/// IOzone has one process: points on the fewest threads.
fn single<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let rates = || {
        let rate = |m: &&Measurement| m.unit == Unit::BytePerSecond && record(m).is_some();
        group.all.iter().copied().filter(rate)
    };
    let fewest = rates().map(|m| m.params.threads()).min();
    rates().filter(|m| Some(m.params.threads()) == fewest && file(m).is_some()).collect()
}

/// The tables: a matrix of each operation with files of several sizes; or one of all operations.
pub fn tables(all: &[&Group]) -> Vec<Table> {
    let scale = Scale::for_largest([1e6], Unit::BytePerSecond);
    let mut out = Vec::new();
    for group in all {
        let points = single(group);
        let mut names: Vec<String> = Vec::new();
        let name = |m: &Measurement| group.short_without(m, &["file_size", "block_size"]);
        for m in &points {
            if !names.contains(&name(m)) {
                names.push(name(m));
            }
        }
        for of in names {
            let here: Vec<&Measurement> =
                points.iter().copied().filter(|m| name(m) == of).collect();
            out.extend(matrix(group, &here, &of, &scale));
        }
    }
    out.truncate(TABLES);
    if out.is_empty() {
        out.extend(by_operation(all, &scale));
    }
    out
}

fn sizes<'a>(
    of: impl Iterator<Item = &'a Measurement>,
    read: fn(&Measurement) -> Option<u64>,
) -> Vec<u64> {
    of.filter_map(read).collect::<BTreeSet<u64>>().into_iter().collect()
}

/// Rows of file sizes, columns of record sizes; `None` where there are not several of each.
fn matrix(group: &Group, of: &[&Measurement], name: &str, scale: &Scale) -> Option<Table> {
    let files = sizes(of.iter().copied(), file);
    let records = sizes(of.iter().copied(), record);
    (files.len() > 1 && (2..=RECORDS).contains(&records.len())).then_some(())?;
    let named = if name.is_empty() { String::new() } else { format!(" ({name})") };
    let caption = format!(
        "After IOzone, {}{named}: figure by file size and record size, in {}",
        group.heading(),
        scale.label()
    );
    let mut table = Table { keys: 1, ..Table::new(caption).number("file") };
    for size in &records {
        table = table.number(format_size(*size));
    }
    for size in files {
        let mut cells = vec![Cell::text(format_size(size))];
        for of_record in &records {
            let here = |m: &&Measurement| file(m) == Some(size) && record(m) == Some(*of_record);
            cells.push(cell(of.iter().copied().find(here), scale, &mut table));
        }
        table.push(cells);
    }
    Some(table)
}

/// Rows of record sizes, a column an operation; `None` with less than two of either.
fn by_operation(all: &[&Group], scale: &Scale) -> Option<Table> {
    let points: Vec<(&Group, Vec<&Measurement>)> =
        all.iter().map(|g| (*g, single(g))).filter(|(_, points)| !points.is_empty()).collect();
    let records = sizes(points.iter().flat_map(|(_, p)| p).copied(), record);
    let files = sizes(points.iter().flat_map(|(_, p)| p).copied(), file);
    (points.len() > 1 && records.len() > 1).then_some(())?;
    let of = match files.as_slice() {
        [one] => format!(" of {}", format_size(*one)),
        _ => String::new(),
    };
    let caption = format!(
        "After IOzone, one file{of}: figure by record size, on the fewest threads, in {}",
        scale.label()
    );
    let mut table = Table { keys: 1, ..Table::new(caption).number("record") };
    for (group, _) in &points {
        table = table.number(group.heading());
    }
    for size in records {
        let mut cells = vec![Cell::text(format_size(size))];
        for (_, points) in &points {
            let here: Vec<&Measurement> =
                points.iter().copied().filter(|m| record(m) == Some(size)).collect();
            // Of several ways to the file the nearest to the device.
            let near = |m: &&Measurement| crate::view::disk::distance(m).unwrap_or(u8::MAX);
            let nearest = here.iter().map(near).min();
            let here: Vec<&Measurement> =
                here.into_iter().filter(|m| Some(near(m)) == nearest).collect();
            let best = best_usable(&here).map(|(m, _)| m);
            cells.push(cell(best.or(here.first().copied()), scale, &mut table));
        }
        table.push(cells);
    }
    Some(table)
}

/// A figure; one that was reached through the page cache, or is not valid, says so.
fn cell(m: Option<&Measurement>, scale: &Scale, table: &mut Table) -> Cell {
    let Some(m) = m else { return table.missing("not measured") };
    let text = m.summary.as_ref().and_then(|s| scale.number(s.value()));
    let Some(text) = text else { return table.missing(why_no_trials(m)) };
    let way = crate::view::disk::way(m).filter(|way| !way.starts_with("direct"));
    let doubt = match m.verdict {
        Verdict::Valid => None,
        other => Some(format!("{other}: see the findings")),
    };
    let notes: Vec<String> = [way, doubt].into_iter().flatten().collect();
    let note = (!notes.is_empty()).then(|| table.note(notes.join(", ")));
    Cell { note, ..Cell::text(text) }
}
