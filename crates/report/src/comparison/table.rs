//! Results of two runs side by side as a table.

use proofmark_model::Verdict;

use super::view::Line;
use crate::view::{Cell, Table};

/// Points as a table that a narrow page can take columns from.
pub fn lines_table(lines: &[Line]) -> Table {
    let mut table = Table::new("")
        .column("result")
        .column("configuration")
        .number("A")
        .spare(2)
        .number("B")
        .spare(2)
        .number("B / A")
        .number("95 %")
        .spare(1)
        .number("margin")
        .spare(3)
        .number("delivered B / A")
        .column("verdict");
    table.keys = 2;
    for line in lines {
        let name = [line.name.as_str(), line.direction].map(str::to_owned);
        let name: Vec<String> = name.into_iter().filter(|text| !text.is_empty()).collect();
        let numbers =
            [&line.a, &line.b, &line.ratio, &line.interval, &line.margin, &line.delivered];
        let verdict = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        let verdict = verdict.into_iter().find(|v| v.as_str() == line.color);
        let mut cells = vec![Cell::text(&line.workload), Cell::text(name.join("; "))];
        cells.extend(numbers.map(|n| Cell::known(n.as_deref())));
        cells.push(Cell { text: line.outcome.to_owned(), note: None, verdict });
        table.push(cells);
    }
    // Rows of the first screen are titles, which say it all.
    table.without_empty("configuration").without_empty("delivered B / A")
}
