//! `proofmark compare`: two runs; and `proofmark check`: a run and its baseline, for CI.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_model::Comparison;
use proofmark_report::comparison::{check as checked, html, json, junit, terminal};
use proofmark_run::unknown;

use crate::cli::{CheckArgs, CompareArgs};
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::deliver;
use crate::past::named;
use crate::text::options_for;

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    known_format(&args.format, &formats::COMPARE, "proofmark compare --help")?;
    let comparison = make([&args.a, &args.b], args.history.history.as_deref(), args.margin)?;
    let text = match args.format.as_str() {
        "json" => json(&comparison)?,
        "html" => html(&comparison)?,
        _ => terminal(&comparison, args.all, &options_for(args.out.as_deref())),
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Compares a run with its baseline: slower, without a number that the baseline has, or with too
/// little that could be judged, is [`Outcome::Slower`].
pub fn check(args: &CheckArgs) -> Result<Outcome> {
    known_format(&args.format, &formats::CHECK, "proofmark check --help")?;
    let runs = [args.against.as_str(), &args.run];
    let comparison = make(runs, args.history.history.as_deref(), args.margin)?;
    let text = match args.format.as_str() {
        "json" => json(&comparison)?,
        "junit" => junit(&comparison),
        _ => checked(&comparison),
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(if comparison.fails() { Outcome::Slower } else { Outcome::Done })
}

/// Refuses a format that there is not, before runs are read.
pub(super) fn known_format(asked: &str, formats: &[&str], where_: &str) -> Result<()> {
    if formats.contains(&asked) {
        return Ok(());
    }
    Err(usage(unknown("format", asked, formats.iter().copied(), where_)))
}

/// Reads both runs, A first, and compares them.
fn make([a, b]: [&str; 2], history: Option<&Path>, margin: Option<f64>) -> Result<Comparison> {
    let (name_a, run_a) = named(a, history)?;
    let (name_b, run_b) = named(b, history)?;
    let side = |name, run| Named { name, run };
    Ok(compare(side(&name_a, &run_a), side(&name_b, &run_b), Options { margin }))
}
