//! `proofmark report`: a report from a run file.

use anyhow::{Context as _, Result};

use crate::cli::ReportArgs;
use crate::error::{Outcome, Usage};
use crate::output::{read, write_whole};
use crate::plan::unknown;
use crate::text::{print, terminal_options};

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = proofmark_report::find(&args.format).ok_or_else(|| {
        let ids = proofmark_report::ALL.iter().map(|f| f.id());
        Usage::error(unknown("format", &args.format, ids, "proofmark list formats"))
    })?;
    let run = read(&args.run)?;
    let mut options = terminal_options();
    options.color &= args.out.is_none();
    let text = format.render(&run, &options)?;
    match &args.out {
        Some(path) => write_whole(path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?,
        None => print(&text)?,
    }
    Ok(Outcome::Done)
}
