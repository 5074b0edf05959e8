//! Results of two runs side by side as a table.

use proofmark_model::Verdict;

use super::view::Line;
use crate::view::{Cell, Table};

/// Points as a table that a narrow page can take columns from.
pub fn lines_table(lines: &[Line]) -> Table {
    // Rows of the first screen are titles, which say it all.
    let named = lines.iter().any(|line| !line.name.is_empty() || !line.direction.is_empty());
    let mut table = Table::new("").column("result");
    if named {
        table = table.column("configuration");
    }
    table = table
        .number("A")
        .spare(2)
        .number("B")
        .spare(2)
        .number("B / A")
        .number("95 %")
        .spare(1)
        .number("margin")
        .spare(3);
    let with_delivered = lines.iter().any(|line| line.delivered.is_some());
    if with_delivered {
        table = table.number("delivered B / A");
    }
    table = table.column("verdict");
    table.keys = if named { 2 } else { 1 };
    for line in lines {
        let numbers = [&line.a, &line.b, &line.ratio, &line.interval, &line.margin];
        let numbers = numbers.map(|n| Cell::text(n.as_deref().unwrap_or("-")));
        let name = match (line.name.as_str(), line.direction) {
            (name, "") => name.to_owned(),
            ("", direction) => direction.to_owned(),
            (name, direction) => format!("{name}; {direction}"),
        };
        let verdict = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        let verdict = verdict.into_iter().find(|v| v.as_str() == line.color);
        let mut cells = vec![Cell::text(&line.workload)];
        if named {
            cells.push(Cell::text(name));
        }
        cells.extend(numbers);
        if with_delivered {
            cells.push(Cell::text(line.delivered.as_deref().unwrap_or("-")));
        }
        cells.push(Cell { text: line.outcome.to_owned(), note: None, verdict });
        table.push(cells);
    }
    table
}
