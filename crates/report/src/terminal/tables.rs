//! Lays out tables within a given width.

use super::paint::Paint;
use super::{columns_of, wrapping};
use crate::view::{Cell, Table};

/// Lays out a table as wide as fits. The first column has at least the width `first`, if there is
/// room.
pub fn lay_out(table: &Table, first: usize, width: usize, paint: Paint) -> String {
    if let Some(fit) = fitting(table, width) {
        let spare = width.saturating_sub(fit.width(table));
        let first = first.min(column_width(table, 0) + spare);
        return grid(table, &fit, first, paint);
    }
    match blocks(table, width) {
        blocks if blocks.is_empty() => stacked(table, width),
        blocks => {
            let grids = blocks.iter().map(|fit| grid(table, fit, 0, paint));
            grids.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The table without the columns that a page of this width drops.
pub fn narrowed(table: &Table, width: usize) -> Table {
    fitting(table, width).map_or_else(|| table.clone(), |fit| table.only_columns(&fit.columns))
}

/// The titles of the columns that a page of this width drops.
pub fn dropped(table: &Table, width: usize) -> Vec<&str> {
    let Some(fit) = fitting(table, width) else { return Vec::new() };
    let all = table.columns.iter().enumerate().filter(|(i, _)| !fit.columns.contains(i));
    all.map(|(_, column)| column.title.as_str()).collect()
}

/// The width of the first column of the widest of these tables.
pub fn first_column(tables: &[Table]) -> usize {
    tables.iter().map(|t| column_width(t, 0)).max().unwrap_or(0)
}

/// Columns that fit, the spaces between them, and the column whose text is wrapped to a width.
struct Fit {
    columns: Vec<usize>,
    gap: usize,
    wrapped: Option<(usize, usize)>,
}

impl Fit {
    fn column_width(&self, table: &Table, i: usize) -> usize {
        match self.wrapped {
            Some((column, width)) if column == i => width,
            _ => column_width(table, i),
        }
    }

    fn width(&self, table: &Table) -> usize {
        let all = self.columns.iter().map(|i| self.column_width(table, *i) + self.gap);
        all.sum::<usize>().saturating_sub(self.gap)
    }
}

/// The columns that fit; `None` where even the necessary ones are too wide. Names are wrapped before
/// the last spare columns go.
fn fitting(table: &Table, width: usize) -> Option<Fit> {
    let most = table.columns.iter().map(|c| c.spare).max().unwrap_or(0);
    for spare in (0..=most).rev() {
        let columns: Vec<usize> =
            (0..table.columns.len()).filter(|i| table.columns[*i].spare <= spare).collect();
        let plain = [2, 1].map(|gap| Fit { columns: columns.clone(), gap, wrapped: None });
        if let Some(fit) = plain.into_iter().find(|fit| fit.width(table) <= width) {
            return Some(fit);
        }
        if spare <= 1
            && let Some(fit) = with_wrapped_key(table, columns, width)
        {
            return Some(fit);
        }
    }
    None
}

/// Minimum width of a name that is wrapped, and its maximum number of lines.
const NAME: usize = 20;
const NAME_LINES: usize = 2;

/// The columns with the widest name wrapped into the rest of the width.
fn with_wrapped_key(table: &Table, columns: Vec<usize>, width: usize) -> Option<Fit> {
    let names = (0..table.keys).filter(|i| columns.contains(i) && !table.columns[*i].numeric);
    let key = names.max_by_key(|i| column_width(table, *i))?;
    let own = column_width(table, key);
    let mut fit = Fit { columns, gap: 1, wrapped: None };
    let room = width.checked_sub(fit.width(table).checked_sub(own)?)?;
    if room < NAME {
        return None;
    }
    let cells = table.rows.iter().filter_map(|row| row.cells.get(key)).map(text);
    let names: Vec<Vec<String>> =
        cells.chain([table.columns[key].title.clone()]).map(|name| wrapped(&name, room)).collect();
    let widest = names.iter().flatten().map(|line| columns_of(line)).max()?;
    fit.wrapped = Some((key, widest));
    names.iter().all(|lines| lines.len() <= NAME_LINES).then_some(fit)
}

/// Minimum number of columns of values in a block.
const BLOCK: usize = 4;

/// Blocks of columns, each with the names of the rows; empty where so few fit that stacked rows are
/// shorter.
fn blocks(table: &Table, width: usize) -> Vec<Fit> {
    let keys: Vec<usize> = (0..table.keys).collect();
    let mut all: Vec<Fit> = Vec::new();
    let block = |columns: Vec<usize>| Fit { columns, gap: 2, wrapped: None };
    for i in table.keys..table.columns.len() {
        let longer = |last: &Fit| block([&last.columns[..], &[i]].concat());
        match all.last_mut().filter(|last| longer(last).width(table) <= width) {
            Some(last) => last.columns.push(i),
            None => all.push(block([&keys[..], &[i]].concat())),
        }
    }
    let enough = |fit: &Fit| fit.columns.len() >= keys.len() + BLOCK;
    let last = all.len().saturating_sub(1);
    if table.keys > 0 && last > 0 && all[..last].iter().all(enough) { all } else { Vec::new() }
}

/// A text in lines of that width; the later ones are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = wrapping(width).subsequent_indent("  ");
    textwrap::wrap(text, options).into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The text of a cell with its footnote's number: `-[1]` for a missing value.
fn text(cell: &Cell) -> String {
    match cell.note {
        Some(note) => format!("{}[{note}]", cell.text),
        None => cell.text.clone(),
    }
}

fn column_width(table: &Table, i: usize) -> usize {
    let column = &table.columns[i];
    let head = columns_of(&column.title).max(column.unit.as_deref().map_or(0, columns_of));
    let cells = table.rows.iter().filter_map(|r| r.cells.get(i)).map(|c| columns_of(&text(c)));
    cells.fold(head, usize::max)
}

fn grid(table: &Table, fit: &Fit, first: usize, paint: Paint) -> String {
    let mut widths: Vec<usize> = fit.columns.iter().map(|i| fit.column_width(table, *i)).collect();
    if let Some(width) = widths.first_mut().filter(|_| fit.wrapped.is_none()) {
        *width = first.max(*width);
    }
    // A line of cells; `show` returns a cell's text and its painted form, which is as wide.
    let line = |show: &dyn Fn(usize) -> (String, String)| {
        let mut out = String::new();
        for (i, width) in fit.columns.iter().zip(&widths) {
            let (text, shown) = show(*i);
            let room = " ".repeat(width.saturating_sub(columns_of(&text)));
            let [left, right] = if table.columns[*i].numeric { [&room, ""] } else { ["", &room] };
            out.extend([left, &shown, right, &" ".repeat(fit.gap)]);
        }
        format!("{}\n", out.trim_end())
    };
    let plain = |text: &str| (text.to_owned(), text.to_owned());
    let mut out = line(&|i| plain(&table.columns[i].title));
    if fit.columns.iter().any(|i| table.columns[*i].unit.is_some()) {
        out += &line(&|i| plain(table.columns[i].unit.as_deref().unwrap_or("")));
    }
    for row in &table.rows {
        let name = fit.wrapped.map(|(i, width)| {
            (i, wrapped(&row.cells.get(i).map_or_else(String::new, text), width))
        });
        out += &line(&|i| match (row.cells.get(i), &name) {
            (_, Some((at, lines))) if *at == i => plain(lines.first().map_or("", String::as_str)),
            (None, _) => plain(""),
            (Some(cell), _) => {
                let text = text(cell);
                let shown = cell.verdict.map_or_else(|| text.clone(), |v| paint.verdict(v, &text));
                (text, shown)
            }
        });
        for more in name.iter().flat_map(|(_, lines)| lines.iter().skip(1)) {
            let at = name.as_ref().map(|(at, _)| *at);
            out += &line(&|i| plain(if Some(i) == at { more } else { "" }));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Columns;

    const PLAIN: Paint = Paint { color: false };

    /// A matrix of sizes, as wide as those of published experiments.
    fn matrix(columns: usize) -> Table {
        let start = Columns::new("").column("file", |row: &u64| format!("{row} KiB")).keys();
        let titles: Vec<String> = (0..columns).map(|i| format!("{} B", 1_u64 << i)).collect();
        let add = |table: Columns<'static, u64>, (i, title): (usize, &String)| {
            table.number(title, move |row: &u64| format!("{}", 1000 * row + i as u64))
        };
        titles.iter().enumerate().fold(start, add).rows([1, 2, 3])
    }

    #[test]
    fn a_matrix_that_is_too_wide_has_blocks_with_its_names() {
        let text = lay_out(&matrix(17), 0, 70, PLAIN);
        assert!(text.lines().all(|line| line.len() <= 70), "{text}");
        let blocks: Vec<&str> = text.split("\n\n").collect();
        assert!(blocks.len() > 1);
        let mut values = 0;
        for block in blocks {
            let lines: Vec<Vec<&str>> = block.lines().map(|l| l.split("  ").collect()).collect();
            assert!(block.starts_with("file"), "{text}");
            assert_eq!(lines.len(), 4, "a line of titles and one for each row: {text}");
            values += block.lines().skip(1).flat_map(|l| l.split_whitespace().skip(2)).count();
        }
        assert_eq!(values, 3 * 17, "{text}");
        assert!(text.contains("3016"));
    }

    #[test]
    fn a_few_columns_that_do_not_fit_are_stacked() {
        let text = lay_out(&matrix(3), 0, 18, PLAIN);
        assert!(text.contains("1 KiB\n  1 B 1000\n  2 B 1001"), "{text}");
    }

    #[test]
    fn a_long_name_is_wrapped_before_the_last_spare_column_goes() {
        let table = Columns::new("")
            .column("result", |row: &&str| (*row).to_owned())
            .keys()
            .number("delivered", |_| "117.4".to_owned())
            .number("95 % interval", |_| "97.29–133.7".to_owned())
            .spare(1)
            .number("of ceiling", |_| "99.7 %".to_owned())
            .spare(3)
            .rows(["FP peak, 2 CPUs", "Memory triad, 2 CPUs, temporal stores, 256 MiB"]);
        assert_eq!(
            lay_out(&table, 0, 60, PLAIN),
            "result                         delivered 95 % interval\n\
             FP peak, 2 CPUs                    117.4   97.29–133.7\n\
             Memory triad, 2 CPUs, temporal     117.4   97.29–133.7\n\
             \x20 stores, 256 MiB\n"
        );
        // So narrow that a name would fill the page: without the spare column.
        assert!(!lay_out(&table, 0, 40, PLAIN).contains("interval"));
    }

    #[test]
    fn a_column_without_a_value_becomes_a_sentence() {
        let few = || Err::<String, _>("3 trials are too few".to_owned());
        let odd = |row: &&u64| if **row == 2 { Err("oversubscribed".to_owned()) } else { Ok("7") };
        let text = |odd: Result<&'static str, String>| odd.map(str::to_owned);
        let table = Columns::new("")
            .number("threads", |row: &&u64| row.to_string())
            .keys()
            .number("95 % interval", move |_| few())
            .number("figure", move |row| text(odd(row)))
            .rows(&[1, 2]);
        let (table, empty) = table.without_empty_columns();
        assert_eq!(empty, [("95 % interval".to_owned(), "3 trials are too few".to_owned())]);
        assert_eq!(table.notes, ["oversubscribed"]);
        assert_eq!(
            lay_out(&table, 0, 60, PLAIN),
            "threads  figure\n      1       7\n      2    -[1]\n"
        );
    }
}
