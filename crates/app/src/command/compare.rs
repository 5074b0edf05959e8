//! `proofmark compare`: two or more runs, or two groups of runs.

use anyhow::Result;
use proofmark_model::Comparison;
use proofmark_report::comparison::{ComparisonOptions, FORMATS, MOST_RUNS};

use super::side::{ReadSide, compare_read};
use crate::cli::CompareArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::deliver;
use crate::price::prices;
use crate::text::options_for;

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark compare --help")?;
    let sides = sides(args)?;
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    let labels: Vec<&str> = sides.iter().map(|s| s.run().name().unwrap_or_default()).collect();
    let typed = if args.others.is_empty() { &args.runs } else { &names };
    let prices = prices(&args.price, typed, &labels).map_err(usage)?;
    let [a, others @ ..] = sides.as_slice() else { return Err(usage("name two runs")) };
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

/// Reads the sides: two groups on either side of `--`, or else one for each word.
fn sides(args: &CompareArgs) -> Result<Vec<ReadSide>> {
    let history = args.history.history.as_deref();
    if let Some(option) = args.others.iter().find(|name| name.starts_with('-')) {
        return Err(usage(format!(
            "{option}: options go before the runs: compare {option} A1 A2 -- B1 B2"
        )));
    }
    if !args.others.is_empty() {
        let both = [&args.runs, &args.others];
        let both: Result<Vec<ReadSide>> =
            both.into_iter().map(|names| ReadSide::read_all(names, history)).collect();
        return both.and_then(|both| match both[0].shares_a_run(&both[1]) {
            true => Err(usage("a run is on both sides")),
            false => Ok(both),
        });
    }
    match args.runs.len() {
        1 => Err(usage("name two runs, or the runs of each side: A1 A2 -- B1 B2")),
        n if n > MOST_RUNS => Err(usage(format!("compare at most {MOST_RUNS} runs"))),
        _ => args.runs.iter().map(|name| ReadSide::read(name, history)).collect(),
    }
}
