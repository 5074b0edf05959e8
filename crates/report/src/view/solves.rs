//! Systems of equations as LINPACK is published: the listing, a row a solve with its
//! residual, and the summary, a row a size with the average and the greatest rate.
//!
//! Any workload whose trials hold a solution has them.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Params, Solution, Trial, Verdict, format_count};
use serde::Serialize;

use super::keyed::named;
use super::label::{Group, title, why_missing, why_no_trials};
use super::matrix::ROWS;
use super::num::Scale;
use super::table::{Cell, Table};
use super::text::plural;

const LDA: &str = "Leading dimension: elements in memory from the start of one column to the start \
    of the next. For a matrix stored in groups of columns: the distance between two groups, divided by \
    the columns of a group.";

const RESIDUAL: &str =
    "The largest element of |A x - b|, with A and b as they were before the solve.";

/// What the trials of a point without a solution lack.
const NONE: &str = "the run file holds no solution of this trial";

/// What the solves of one workload came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Solves {
    /// A row per point; empty where the workload solves nothing.
    pub summary: Table,
    /// What a terminal has room for: the summary, and of the listing all or what fails.
    pub brief: Vec<Table>,
    /// What that leaves out; empty if nothing is.
    pub left_out: String,
}

/// A point's trial; a point without any has none.
type Solve<'a> = (&'a Measurement, Option<&'a Trial>);

pub fn any(group: &Group) -> bool {
    group.all.iter().flat_map(|m| &m.trials).any(|t| t.solution.is_some())
}

/// What the workload's solves came to; nothing where it solves nothing.
pub fn collect(group: &Group, scale: &Scale) -> Solves {
    if !any(group) {
        return Solves::default();
    }
    let (summary, listing) = (summary(group, scale), listing(group, scale));
    let (fits, whole) = (summary.rows.len() <= ROWS, listing.rows.len() <= ROWS);
    let mut brief = if fits { vec![summary.clone()] } else { Vec::new() };
    brief.push(if whole { listing } else { failing(group, scale) });
    brief.retain(|t| !t.rows.is_empty());
    let left_out = if whole && fits { String::new() } else { left_out(group, fits) };
    Solves { summary, brief, left_out }
}

/// Every solve, by size.
pub fn listing(group: &Group, scale: &Scale) -> Table {
    let solves = by_size(group).into_iter().flat_map(|m| match m.trials.is_empty() {
        true => vec![(m, None)],
        false => m.trials.iter().map(|t| (m, Some(t))).collect(),
    });
    listed(group, scale, "every solve", solves)
}

/// The worst solve of each point that fails.
fn failing(group: &Group, scale: &Scale) -> Table {
    let fail = |m: &&Measurement| m.trials.iter().any(fails);
    let solves = by_size(group).into_iter().filter(fail).map(|m| {
        let of =
            |t: &&Trial| t.solution.as_ref().map_or(f64::NEG_INFINITY, |s| s.normalised_residual);
        (m, m.trials.iter().max_by(|a, b| of(a).total_cmp(&of(b))))
    });
    listed(group, scale, "the worst solve of each configuration that fails", solves)
}

/// Where every solve is found; without the summary, how far the worst one is off.
fn left_out(group: &Group, summary: bool) -> String {
    let solved = || group.all.iter().flat_map(|m| &m.trials).filter_map(|t| t.solution.as_ref());
    let worst = solved().map(|s| s.normalised_residual).reduce(f64::max).map(scientific);
    let count = plural(solved().count() as u64, "solve");
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
    all.sort_by_key(|m| m.params.int(Params::SIZE));
    all
}

fn fails(t: &Trial) -> bool {
    t.solution.as_ref().is_some_and(|s| !s.passes())
}

/// Parameters that name the rows besides the size.
fn others<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let several = |name: &&str| {
        let values: BTreeSet<_> = group.all.iter().map(|m| m.params.get(name)).collect();
        *name != Params::SIZE && values.len() > 1
    };
    group.varying.iter().copied().filter(several).collect()
}

/// A table with the columns that both have in common: the point, and how the matrix lies.
fn start(group: &Group, what: &str) -> Table {
    let others = others(group);
    let names = [&[Params::SIZE], &others[..]].concat();
    let same = group.all.first().map_or_else(String::new, |m| group.short_without(m, &names));
    let mut table = Table::new(named(group, what, &same)).number("Size");
    for name in &others {
        let numeric = group.all.iter().any(|m| m.params.int(name).is_some());
        table = if numeric { table.number(title(name)) } else { table.column(title(name)) };
    }
    table.keys = 1 + others.len();
    table.number("LDA").explained("LDA", LDA).spare(2).measured("Align", "B").spare(3)
}

fn keys(group: &Group, m: &Measurement, table: &mut Table) -> Vec<Cell> {
    let mut parameters = vec![Params::SIZE];
    parameters.extend(others(group));
    let none = || "not a parameter of this configuration".to_owned();
    parameters.iter().map(|name| table.maybe(group.text(m, name), none)).collect()
}

fn normalised(table: Table) -> Table {
    let about = format!(
        "The residual divided by eps (|A| |x| + |b|) n, as in HPL, with norms of the largest row sum \
         and eps = 2^-53. The check passes below {}.",
        Solution::THRESHOLD
    );
    table.number("Residual(norm)").explained("Residual(norm)", &about).column("Check")
}

fn listed<'a>(
    group: &Group<'a>,
    scale: &Scale,
    what: &str,
    solves: impl Iterator<Item = Solve<'a>>,
) -> Table {
    let table = start(group, what).measured("Time", "s").number(scale.label());
    let mut table = normalised(table.number("Residual").explained("Residual", RESIDUAL));
    for (m, trial) in solves {
        let mut cells = keys(group, m, &mut table);
        let solution = trial.and_then(|t| t.solution.as_ref());
        let none = || trial.map_or_else(|| why_no_trials(m), |_| why_missing(m, "solution", NONE));
        for read in [|s: &Solution| s.leading_dimension, |s: &Solution| s.alignment] {
            cells.push(table.maybe(solution.map(|s| format_count(read(s))), none));
        }
        cells.push(table.maybe(trial.map(|t| seconds(t.seconds)), || why_no_trials(m)));
        cells.push(table.maybe(trial.and_then(|t| scale.number(t.value)), || why_no_trials(m)));
        for read in [|s: &Solution| s.residual, |s: &Solution| s.normalised_residual] {
            cells.push(table.maybe(solution.map(|s| scientific(read(s))), none));
        }
        cells.push(match solution {
            Some(s) => check(s.passes()),
            None => table.missing(none()),
        });
        table.push(cells);
    }
    table
}

fn summary(group: &Group, scale: &Scale) -> Table {
    let what = "average and maximum rate, and the largest residual, by size";
    let mut table = normalised(
        start(group, what)
            .measured("Average", scale.label())
            .measured("Std Dev", scale.label())
            .spare(2)
            .measured("Maximal", scale.label())
            .number("trials"),
    );
    for m in by_size(group) {
        let solutions: Vec<&Solution> =
            m.trials.iter().filter_map(|t| t.solution.as_ref()).collect();
        let none = || match m.trials[..] {
            [] => why_no_trials(m),
            _ => why_missing(m, "solution", NONE),
        };
        let mut cells = keys(group, m, &mut table);
        for read in [|s: &Solution| s.leading_dimension, |s: &Solution| s.alignment] {
            cells.push(table.maybe(span(solutions.iter().map(|s| read(s))), none));
        }
        let of = m.summary.as_ref().map(|s| &s.trials);
        for value in [of.map(|t| t.mean), of.and_then(|t| t.sd), of.map(|t| t.max)] {
            cells.push(table.maybe(value.and_then(|v| scale.number(v)), || match of {
                None => why_no_trials(m),
                Some(_) => why_missing(m, "summary.trials.sd", "one trial has no deviation"),
            }));
        }
        cells.push(Cell::text(m.trials.len().to_string()));
        let worst = solutions.iter().map(|s| s.normalised_residual).reduce(f64::max);
        cells.push(table.maybe(worst.map(scientific), none));
        cells.push(checked(m, &solutions, &mut table));
        table.push(cells);
    }
    table
}

/// `pass` if all trials do; a trial without a solution leaves it open.
fn checked(m: &Measurement, solutions: &[&Solution], table: &mut Table) -> Cell {
    let failed = solutions.iter().filter(|s| !s.passes()).count();
    let (all, open) = (m.trials.len(), m.trials.len() - solutions.len());
    let of_trials = format!("of {}", plural(all as u64, "trial"));
    if failed > 0 {
        let below = Solution::THRESHOLD;
        let note = format!("Residual(norm) is not below {below} in {failed} {of_trials}");
        return Cell { note: Some(table.note(note)), ..check(false) };
    }
    match (all, open) {
        (0, _) => table.missing(why_no_trials(m)),
        (_, 0) => check(true),
        _ => table.missing(format!("the run file holds no solution of {open} {of_trials}")),
    }
}

fn check(passes: bool) -> Cell {
    match passes {
        true => Cell::text("pass"),
        false => Cell { verdict: Some(Verdict::Invalid), ..Cell::text("FAIL") },
    }
}

/// One value, or the least and the greatest.
fn span(values: impl Iterator<Item = u64>) -> Option<String> {
    let values: BTreeSet<u64> = values.collect();
    let (least, most) = (*values.first()?, *values.last()?);
    let text = format_count(least);
    Some(if least == most { text } else { format!("{text}–{}", format_count(most)) })
}

/// Seconds with the digits that a solve of milliseconds needs.
fn seconds(value: f64) -> String {
    if (1e-3..1e7).contains(&value) { format!("{value:.5}") } else { scientific(value) }
}

/// `8.724688e-13`, with two digits of the exponent, as the published listing has it.
fn scientific(value: f64) -> String {
    let text = format!("{value:.6e}");
    let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = power.strip_prefix('-').map_or(('+', power), |digits| ('-', digits));
    format!("{number}e{sign}{digits:0>2}")
}
