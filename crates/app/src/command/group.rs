//! Several runs as one: those of `run --repeat`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proofmark_judge::group::{Member, group};
use proofmark_model::{RunGroup, Verdict};
use proofmark_report::group::{FORMATS, GroupOptions};
use proofmark_report::{Format, Options};

use crate::cli::ReportArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::{PAGE_FILE, deliver, not_written};
use crate::stored::read;
use crate::text::{options_for, print, report_command, say, terminal_options};
use crate::writer::{Existing, write};

/// Reads runs, and takes them together. The worst verdict of all comes with them.
fn read_all(paths: &[PathBuf]) -> Result<(RunGroup, Option<Verdict>)> {
    let runs = paths.iter().map(|path| Ok((path.display().to_string(), read(path)?)));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let members: Vec<Member> = runs.iter().map(|(name, run)| Member { name, run }).collect();
    Ok((group(&members), runs.iter().filter_map(|(_, run)| run.verdict()).max()))
}

/// Writes the page of all runs to their directory, and prints them. Returns the worst verdict.
pub(super) fn report_all(dir: &Path, paths: &[PathBuf]) -> Result<Option<Verdict>> {
    let (group, verdict) = read_all(paths)?;
    let layout = Options { width: 100, color: false };
    let html = written("html", &group, GroupOptions { layout, all: true })?;
    let page = dir.join(PAGE_FILE);
    let saved = write(&page, html.as_bytes(), Existing::Replace);
    print(&written("terminal", &group, GroupOptions { layout: terminal_options(), all: false })?)?;
    saved.with_context(|| not_written(&page))?;
    say(&format!("Report: {}", page.display()));
    say(&format!("All results: {} --all", report_command(dir)));
    Ok(verdict)
}

fn written(format: &str, group: &RunGroup, options: GroupOptions) -> Result<String> {
    let format: &Format<_> = formats::find(FORMATS, format, "proofmark report --help")?;
    Ok((format.write)(group, &options)?)
}

/// Reports the runs of a directory of `run --repeat` in the format of the user.
pub(super) fn report(args: &ReportArgs, paths: &[PathBuf]) -> Result<Outcome> {
    if args.charts.is_some() {
        return Err(usage("--charts is of one run: name one of the directory's runs"));
    }
    let format = formats::find(FORMATS, &args.format, "proofmark report --help")?;
    let (group, _) = read_all(paths)?;
    let layout = options_for(args.out.as_deref());
    let text = (format.write)(&group, &GroupOptions { layout, all: args.all })?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}
