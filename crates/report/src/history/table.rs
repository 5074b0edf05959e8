//! The tables.

use proofmark_model::{PastRun, Timestamp};

use super::line::Line;
use crate::view::{Cell, Table, clean, percent};

/// Runs, one a row.
pub fn runs(runs: &[PastRun]) -> Table {
    let mut table = Table::new("")
        .number("run")
        .column("started, UTC")
        .column("host")
        .spare(1)
        .column("machine")
        .spare(3)
        .column("profile")
        .number("valid")
        .number("suspect")
        .number("invalid")
        .column("path")
        .spare(2);
    table.keys = 2;
    for run in runs {
        let known = |text: &str| match clean(text) {
            text if text.is_empty() => "-".to_owned(),
            text => text,
        };
        table.push(vec![
            Cell::text(run.id.to_string()),
            Cell::text(minute(run.started)),
            Cell::text(known(run.host.as_deref().unwrap_or(""))),
            Cell::text(known(&run.machine)),
            Cell::text(known(&run.profile)),
            Cell::text(run.valid.to_string()),
            Cell::text(run.suspect.to_string()),
            Cell::text(run.invalid.to_string()),
            Cell::text(known(&run.path)),
        ]);
    }
    table
}

/// What runs measured of one point, one a row.
pub fn line(line: &Line) -> Table {
    let unit = line.scale.label();
    let mut table = Table::new("")
        .number("run")
        .column("started, UTC")
        .measured(line.headline, unit)
        .measured("95 % interval", unit)
        .spare(1);
    let with_delivered = line.moments.iter().any(|m| m.delivered.is_some());
    if with_delivered {
        table = table.measured("delivered", unit);
    }
    table = table.measured("change", "%").measured("of ceiling", "%").spare(2).column("verdict");
    table.keys = 2;
    for m in &line.moments {
        let dash = |text: Option<String>| Cell::text(text.unwrap_or_else(|| "-".to_owned()));
        let mut cells = vec![
            Cell::text(m.run.to_string()),
            Cell::text(minute(m.started)),
            dash(line.scale.number(m.value)),
            dash(m.several_levels().or_else(|| line.scale.tight_interval(m.ci95?))),
        ];
        if with_delivered {
            cells.push(dash(m.delivered.and_then(|v| line.scale.number(v))));
        }
        cells.extend([
            dash(m.change.and_then(change)),
            dash(m.efficiency.and_then(percent)),
            Cell::verdict(m.verdict),
        ]);
        table.push(cells);
    }
    table
}

/// A change in percent, with its sign.
fn change(share: f64) -> Option<String> {
    let text = percent(share)?;
    let zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    Some(if zero || text.starts_with('-') { text } else { format!("+{text}") })
}

/// A moment to the minute.
pub fn minute(at: Timestamp) -> String {
    // `2026-11-21 02:03:04 UTC` without its seconds and its zone.
    let text = at.display();
    text.get(..text.len().saturating_sub(7)).unwrap_or(&text).to_owned()
}
