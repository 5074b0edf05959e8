//! `proofmark compare`: two or more runs.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_model::Comparison;
use proofmark_report::comparison::{ComparisonOptions, FORMATS, MOST_RUNS};

use crate::cli::CompareArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::history_file::named;
use crate::output::deliver;
use crate::text::options_for;

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    let writer = formats::find(FORMATS, &args.format, "proofmark compare --help")?.write;
    let [a, others @ ..] = args.runs.as_slice() else { return Err(usage("name two runs")) };
    if args.runs.len() > MOST_RUNS {
        return Err(usage(format!("compare at most {MOST_RUNS} runs")));
    }
    if args.runs.len() > writer.most_runs {
        return Err(usage(format!("--format {} compares two runs", args.format)));
    }
    let history = args.history.history.as_deref();
    let made = others.iter().map(|b| compare_runs([a, b], history, args.margin));
    let all = made.collect::<Result<Vec<_>>>()?;
    let options = ComparisonOptions { layout: options_for(args.out.as_deref()), all: args.all };
    let text = (writer.write)(&all, &options)?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Reads both runs, A first, and compares them.
pub(super) fn compare_runs(
    [a, b]: [&str; 2],
    history: Option<&Path>,
    margin: Option<f64>,
) -> Result<Comparison> {
    let (name_a, run_a) = named(a, history)?;
    let (name_b, run_b) = named(b, history)?;
    let side = |name, run| Named { name, run };
    Ok(compare(side(&name_a, &run_a), side(&name_b, &run_b), Options { margin }))
}
