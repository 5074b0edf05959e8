//! `proofmark report`: a report from a run file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proofmark_model::Run;
use proofmark_report::More;
use proofmark_run::unknown;

use super::{group, repeat};
use crate::cli::ReportArgs;
use crate::error::{Outcome, usage};
use crate::history_file::named;
use crate::newest::newest;
use crate::output::{PAGE_FILE, deliver, not_written};
use crate::text::{options_for, print, report_command, say};
use crate::writer::{Existing, write};

pub fn run(args: &ReportArgs) -> Result<Outcome> {
    if let Some(runs) = args.run.as_deref().map(Path::new).and_then(repeat::ended_runs) {
        return group::report(args, &runs?);
    }
    let format = proofmark_report::find(&args.format).ok_or_else(|| {
        let ids = proofmark_report::ALL.iter().map(|f| f.id);
        usage(unknown("format", &args.format, ids, "proofmark list formats"))
    })?;
    let history = args.history.history.as_deref();
    let (path, run) = match &args.run {
        Some(name) => named(name, history)?,
        None => newest(history)?,
    };
    if let Some(dir) = &args.charts {
        return write_charts(&run, dir);
    }
    if let Some(line) = format.left_out(&run) {
        say(&format!("proofmark: {line}"));
    }
    let options = options_for(args.out.as_deref());
    let text = match args.all {
        true => format.render(&run, &options)?,
        false => {
            let page = page_of(Path::new(&path));
            let command = report_command(Path::new(&path));
            format.render_short(
                &run,
                &options,
                &More { command: &command, page: page.as_deref() },
            )?
        }
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Writes the charts of a run's page to a directory, and prints the files. Nothing is written if one
/// of them is there.
fn write_charts(run: &Run, dir: &Path) -> Result<Outcome> {
    let charts = proofmark_report::charts::all(run);
    if charts.is_empty() {
        return Err(usage("the page of this run has no chart"));
    }
    let paths: Vec<PathBuf> = charts.iter().map(|chart| dir.join(&chart.name)).collect();
    if let Some(there) = paths.iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        let there = there.display();
        return Err(usage(format!("{there} exists; name another directory with --charts")));
    }
    fs::create_dir_all(dir)
        .with_context(|| format!("cannot create directory {}", dir.display()))?;
    for (path, chart) in paths.iter().zip(&charts) {
        write(path, chart.svg.as_bytes(), Existing::Keep).with_context(|| not_written(path))?;
    }
    let lines = paths.iter().map(|path| format!("{}\n", path.display()));
    print(&lines.collect::<String>())?;
    Ok(Outcome::Done)
}

/// Returns the page that the run wrote, if it is still there.
fn page_of(run: &Path) -> Option<String> {
    let dir = if run.is_dir() { run } else { run.parent()? };
    let page = dir.join(PAGE_FILE);
    page.is_file().then(|| page.display().to_string())
}
