//! Systems of equations in LINPACK's form. The listing has one row per solve with its residual. The
//! summary has one row per size with average and maximum rate.
//!
//! Any workload whose trials hold a solution has these tables.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Solution, Statistics, Trial, Verdict, format_count, key};

use super::audience::Audience;
use super::block::Blocks;
use super::columns::{Columns, Entry};
use super::label::{Group, why_missing, why_no_trials};
use super::matrix::ROWS;
use super::num::Scale;
use super::shared_parts::{named, parameter};
use super::table::Table;
use super::text::counted;

const LDA: &str = "Leading dimension: elements in memory from the start of one column to the start \
    of the next. For a matrix stored in groups of columns: the distance between two groups, \
    divided by the columns of a group.";

const RESIDUAL: &str =
    "The largest element of |A x - b|, with A and b as they were before the solve.";

/// Reason for a missing solution.
const NONE: &str = "the run file holds no solution of this trial";

pub fn any(group: &Group) -> bool {
    group.all.iter().flat_map(|m| &m.trials).any(|t| t.solution.is_some())
}

/// Adds the summary and the listing; a terminal gets a short form where they are long. Adds nothing
/// where the workload solves nothing.
pub fn add(out: &mut Blocks, group: &Group, scale: &Scale) {
    if !any(group) {
        return;
    }
    let (summary, listing) = (summary(group, scale), listing(group, scale));
    let (fits, whole) = (summary.rows.len() <= ROWS, listing.rows.len() <= ROWS);
    out.add_for(if fits { Audience::Everyone } else { Audience::Document }, "solves", summary);
    let brief = if whole { listing } else { failing(group, scale) };
    out.add_for(Audience::Terminal, "solves-in-brief", brief);
    let left_out = if whole && fits { String::new() } else { left_out(group, fits) };
    out.add_for(Audience::Terminal, "left-out", left_out);
}

/// Every solve, by size.
pub fn listing(group: &Group, scale: &Scale) -> Table {
    let solves = by_size(group).into_iter().flat_map(|m| match m.trials.is_empty() {
        true => vec![(m, Vec::new())],
        false => m.trials.iter().map(|t| (m, vec![t])).collect(),
    });
    listed(group, scale, "every solve", solves)
}

/// The worst solve of each configuration that fails.
fn failing(group: &Group, scale: &Scale) -> Table {
    let fails = |t: &Trial| t.solution.as_ref().is_some_and(|s| !s.passes());
    let fail = |m: &&Measurement| m.trials.iter().any(fails);
    let solves = by_size(group).into_iter().filter(fail).map(|m| {
        let of =
            |t: &&Trial| t.solution.as_ref().map_or(f64::NEG_INFINITY, |s| s.normalised_residual);
        (m, m.trials.iter().max_by(|a, b| of(a).total_cmp(&of(b))).into_iter().collect())
    });
    listed(group, scale, "the worst solve of each configuration that fails", solves)
}

/// The note on where every solve is listed; without the summary, also the largest residual.
fn left_out(group: &Group, summary: bool) -> String {
    let solved = || group.all.iter().flat_map(|m| &m.trials).filter_map(|t| t.solution.as_ref());
    let worst = solved().map(|s| s.normalised_residual).reduce(f64::max).map(scientific);
    let count = counted(solved().count() as u64, "solve");
    match worst {
        _ if summary => "Other formats list every solve.".to_owned(),
        Some(worst) => {
            format!("The largest Residual(norm) of {count} is {worst}. Other formats list all.")
        }
        None => format!("Other formats list all {count}."),
    }
}

fn by_size<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let mut all = group.all.clone();
    all.sort_by_key(|m| m.params.get(key::MATRIX_SIZE));
    all
}

/// Parameters other than the size that name the rows.
fn others<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let several = |name: &&str| {
        let values: BTreeSet<_> = group.all.iter().map(|m| m.params.named(name)).collect();
        key::MATRIX_SIZE != *name && values.len() > 1
    };
    group.varying.iter().copied().filter(several).collect()
}

/// A measurement with the trials of the row.
type Row<'a> = (&'a Measurement, Vec<&'a Trial>);

fn solutions<'a>((_, trials): &Row<'a>) -> impl Iterator<Item = &'a Solution> {
    trials.iter().filter_map(|t| t.solution.as_ref())
}

fn why_no_solution((m, trials): &Row) -> String {
    if trials.is_empty() { why_no_trials(m) } else { why_missing(m, "solution", NONE) }
}

/// The columns of the configuration and matrix layout, then `more`, the largest residual, and the
/// check.
fn columns<'a>(
    group: &'a Group,
    what: &str,
    more: impl FnOnce(Columns<'a, Row<'a>>) -> Columns<'a, Row<'a>>,
    check: fn(&Row) -> Entry,
) -> Columns<'a, Row<'a>> {
    let others = others(group);
    let names = [&[key::MATRIX_SIZE.name()], &others[..]].concat();
    let same = group.all.first().map_or_else(String::new, |m| group.short_without(m, &names));
    let table = Columns::new(named(group, what, &same)).number("Size", |(m, _): &Row| {
        group.text(m, key::MATRIX_SIZE).ok_or("not a parameter of this configuration")
    });
    let about = format!(
        "The residual divided by eps (|A| |x| + |b|) n, as in HPL, with norms of the largest row \
         sum and eps = 2^-53. The check passes below {}.",
        Solution::THRESHOLD
    );
    let table = others
        .iter()
        .fold(table, |table, name| parameter(table, group, name))
        .keys()
        .number("LDA", |row| span(row, |s| s.leading_dimension))
        .explained("LDA", LDA)
        .spare(2)
        .measured("Align", "B", |row| span(row, |s| s.alignment))
        .spare(3);
    more(table)
        .number("Residual(norm)", |row| greatest(row, |s| s.normalised_residual))
        .explained("Residual(norm)", &about)
        .column("Check", check)
}

fn listed<'a>(
    group: &'a Group,
    scale: &'a Scale,
    what: &str,
    solves: impl Iterator<Item = Row<'a>>,
) -> Table {
    let more = |table: Columns<'a, Row<'a>>| {
        table
            .measured("Time", "s", |(m, trials)| {
                trials.first().map(|t| seconds(t.seconds)).ok_or_else(|| why_no_trials(m))
            })
            .number(scale.label(), |(m, trials)| {
                let rate = trials.first().and_then(|t| scale.number(t.value));
                rate.ok_or_else(|| why_no_trials(m))
            })
            .number("Residual", |row| greatest(row, |s| s.residual))
            .explained("Residual", RESIDUAL)
    };
    let check = |row: &Row| match solutions(row).next() {
        Some(s) => passed(s.passes()),
        None => Err(why_no_solution(row)).into(),
    };
    columns(group, what, more, check).rows(solves)
}

fn summary<'a>(group: &'a Group, scale: &'a Scale) -> Table {
    let statistic = |read: fn(&Statistics) -> Option<f64>| {
        move |(m, _): &Row| {
            let of = m.summary.as_ref().map(|s| &s.trials).ok_or_else(|| why_no_trials(m))?;
            let why = || why_missing(m, "summary.trials.sd", "one trial has no deviation");
            read(of).and_then(|v| scale.number(v)).ok_or_else(why)
        }
    };
    let more = |table: Columns<'a, Row<'a>>| {
        table
            .measured("Average", scale.label(), statistic(|t| Some(t.mean)))
            .measured("Std Dev", scale.label(), statistic(|t| t.sd))
            .spare(2)
            .measured("Maximal", scale.label(), statistic(|t| Some(t.max)))
            .number("trials", |(_, trials)| trials.len().to_string())
    };
    let what = "average and maximum rate, and the largest residual, by size";
    let rows = by_size(group).into_iter().map(|m| (m, m.trials.iter().collect()));
    columns(group, what, more, checked).rows(rows)
}

/// `pass` if all trials pass; unknown if a trial has no solution.
fn checked(row: &Row) -> Entry {
    let failed = solutions(row).filter(|s| !s.passes()).count();
    let (all, open) = (row.1.len(), row.1.len() - solutions(row).count());
    let of_trials = format!("of {}", counted(all as u64, "trial"));
    if failed > 0 {
        let below = Solution::THRESHOLD;
        let note = format!("Residual(norm) is not below {below} in {failed} {of_trials}");
        return passed(false).noted(note);
    }
    match (all, open) {
        (0, _) => Err(why_no_trials(row.0)).into(),
        (_, 0) => passed(true),
        _ => Err(format!("the run file holds no solution of {open} {of_trials}")).into(),
    }
}

fn passed(passes: bool) -> Entry {
    match passes {
        true => "pass".into(),
        false => Entry::from("FAIL").coloured(Some(Verdict::Invalid)),
    }
}

fn greatest(row: &Row, read: fn(&Solution) -> f64) -> Result<String, String> {
    let most = solutions(row).map(read).reduce(f64::max);
    most.map(scientific).ok_or_else(|| why_no_solution(row))
}

/// One value, or the range from minimum to maximum.
fn span(row: &Row, read: fn(&Solution) -> u64) -> Result<String, String> {
    let [least, most] = [solutions(row).map(read).min(), solutions(row).map(read).max()];
    let (least, most) = least.zip(most).ok_or_else(|| why_no_solution(row))?;
    let text = format_count(least);
    Ok(if least == most { text } else { format!("{text}–{}", format_count(most)) })
}

/// Seconds with the digits that a solve of milliseconds needs.
fn seconds(value: f64) -> String {
    if (1e-3..1e7).contains(&value) { format!("{value:.5}") } else { scientific(value) }
}

/// `8.724688e-13`, with two digits of the exponent, as in the published listing.
fn scientific(value: f64) -> String {
    let text = format!("{value:.6e}");
    let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = power.strip_prefix('-').map_or(('+', power), |digits| ('-', digits));
    format!("{number}e{sign}{digits:0>2}")
}
