//! A run's report in short: what a reader needs before any table. Terminal and Markdown lay out as
//! much of it as fits, and name the rest.

use proofmark_model::{Measurement, Run, Summary};

use super::columns::{Columns, Entry};
use super::findings::FindingGroup;
use super::label::{Group, groups, interval, usable, why_no_interval, why_no_trials};
use super::shared_parts::{efficiency, share_of_ceiling};
use super::table::Table;
use super::text::clean;
use super::workload_figure::{half_width, result_scale};
use super::{Document, View, conclusions, label, report};

/// The parts of a short report.
#[derive(Debug)]
pub(crate) struct Short {
    /// Machine, verdicts, main results and values over time.
    pub head: Document,
    /// All findings, worst first.
    pub findings: Vec<FindingGroup>,
    /// The conclusions, a sentence each.
    pub conclusions: Vec<String>,
    /// All results, one row each.
    pub results: Table,
}

impl Short {
    /// The short report of a run.
    pub fn from_run(run: &Run) -> Self {
        let mut findings = Vec::new();
        let view = View::write(run, |run, groups, summary, all| {
            findings = all;
            report::head(run, groups, summary)
        });
        let groups = groups(run);
        let claims = conclusions::draw(&groups).into_iter().flat_map(|c| c.claims);
        let conclusions = claims.map(|claim| claim.text).collect();
        Self { head: view.document, findings, conclusions, results: results(&groups) }
    }
}

/// A result with its workload.
type Row<'a> = (&'a Group<'a>, &'a Measurement);

/// The statistics of a usable result.
fn shown<'a>((_, m): &Row<'a>) -> Option<&'a Summary> {
    usable(m).map(|(_, s)| s)
}

/// One row per result, in the order of the report.
fn results(groups: &[Group]) -> Table {
    let figure = |row: &Row| {
        let text = shown(row).and_then(|s| {
            let scale = result_scale(row.0, row.1, &[s.value()]);
            scale.with_label(s.value())
        });
        text.ok_or_else(|| why_no_figure(row.1))
    };
    let statistic = |row: &Row| shown(row).map(|s| s.headline.as_str().to_owned());
    let delivered = |row: &Row| {
        let s = shown(row)?;
        let scale = result_scale(row.0, row.1, &[s.value()]);
        scale.number(label::delivered(row.1)?.value?)
    };
    let within = |row: &Row| {
        let half = shown(row).filter(|_| interval(row.1).is_some()).and_then(half_width);
        half.ok_or_else(|| why_no_interval(row.1))
    };
    let delivered_within = |row: &Row| {
        let (s, ends) = (shown(row)?, label::delivered(row.1)?.ci95?);
        result_scale(row.0, row.1, &[s.value()]).tight_interval(ends)
    };
    let share = |(_, m): &Row| match m.efficiency {
        Some(_) => share_of_ceiling(m, efficiency(m)),
        None => None.into(),
    };
    Columns::new("Every result")
        .column("result", |(group, m): &Row| group.title_of(m))
        .column("workload", |(group, _)| group.name())
        .keys()
        .number("figure", figure)
        .number("±", within)
        .column("statistic", statistic)
        .number("delivered", delivered)
        .number("95 % interval", delivered_within)
        .measured("of ceiling", "%", share)
        .column("verdict", |(_, m)| Entry::from(m.verdict))
        .rows(groups.iter().flat_map(|g| g.all.iter().map(move |m| (g, *m))))
}

/// The reason why a result has no usable figure.
fn why_no_figure(m: &Measurement) -> String {
    match &m.summary {
        None => why_no_trials(m),
        Some(s) => {
            let missing = s.figure(s.headline).missing.as_deref().map(clean);
            missing.unwrap_or_else(|| format!("{}: see the findings", m.verdict))
        }
    }
}
