//! `proofmark report`: a report from a run file.

use std::path::Path;

use anyhow::Result;
use proofmark_report::More;
use proofmark_run::unknown;

use crate::cli::ReportArgs;
use crate::error::{Outcome, usage};
use crate::history_file::named;
use crate::newest::newest;
use crate::output::{PAGE_FILE, deliver};
use crate::text::{options_for, report_command, say};

pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = proofmark_report::find(&args.format).ok_or_else(|| {
        let ids = proofmark_report::ALL.iter().map(|f| f.id);
        usage(unknown("format", &args.format, ids, "proofmark list formats"))
    })?;
    let history = args.history.history.as_deref();
    let (path, run) = match &args.run {
        Some(name) => named(name, history)?,
        None => newest(history)?,
    };
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

/// Returns the page that the run wrote, if it is still there.
fn page_of(run: &Path) -> Option<String> {
    let dir = if run.is_dir() { run } else { run.parent()? };
    let page = dir.join(PAGE_FILE);
    page.is_file().then(|| page.display().to_string())
}
