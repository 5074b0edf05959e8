//! Tables that fit the width that there is.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Grid};

use super::columns_of;
use super::paint::{Paint, verdict_color};
use crate::view::{Cell as ViewCell, Table};

/// The widest layout that fits.
pub fn lay_out(table: &Table, width: usize, paint: Paint) -> String {
    match fitting(table, width) {
        Some((kept, gap)) => grid(table, &kept, gap, paint),
        None => paragraphs(table, width),
    }
}

/// Whether a column of this title has room.
pub fn shows(table: &Table, width: usize, title: &str) -> bool {
    // A paragraph has room for all of them.
    fitting(table, width)
        .is_none_or(|(kept, _)| kept.iter().any(|i| table.columns[*i].title == title))
}

/// The columns that fit, and the spaces between them; `None` where too few do.
fn fitting(table: &Table, width: usize) -> Option<(Vec<usize>, u16)> {
    let most = table.columns.iter().map(|c| c.spare).max().unwrap_or(0);
    for spare in (0..=most).rev() {
        let kept: Vec<usize> =
            (0..table.columns.len()).filter(|i| table.columns[*i].spare <= spare).collect();
        for gap in [2_u16, 1] {
            if natural_width(table, &kept, usize::from(gap)) <= width {
                return Some((kept, gap));
            }
        }
    }
    None
}

/// `-[1]` for a missing value.
fn text(cell: &ViewCell) -> String {
    match cell.note {
        Some(note) => format!("{}[{note}]", cell.text),
        None => cell.text.clone(),
    }
}

fn natural_width(table: &Table, columns: &[usize], gap: usize) -> usize {
    let widest = |i: usize| {
        let column = &table.columns[i];
        let head = columns_of(&column.title).max(column.unit.as_deref().map_or(0, columns_of));
        let cells = table.rows.iter().filter_map(|r| r.cells.get(i)).map(|c| columns_of(&text(c)));
        cells.fold(head, usize::max)
    };
    columns.iter().map(|i| widest(*i) + gap).sum::<usize>().saturating_sub(gap)
}

fn grid(table: &Table, columns: &[usize], gap: u16, paint: Paint) -> String {
    let mut grid = Grid::new();
    grid.load_style(comfy_table::presets::NOTHING);
    grid.set_content_arrangement(ContentArrangement::Disabled);
    if paint.color {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    let units = columns.iter().any(|i| table.columns[*i].unit.is_some());
    let head = columns.iter().map(|i| {
        let column = &table.columns[*i];
        let mut text = column.title.clone();
        if units {
            text.push('\n');
            text.push_str(column.unit.as_deref().unwrap_or(""));
        }
        Cell::new(text).set_alignment(alignment(column.numeric))
    });
    grid.set_header(head.collect::<Vec<_>>());
    for row in &table.rows {
        let cells = columns.iter().filter_map(|i| {
            let cell = row.cells.get(*i)?;
            let out = Cell::new(text(cell)).set_alignment(alignment(table.columns[*i].numeric));
            Some(match cell.verdict {
                Some(verdict) => out.fg(verdict_color(verdict)),
                None => out,
            })
        });
        grid.add_row(cells.collect::<Vec<_>>());
    }
    let last = columns.len().saturating_sub(1);
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if i == last { 0 } else { gap }));
    }
    let mut out: String = grid.lines().map(|l| format!("{}\n", l.trim_end())).collect();
    if out.is_empty() {
        out.push('\n');
    }
    out
}

fn alignment(numeric: bool) -> CellAlignment {
    if numeric { CellAlignment::Right } else { CellAlignment::Left }
}

/// One paragraph a row: the point, then each value under its name.
fn paragraphs(table: &Table, width: usize) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let named = |i: usize, cell: &ViewCell| {
            let column = &table.columns[i];
            match (&column.unit, cell.note) {
                (Some(unit), None) => format!("{} {} {unit}", column.title, text(cell)),
                _ => format!("{} {}", column.title, text(cell)),
            }
        };
        let told = |from: usize, upto: usize| -> Vec<String> {
            let cells = row.cells.iter().enumerate().take(upto).skip(from);
            cells.filter(|(_, c)| !text(c).is_empty()).map(|(i, c)| named(i, c)).collect()
        };
        let [point, values] = [told(0, table.keys), told(table.keys, row.cells.len())];
        let line = format!("{}: {}", point.join(", "), values.join("; "));
        let options = textwrap::Options::new(width).subsequent_indent("  ").break_words(true);
        for line in textwrap::wrap(&line, options) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}
