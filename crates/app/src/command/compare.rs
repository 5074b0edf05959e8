//! `proofmark compare`: hold one run against another.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_model::Comparison;
use proofmark_report::comparison::{html, json, terminal};
use proofmark_run::unknown;

use crate::cli::CompareArgs;
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

/// Refuses a format that there is not, before runs are read.
pub(super) fn known_format(asked: &str, formats: &[&str], where_: &str) -> Result<()> {
    if formats.contains(&asked) {
        return Ok(());
    }
    Err(usage(unknown("format", asked, formats.iter().copied(), where_)))
}

/// Reads both runs, A first, and compares them.
pub(super) fn make(
    [a, b]: [&str; 2],
    history: Option<&Path>,
    margin: Option<f64>,
) -> Result<Comparison> {
    let (name_a, run_a) = named(a, history)?;
    let (name_b, run_b) = named(b, history)?;
    let side = |name, run| Named { name, run };
    Ok(compare(side(&name_a, &run_a), side(&name_b, &run_b), Options { margin }))
}
