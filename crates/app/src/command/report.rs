//! `proofmark report`: a report from a run file.

use anyhow::Result;
use proofmark_run::unknown;

use crate::cli::ReportArgs;
use crate::error::{Outcome, usage};
use crate::output::{deliver, read};
use crate::text::terminal_options;

pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = proofmark_report::find(&args.format).ok_or_else(|| {
        let ids = proofmark_report::ALL.iter().map(|f| f.id());
        usage(unknown("format", &args.format, ids, "proofmark list formats"))
    })?;
    let run = read(&args.run)?;
    let mut options = terminal_options();
    options.color &= args.out.is_none();
    let text = format.render(&run, &options)?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}
