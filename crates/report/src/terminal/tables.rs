//! Lays out tables within a given width.

use super::columns_of;
use super::paint::Paint;
use crate::view::{Cell, Table};

/// Lays out a table as wide as fits. The first column has at least the width `first`, if there is
/// room.
pub fn lay_out(table: &Table, first: usize, width: usize, paint: Paint) -> String {
    match fitting(table, width) {
        Some((kept, gap)) => {
            let spare = width.saturating_sub(natural_width(table, &kept, gap));
            let first = first.min(column_width(table, 0) + spare);
            grid(table, (&kept, first), gap, paint)
        }
        None => paragraphs(table, width),
    }
}

/// The titles of the columns that a page of this width drops.
pub fn dropped(table: &Table, width: usize) -> Vec<&str> {
    let Some((kept, _)) = fitting(table, width) else { return Vec::new() };
    let all = table.columns.iter().enumerate().filter(|(i, _)| !kept.contains(i));
    all.map(|(_, column)| column.title.as_str()).collect()
}

/// The width of the first column of the widest of these tables.
pub fn first_column(tables: &[Table]) -> usize {
    tables.iter().map(|t| column_width(t, 0)).max().unwrap_or(0)
}

/// The columns that fit, and the spaces between them; `None` where even the necessary ones are too
/// wide.
fn fitting(table: &Table, width: usize) -> Option<(Vec<usize>, usize)> {
    let most = table.columns.iter().map(|c| c.spare).max().unwrap_or(0);
    for spare in (0..=most).rev() {
        let kept: Vec<usize> =
            (0..table.columns.len()).filter(|i| table.columns[*i].spare <= spare).collect();
        for gap in [2, 1] {
            if natural_width(table, &kept, gap) <= width {
                return Some((kept, gap));
            }
        }
    }
    None
}

/// The text of a cell with its footnote's number: `-[1]` for a missing value.
fn text(cell: &Cell) -> String {
    match cell.note {
        Some(note) => format!("{}[{note}]", cell.text),
        None => cell.text.clone(),
    }
}

fn natural_width(table: &Table, columns: &[usize], gap: usize) -> usize {
    columns.iter().map(|i| column_width(table, *i) + gap).sum::<usize>().saturating_sub(gap)
}

fn column_width(table: &Table, i: usize) -> usize {
    let column = &table.columns[i];
    let head = columns_of(&column.title).max(column.unit.as_deref().map_or(0, columns_of));
    let cells = table.rows.iter().filter_map(|r| r.cells.get(i)).map(|c| columns_of(&text(c)));
    cells.fold(head, usize::max)
}

fn grid(table: &Table, (columns, first): (&[usize], usize), gap: usize, paint: Paint) -> String {
    let mut widths: Vec<usize> = columns.iter().map(|i| column_width(table, *i)).collect();
    if let Some(width) = widths.first_mut() {
        *width = first.max(*width);
    }
    // A line of cells; `show` returns a cell's text and its painted form, which is as wide.
    let line = |show: &dyn Fn(usize) -> (String, String)| {
        let mut out = String::new();
        for (i, width) in columns.iter().zip(&widths) {
            let (text, shown) = show(*i);
            let room = " ".repeat(width.saturating_sub(columns_of(&text)));
            let [left, right] = if table.columns[*i].numeric { [&room, ""] } else { ["", &room] };
            out.extend([left, &shown, right, &" ".repeat(gap)]);
        }
        format!("{}\n", out.trim_end())
    };
    let plain = |text: &str| (text.to_owned(), text.to_owned());
    let mut out = line(&|i| plain(&table.columns[i].title));
    if columns.iter().any(|i| table.columns[*i].unit.is_some()) {
        out += &line(&|i| plain(table.columns[i].unit.as_deref().unwrap_or("")));
    }
    for row in &table.rows {
        out += &line(&|i| match row.cells.get(i) {
            None => plain(""),
            Some(cell) => {
                let text = text(cell);
                let shown = cell.verdict.map_or_else(|| text.clone(), |v| paint.verdict(v, &text));
                (text, shown)
            }
        });
    }
    out
}

/// One paragraph per row: the keys, then each value after its title.
fn paragraphs(table: &Table, width: usize) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let named = |i: usize, cell: &Cell| {
            let column = &table.columns[i];
            match (&column.unit, cell.note) {
                (Some(unit), None) => format!("{} {} {unit}", column.title, text(cell)),
                _ => format!("{} {}", column.title, text(cell)),
            }
        };
        let texts = |from: usize, upto: usize| -> Vec<String> {
            let cells = row.cells.iter().enumerate().take(upto).skip(from);
            cells.filter(|(_, c)| !text(c).is_empty()).map(|(i, c)| named(i, c)).collect()
        };
        let [point, values] = [texts(0, table.keys), texts(table.keys, row.cells.len())];
        let line = format!("{}: {}", point.join(", "), values.join("; "));
        let options = textwrap::Options::new(width).subsequent_indent("  ").break_words(true);
        for line in textwrap::wrap(&line, options) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}
