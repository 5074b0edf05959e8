//! `proofmark check`: hold a run against a baseline, for CI.

use anyhow::Result;
use proofmark_report::comparison::{check, json, junit};

use super::compare::{known_format, make};
use crate::cli::CheckArgs;
use crate::error::Outcome;
use crate::formats;
use crate::output::deliver;

/// Runs the command: slower, without a number that the baseline has, or with too little that could
/// be judged, is [`Outcome::Slower`].
pub fn run(args: &CheckArgs) -> Result<Outcome> {
    known_format(&args.format, &formats::CHECK, "proofmark check --help")?;
    let comparison =
        make([&args.against, &args.run], args.history.history.as_deref(), args.margin)?;
    let text = match args.format.as_str() {
        "json" => json(&comparison)?,
        "junit" => junit(&comparison),
        _ => check(&comparison),
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(if comparison.fails() { Outcome::Slower } else { Outcome::Done })
}
