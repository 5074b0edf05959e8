//! The tables of a history.

use std::collections::BTreeMap;

use proofmark_model::{FigureKind, PastRun, Verdict, VerdictCounts};

use super::line::{Line, Moment};
use crate::view::{Columns, Entry, MIXED, Table, ceiling_note, clean, joined, minute, percent};

/// The place of the columns that a narrow terminal drops.
const EVERY_COLUMN: &str = "--format csv";

pub fn runs(runs: &[PastRun]) -> Table {
    let known = |text: &str| Some(clean(text)).filter(|t| !t.is_empty());
    Columns::new("")
        .all_columns_in(EVERY_COLUMN)
        .number("run", |r: &&PastRun| r.id.to_string())
        .column("started, UTC", |r| minute(r.started))
        .keys()
        .column("host", |r| name(r.host.as_deref(), &r.missing, "host"))
        .spare(1)
        .when(runs.iter().any(|r| r.label.is_some()), |table| {
            table.column("label", |r| name(r.label.as_deref(), &r.missing, "label"))
        })
        .column("machine", |r| known(&r.machine))
        .spare(3)
        .column("profile", |r| known(&r.profile))
        .column("results", |r| verdicts(&r.verdicts))
        .column("path", |r| known(&r.path))
        .spare(2)
        .rows(runs)
}

/// Shows a name, or the reason why it is not known. A label that was not given has none.
fn name(known: Option<&str>, missing: &BTreeMap<String, String>, field: &str) -> Entry {
    match known.map(clean).filter(|text| !text.is_empty()) {
        Some(text) => text.into(),
        None => {
            Entry::from("-").noted(missing.get(field).map_or_else(String::new, |why| clean(why)))
        }
    }
}

/// Returns `10 valid, 2 suspect`.
fn verdicts(counts: &VerdictCounts) -> String {
    let all = Verdict::ALL.map(|v| (v, counts.get(v))).into_iter().filter(|(_, n)| *n > 0);
    joined(all.map(|(verdict, n)| format!("{n} {verdict}")), ", ")
}

/// Returns the results of one line, a row per run.
pub fn line(line: &Line) -> Table {
    let (unit, scale) = (line.scale.label(), &line.scale);
    let headline = |m: &Moment| match m.point.value {
        Some(value) => scale.number(value).ok_or("not a finite number".to_owned()),
        None => Err(m.point.missing.get("value").map_or_else(String::new, |why| clean(why))),
    };
    let value = |m: &Moment| match (m.value, line.headline) {
        (Some(value), _) => scale.number(value).ok_or("not a finite number".to_owned()),
        (None, None) if line.figure != FigureKind::Delivered.as_str() => headline(m),
        (None, _) => Err("the run has no delivered figure".to_owned()),
    };
    Columns::new("")
        .all_columns_in(EVERY_COLUMN)
        .number("run", |m: &&Moment| m.point.run.to_string())
        .column("started, UTC", |m| minute(m.point.started))
        .keys()
        .when(line.moments.iter().any(|m| m.point.label.is_some()), |table| {
            table.column("label", |m| name(m.point.label.as_deref(), &m.point.missing, "label"))
        })
        .measured(line.figure, unit, |m| value(m))
        .when(line.figure == MIXED, |table| {
            table.column("statistic", |m| m.point.headline.as_str())
        })
        .measured("95 % interval", unit, |m| {
            m.several_levels().or_else(|| scale.tight_interval(m.ci95?))
        })
        .spare(1)
        .measured("change", "%", |m| m.change.and_then(change))
        .when(line.headline.is_some(), |table| {
            let word = line.headline.unwrap_or_default();
            let table = table.measured(word, unit, |m| headline(m));
            match word == MIXED {
                true => table.column("statistic", |m| m.point.headline.as_str()),
                false => table,
            }
        })
        .measured("of ceiling", "%", |m| {
            let share = m.point.efficiency.and_then(percent);
            let note = if share.is_some() { ceiling_note(m.point.reliance) } else { "" };
            Entry::from(share).noted(note)
        })
        .spare(2)
        .column("verdict", |m| m.point.verdict)
        .rows(&line.moments)
}

/// Returns a change in percent, with its sign.
fn change(share: f64) -> Option<String> {
    let text = percent(share)?;
    let zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    Some(if zero || text.starts_with('-') { text } else { format!("+{text}") })
}
