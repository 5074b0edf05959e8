//! The tables of a history.

use proofmark_model::{PastRun, Timestamp, Verdict, VerdictCounts};

use super::line::{Line, Moment};
use crate::view::{Columns, MIXED, Table, clean, joined, percent};

pub fn runs(runs: &[PastRun]) -> Table {
    let known = |text: &str| Some(clean(text)).filter(|t| !t.is_empty());
    Columns::new("")
        .number("run", |r: &&PastRun| r.id.to_string())
        .column("started, UTC", |r| minute(r.started))
        .keys()
        .column("host", |r| known(r.host.as_deref().unwrap_or_default()))
        .spare(1)
        .column("machine", |r| known(&r.machine))
        .spare(3)
        .column("profile", |r| known(&r.profile))
        .column("results", |r| verdicts(&r.verdicts))
        .column("path", |r| known(&r.path))
        .spare(2)
        .rows(runs)
}

/// Returns `10 valid, 2 suspect`.
fn verdicts(counts: &VerdictCounts) -> String {
    let all = Verdict::ALL.map(|v| (v, counts.get(v))).into_iter().filter(|(_, n)| *n > 0);
    joined(all.map(|(verdict, n)| format!("{n} {verdict}")), ", ")
}

/// Returns the results of one line, a row per run.
pub fn line(line: &Line) -> Table {
    let (unit, scale) = (line.scale.label(), &line.scale);
    let delivered = |m: &Moment| m.delivered().and_then(|v| scale.number(v));
    Columns::new("")
        .number("run", |m: &&Moment| m.point.run.to_string())
        .column("started, UTC", |m| minute(m.point.started))
        .keys()
        .measured(line.headline, unit, |m| scale.number(m.point.value))
        .when(line.headline == MIXED, |table| {
            table.column("statistic", |m| m.point.headline.as_str())
        })
        .measured("95 % interval", unit, |m| {
            m.several_levels().or_else(|| scale.tight_interval(m.point.ci95?))
        })
        .spare(1)
        .when(line.moments.iter().any(|m| delivered(m).is_some()), |table| {
            table.measured("delivered", unit, move |m| delivered(m))
        })
        .measured("change", "%", |m| m.change.and_then(change))
        .measured("of ceiling", "%", |m| m.point.efficiency.and_then(percent))
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

/// Returns a time to the minute.
pub fn minute(at: Timestamp) -> String {
    // `2026-11-21 02:03:04 UTC` without its seconds and its zone.
    let text = at.display();
    text.get(..text.len().saturating_sub(7)).unwrap_or(&text).to_owned()
}
