//! `proofmark compare`: two or more runs.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_model::{Comparison, Price, Run};
use proofmark_report::comparison::{ComparisonOptions, FORMATS, MOST_RUNS};

use crate::cli::CompareArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::history_file::named;
use crate::output::deliver;
use crate::price::prices;
use crate::text::options_for;

/// A run that was read, and the path that it was read from.
pub(super) struct ReadRun {
    pub(super) name: String,
    pub(super) run: Run,
}

impl ReadRun {
    /// Reads the run that the user named.
    pub(super) fn read(name: &str, history: Option<&Path>) -> Result<Self> {
        let (name, run) = named(name, history)?;
        Ok(Self { name, run })
    }
}

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark compare --help")?;
    if args.runs.len() > MOST_RUNS {
        return Err(usage(format!("compare at most {MOST_RUNS} runs")));
    }
    let history = args.history.history.as_deref();
    let read = args.runs.iter().map(|name| ReadRun::read(name, history));
    let read = read.collect::<Result<Vec<_>>>()?;
    let labels = read.iter().map(|r| r.run.name().unwrap_or_default()).collect::<Vec<_>>();
    let prices = prices(&args.price, &args.runs, &labels).map_err(usage)?;
    let [a, others @ ..] = read.as_slice() else { return Err(usage("name two runs")) };
    let price = |at: usize| prices.as_ref().and_then(|all| all.get(at));
    let all: Vec<Comparison> = others
        .iter()
        .zip('B'..='Z')
        .enumerate()
        .map(|(i, (b, letter))| compare_read([a, b], letter, [price(0), price(i + 1)], args.margin))
        .collect();
    let options = ComparisonOptions { layout: options_for(args.out.as_deref()), all: args.all };
    let text = (format.write)(&all, &options)?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Compares two runs, A first; `letter` names the other.
pub(super) fn compare_read(
    [a, b]: [&ReadRun; 2],
    letter: char,
    [price_a, price_b]: [Option<&Price>; 2],
    margin: Option<f64>,
) -> Comparison {
    compare(
        Named { price: price_a, ..Named::new('A', &a.name, &a.run) },
        Named { price: price_b, ..Named::new(letter, &b.name, &b.run) },
        Options { margin },
    )
}
