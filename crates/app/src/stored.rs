//! Stored runs, which are judged again when they are read.

use std::io;
use std::path::Path;

use anyhow::Result;
use proofmark_judge::raw_of;
use proofmark_judge::reread::{Own, read_again};
use proofmark_model::{Run, read_run};
use proofmark_run::read_text;

use crate::error::usage;
use crate::output::{RUN_FILE, unreadable};
use crate::samples;
use crate::text::say;
use crate::this_program::tool;

/// Largest run file that is read, in bytes.
pub const LARGEST_RUN: u64 = 1 << 30;

/// What to do where a name is that of no run.
const NAME_A_RUN: &str = "name a run file, its directory, or its number in `proofmark history`";

/// The error about a name without a run.
fn no_run(path: &Path, error: &io::Error) -> anyhow::Error {
    let name = path.display();
    usage(match path.is_dir() {
        true => format!("the directory '{name}' has no {RUN_FILE}; {NAME_A_RUN}"),
        false => format!("no run '{name}': {error}; {NAME_A_RUN}"),
    })
}

/// Reads a run file, or that of a directory, and judges it again. Prints what that changed. A file
/// that is no run is a usage error.
pub fn read(path: &Path) -> Result<Run> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_path_buf() };
    let text = read_text(&file, LARGEST_RUN).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => no_run(path, &e),
        _ => unreadable(&file, e),
    })?;
    let is_empty = text.trim().is_empty();
    let stored = read_run(&text).map_err(|e| match is_empty {
        true => usage(format!("{}: the file is empty; {NAME_A_RUN}", file.display())),
        false => usage(format!("{}: {e}", file.display())),
    })?;
    let mut raw = raw_of(&stored);
    // Samples taken since the file was saved are in the log next to it.
    if let Some(folder) = file.parent().filter(|_| file.file_name() == Some(RUN_FILE.as_ref())) {
        samples::complete(&mut raw, folder);
    }
    let declared = |id: &str| proofmark_workloads::find(id).map(|workload| workload.spec());
    let reread = read_again(&stored, &raw, Own { tool: &tool(), declared: &declared });
    if let Some(line) = reread.words() {
        say(&format!("proofmark: {}: {line}", path.display()));
    }
    Ok(reread.run)
}
