//! Headline figures over a long axis in few lines: one row per value, one column per combination of
//! the other parameters. A terminal shows this instead of one row per configuration.

use std::collections::BTreeSet;

use proofmark_model::key;

use super::columns::Columns;
use super::grouping::grouped;
use super::label::{Group, MIXED, figure_of, parameter_value, spoken};
use super::num::Scale;
use super::shared_parts::{caption, figure_of_kind};
use super::table::Table;
use super::text::clean;

/// Maximum number of rows that a reader grasps at once.
pub const ROWS: usize = 16;
/// Maximum number of columns of figures.
const COLUMNS: usize = 6;

/// The headline figures by working set or size. `None` where the whole table is short, or this one
/// would be too wide.
pub fn build(group: &Group, scale: &Scale) -> Option<Table> {
    let axis = group.axis;
    let is_long = key::WORKING_SET == axis || key::MATRIX_SIZE == axis;
    if !is_long || group.all.len() <= ROWS {
        return None;
    }
    let columns = grouped(group.all.iter().map(|m| (group.short_without(m, &[axis]), *m)));
    let values: Option<BTreeSet<u64>> = group.all.iter().map(|m| m.params.number(axis)).collect();
    let values = values.filter(|_| columns.len() <= COLUMNS)?;
    let what = format!("{} by {}, in {}", figure_of(group), spoken(axis), scale.label());
    let mixed = figure_of(group) == MIXED;
    let table = Columns::new(caption(group, &what))
        .number(&clean(axis), |v: &u64| parameter_value(group.spec, axis, &(*v).into()))
        .keys();
    let with_figures = columns.iter().fold(table, |table, (name, members)| {
        let read = move |value: &u64| {
            let here = members.iter().find(|m| m.params.number(axis) == Some(*value));
            here.map_or_else(|| "".into(), |m| figure_of_kind(m, scale, mixed))
        };
        match name.split_once(", ") {
            Some((first, rest)) => table.measured(first, rest, read),
            None => table.number(name, read),
        }
    });
    Some(with_figures.rows(values))
}
