//! Parts that the tables of a workload share: columns of the parameters that vary, captions,
//! verdicts, and reasons for missing values.

use proofmark_model::{Ceiling, Measurement, Reliance};

use super::columns::{Columns, Entry};
use super::disk::io_path;
use super::label::{Group, title, why_missing, why_no_trials};
use super::num::{Scale, percent};
use super::text::{clean, joined};
use super::workload_figure::ceiling_note;

/// A row about one measurement.
pub trait Point {
    fn measurement(&self) -> &Measurement;
}

impl Point for &Measurement {
    fn measurement(&self) -> &Measurement {
        self
    }
}

impl<T> Point for (&Measurement, T) {
    fn measurement(&self) -> &Measurement {
        self.0
    }
}

/// A table whose first columns are the parameters that vary.
pub fn keyed<'a, R: Point>(group: &'a Group, what: &str) -> Columns<'a, R> {
    let columns = Columns::new(caption(group, what));
    group.varying.iter().fold(columns, |all, name| parameter(all, group, name)).keys()
}

pub fn parameter<'a, R: Point>(
    columns: Columns<'a, R>,
    group: &'a Group,
    name: &'a str,
) -> Columns<'a, R> {
    let absent = "not a parameter of this configuration";
    let read = move |row: &R| group.text(row.measurement(), name).ok_or(absent);
    let numeric = group.all.iter().any(|m| m.params.number(name).is_some());
    match numeric {
        true => columns.number(&title(name), read),
        false => columns.column(&title(name), read),
    }
    .spare(if group.implied_parameters.contains(&name) { 2 } else { 0 })
}

/// `Floating-point peak: every trial (f64 in every row)`.
pub fn caption(group: &Group, what: &str) -> String {
    named(group, what, "")
}

/// Builds a caption that also names `more`, which is the same in every row.
pub fn named(group: &Group, what: &str, more: &str) -> String {
    let title = group.heading();
    match joined([group.fixed_phrase(), more.to_owned()], ", ") {
        same if same.is_empty() => format!("{title}: {what}"),
        same => format!("{title}: {what} ({same} in every row)"),
    }
}

/// The verdict, with a note if the threads shared CPUs.
pub fn verdict(group: &Group, m: &Measurement) -> Entry {
    let shared = group.oversubscribed(m) && m.summary.is_some();
    Entry::from(m.verdict).noted(if shared { group.oversubscription_note() } else { String::new() })
}

/// The kind of a result's headline figure, for a table whose rows differ in it.
pub fn statistic(m: &Measurement) -> Result<String, String> {
    let kind = m.summary.as_ref().map(|s| s.headline.as_str().to_owned());
    kind.ok_or_else(|| why_no_trials(m))
}

/// The headline figure, with a note if the page cache served it or it is not valid.
pub fn figure(m: &Measurement, scale: &Scale) -> Entry {
    figure_of_kind(m, scale, false)
}

/// The headline figure with its notes; if `named`, also with its kind.
pub fn figure_of_kind(m: &Measurement, scale: &Scale, named: bool) -> Entry {
    let text = m.summary.as_ref().and_then(|s| scale.number(s.value()));
    let Some(text) = text else { return Err(why_no_trials(m)).into() };
    let path = io_path(m).filter(|path| !path.starts_with("direct"));
    let doubt = Some(m.verdict).filter(|v| !v.is_undoubted());
    let doubt = doubt.map(|verdict| format!("{verdict}: see the findings"));
    let kind = m.summary.as_ref().filter(|_| named).map(|s| s.headline.as_str().to_owned());
    Entry::from(text).noted(joined(kind.into_iter().chain(path).chain(doubt), ", "))
}

pub fn why_no_ceiling(m: &Measurement) -> String {
    let why = why_missing(m, "ceiling", "no ceiling is known, and no reason was recorded");
    // The reason may begin with the workload's own name, which the reader knows already.
    let own = format!("{}: ", clean(&m.workload));
    why.strip_prefix(&own).unwrap_or(&why).to_owned()
}

/// The ceiling, or why there is none.
pub fn ceiling(
    m: &Measurement,
    show: impl FnOnce(f64) -> Option<String>,
) -> Result<String, String> {
    m.ceiling.as_ref().and_then(|c| show(c.value)).ok_or_else(|| why_no_ceiling(m))
}

/// The share of the ceiling, or why there is none.
pub fn efficiency(m: &Measurement) -> Result<String, String> {
    m.efficiency.and_then(percent).ok_or_else(|| why_no_efficiency(m))
}

/// The cell of a share of a result's ceiling: a note says that the ceiling is assumed or shared.
pub fn share_of_ceiling(m: &Measurement, share: Result<String, String>) -> Entry {
    let reliance = m.ceiling.as_ref().map_or(Reliance::Known, Ceiling::reliance);
    match share {
        Ok(share) => Entry::from(share).noted(ceiling_note(reliance)),
        none => none.into(),
    }
}

pub fn why_no_efficiency(m: &Measurement) -> String {
    match (&m.summary, &m.ceiling) {
        (None, _) => why_no_trials(m),
        (_, None) => why_no_ceiling(m),
        _ => why_missing(m, "efficiency", "no efficiency, and no reason was recorded"),
    }
}
