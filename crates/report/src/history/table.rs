//! The tables.

use proofmark_model::{PastRun, Timestamp};

use super::line::Line;
use crate::view::{Cell, Table, clean, percent};

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
        let known = |text: &str| Cell::known(Some(clean(text)).filter(|t| !t.is_empty()));
        table.push(vec![
            Cell::text(run.id.to_string()),
            Cell::text(minute(run.started)),
            known(run.host.as_deref().unwrap_or("")),
            known(&run.machine),
            known(&run.profile),
            Cell::text(run.valid.to_string()),
            Cell::text(run.suspect.to_string()),
            Cell::text(run.invalid.to_string()),
            known(&run.path),
        ]);
    }
    table
}

/// What runs measured of one point, one a row.
pub fn line(line: &Line) -> Table {
    let (unit, scale) = (line.scale.label(), &line.scale);
    let mut table = Table::new("")
        .number("run")
        .column("started, UTC")
        .measured(line.headline, unit)
        .measured("95 % interval", unit)
        .spare(1)
        .measured("delivered", unit)
        .measured("change", "%")
        .measured("of ceiling", "%")
        .spare(2)
        .column("verdict");
    table.keys = 2;
    for m in &line.moments {
        let p = m.point;
        table.push(vec![
            Cell::text(p.run.to_string()),
            Cell::text(minute(p.started)),
            Cell::known(scale.number(p.value)),
            Cell::known(m.several_levels().or_else(|| scale.tight_interval(p.ci95?))),
            Cell::known(m.delivered().and_then(|v| scale.number(v))),
            Cell::known(m.change.and_then(change)),
            Cell::known(p.efficiency.and_then(percent)),
            Cell::verdict(p.verdict),
        ]);
    }
    table.without_empty("delivered")
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
