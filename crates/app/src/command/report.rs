//! `proofmark report`: a report from a run file.

use anyhow::Result;
use proofmark_run::unknown;

use crate::cli::ReportArgs;
use crate::error::{Outcome, usage};
use crate::output::deliver;
use crate::stored::read;
use crate::text::{options_for, say};

pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = proofmark_report::find(&args.format).ok_or_else(|| {
        let ids = proofmark_report::ALL.iter().map(|f| f.id);
        usage(unknown("format", &args.format, ids, "proofmark list formats"))
    })?;
    let run = read(&args.run)?;
    if let Some(line) = format.left_out(&run) {
        say(&format!("proofmark: {line}"));
    }
    let text = format.render(&run, &options_for(args.out.as_deref()))?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}
