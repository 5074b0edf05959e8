//! Lays out tables within a given width.

use super::paint::Paint;
use super::{columns_of, wrapping};
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
        None => stacked(table, width),
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

/// Rows stacked: the keys on a line of their own, below it each value after its title. Values that
/// fit stay on one line.
fn stacked(table: &Table, width: usize) -> String {
    let mut out = String::new();
    for row in &table.rows {
        // A key in words says what it is, and so does a key alone.
        let key = |i: usize, cell: &Cell| match table.columns[i].numeric && table.keys > 1 {
            true => named(table, i, cell),
            false => text(cell),
        };
        let cells = || row.cells.iter().enumerate();
        let keys: Vec<String> = cells().take(table.keys).map(|(i, c)| key(i, c)).collect();
        let keys = keys.iter().filter(|k| !k.is_empty()).map(String::as_str).collect::<Vec<_>>();
        let keys = keys.join(", ");
        let own = keys.len() - keys.trim_start().len();
        if !keys.is_empty() {
            wrap(&mut out, [own, own + STEP], keys.trim_start(), width);
        }
        let shown = cells().skip(table.keys).filter(|(_, c)| c.note.is_some() || !is_empty(c));
        let values = shown.map(|(i, c)| named(table, i, c));
        let mut line = String::new();
        for value in values {
            let longer = columns_of(&line) + STEP + columns_of(&value) + own + STEP > width;
            if !line.is_empty() && longer {
                wrap(&mut out, [own + STEP, own + 2 * STEP], &line, width);
                line.clear();
            }
            line += if line.is_empty() { "" } else { "  " };
            line += &value;
        }
        wrap(&mut out, [own + STEP, own + 2 * STEP], &line, width);
    }
    out
}

/// Indentation of values below their key.
const STEP: usize = 2;

/// True for a cell without a value and without a reason for that.
fn is_empty(cell: &Cell) -> bool {
    ["", "-"].contains(&cell.text.as_str())
}

/// A value after its title, with its unit.
fn named(table: &Table, i: usize, cell: &Cell) -> String {
    let column = &table.columns[i];
    let title = column.title.trim();
    let text = text(cell);
    match &column.unit {
        Some(unit) if cell.note.is_none() => format!("{title} {} {unit}", text.trim()),
        _ => format!("{title} {}", text.trim()),
    }
}

/// Adds a text, wrapped, with the indentation of its first line and of the others.
fn wrap(out: &mut String, indents: [usize; 2], text: &str, width: usize) {
    let [first, others] = indents.map(|n| " ".repeat(n.min(width / 2)));
    let options = wrapping(width).initial_indent(&first).subsequent_indent(&others);
    // A number and its percent sign stay on one line.
    for line in textwrap::wrap(&text.replace(" %", "\u{a0}%"), options) {
        out.push_str(&line.trim_end().replace("\u{a0}%", " %"));
        out.push('\n');
    }
}
