//! `proofmark fleet report`: judges a fleet's file and reports the result.

use std::path::Path;

use anyhow::{Context as _, Result};
use proofmark_fleet::FleetLog;
use proofmark_judge::fleet::fleet_report;
use proofmark_model::{Decision, FleetReport};
use proofmark_report::fleet::{FORMATS, html, terminal, whole_terminal};

use crate::cli::FleetReportArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::deliver;
use crate::text::{options_for, print, say, terminal_options};
use crate::writer::{Existing, write};

/// The format for a terminal.
const TERMINAL: &str = "terminal";

/// The name of the HTML report in the fleet's directory.
const PAGE: &str = "report.html";

pub fn run(args: &FleetReportArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark fleet report --help")?;
    let report = judged(&args.dir)?;
    let options = options_for(args.out.as_deref());
    let text = match (args.all, format.id) {
        (true, TERMINAL) => whole_terminal(&report, &options),
        _ => (format.write)(&report, &options)?,
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(outcome(&report))
}

/// Reports a fleet that has just been measured; if `all`, with every node by name.
pub(super) fn finish(dir: &Path, all: bool) -> Result<Outcome> {
    let report = judged(dir)?;
    let page = dir.join(PAGE);
    let written = write(&page, html(&report)?.as_bytes(), Existing::Replace);
    let show = if all { whole_terminal } else { terminal };
    print(&show(&report, &terminal_options()))?;
    written.with_context(|| format!("cannot write {}", page.display()))?;
    say(&format!("Report: {}", page.display()));
    Ok(outcome(&report))
}

fn judged(dir: &Path) -> Result<FleetReport> {
    let lines = FleetLog::read(dir).map_err(usage)?;
    fleet_report(lines).map_err(usage)
}

fn outcome(report: &FleetReport) -> Outcome {
    match report.decision() {
        Decision::Met => Outcome::Done,
        Decision::Undecided => Outcome::Undecided,
        Decision::Missed => Outcome::CheckFailed,
    }
}
