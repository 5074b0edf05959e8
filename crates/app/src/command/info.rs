//! `proofmark info`: the machine.

use anyhow::Result;

use crate::cli::InfoArgs;
use crate::error::Outcome;
use crate::machine;
use crate::text::{print, terminal_options};

/// Runs the command.
pub fn run(args: &InfoArgs) -> Result<Outcome> {
    let host = machine::look();
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&host)?))?;
    } else {
        print(&proofmark_report::terminal::host(&host, &terminal_options()))?;
    }
    Ok(Outcome::Done)
}
