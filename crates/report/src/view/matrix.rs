//! Headline figures over a long axis in few lines: a row per value, a column per combination of
//! the other parameters. For a terminal, where a row per point would fill many screens.

use proofmark_model::{Measurement, Params, Verdict};

use super::keyed::caption;
use super::label::{Group, figure_word, parameter_value, spoken, why_no_trials};
use super::num::Scale;
use super::table::{Cell, Table};
use super::text::clean;

/// Rows of a table that a reader takes in at once.
pub const ROWS: usize = 16;
/// Columns of figures that fit.
const COLUMNS: usize = 6;

/// The headline figures by working set or size; `None` where the whole table is short, or this one
/// would be too wide.
pub fn build(group: &Group, scale: &Scale) -> Option<Table> {
    if !["working_set", Params::SIZE].contains(&group.axis) || group.all.len() <= ROWS {
        return None;
    }
    let axis = group.axis;
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<(u64, Vec<(usize, &Measurement)>)> = Vec::new();
    for m in &group.all {
        let name = group.short_without(m, &[axis]);
        let at = columns.iter().position(|c| *c == name).unwrap_or_else(|| {
            columns.push(name);
            columns.len() - 1
        });
        let value = m.params.int(axis)?;
        match rows.iter_mut().find(|(v, _)| *v == value) {
            Some((_, row)) => row.push((at, m)),
            None => rows.push((value, vec![(at, m)])),
        }
    }
    if columns.len() > COLUMNS {
        return None;
    }
    rows.sort_by_key(|(value, _)| *value);
    let kinds = group.all.iter().filter_map(|m| Some(m.summary.as_ref()?.headline));
    let what = format!("{} by {}, in {}", figure_word(kinds), spoken(axis), scale.label());
    let mut table = Table::new(caption(group, &what)).number(clean(axis));
    table.keys = 1;
    for name in &columns {
        table = match name.split_once(", ") {
            Some((first, rest)) => table.measured(first, rest),
            None => table.number(name.as_str()),
        };
    }
    for (value, row) in rows {
        let mut cells = vec![Cell::text(parameter_value(group.spec, axis, &value.into()))];
        for at in 0..columns.len() {
            let m = row.iter().find(|(column, _)| *column == at).map(|(_, m)| *m);
            cells.push(m.map_or_else(|| Cell::text(""), |m| figure(m, scale, &mut table)));
        }
        table.push(cells);
    }
    Some(table)
}

fn figure(m: &Measurement, scale: &Scale, table: &mut Table) -> Cell {
    let text = m.summary.as_ref().and_then(|s| scale.number(s.value()));
    let Some(text) = text else { return table.missing(why_no_trials(m)) };
    let doubt = (m.verdict != Verdict::Valid).then(|| format!("{}: see the findings", m.verdict));
    let note = doubt.map(|text| table.note(text));
    Cell { note, ..Cell::text(text) }
}
