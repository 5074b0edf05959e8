//! The newest run: that of a directory here, else of the history.

use std::fs;
use std::path::Path;

use anyhow::Result;
use proofmark_model::{Run, Timestamp};

use crate::error::usage;
use crate::history_file;
use crate::output::RUN_FILE;
use crate::stored::read;
use crate::text::say;

/// Beginning of the names of runs' directories.
const PREFIX: &str = "proofmark-";

/// Reads the newest run and returns its path, too. Prints which it is.
pub fn newest(history: Option<&Path>) -> Result<(String, Run)> {
    let here = newest_directory(Path::new("."));
    if let Some(name) = here {
        say(&format!("proofmark: {name} is the newest run in this directory"));
        let run = read(Path::new(&name))?;
        return Ok((name, run));
    }
    let (path, run) = history_file::newest(history)?.ok_or_else(|| {
        usage(
            "no run here (no directory proofmark-* with a run.json) and none in the history; name \
             a run: proofmark report DIR",
        )
    })?;
    say(&format!("proofmark: {path} is the newest run of the history; this directory has none"));
    Ok((path, run))
}

/// Returns the name of the newest directory of a run. Its name gives the time when the run began;
/// for another name, that of the run file decides.
fn newest_directory(within: &Path) -> Option<String> {
    let names =
        fs::read_dir(within).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let dated = |name: String| {
        let rest = name.strip_prefix(PREFIX)?;
        let written = fs::metadata(within.join(&name).join(RUN_FILE)).ok()?.modified().ok()?;
        let began = Timestamp::from_compact(rest).map_or(written, |time| time.0.into());
        // Later runs of the same second have a number at the end.
        Some((began, name.len(), name))
    };
    names.filter_map(dated).max().map(|(.., name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_directory_is_that_of_the_newest_run() {
        let dir = tempfile::tempdir().unwrap();
        let newest = || newest_directory(dir.path());
        let make = |name: &str, run: bool| {
            fs::create_dir(dir.path().join(name)).unwrap();
            if run {
                fs::write(dir.path().join(name).join(RUN_FILE), "{}").unwrap();
            }
        };
        assert_eq!(newest(), None);
        make("proofmark-20990101T000000Z", false);
        make("other-20990101T000000Z", true);
        fs::write(dir.path().join("proofmark-20990102T000000Z"), "a file").unwrap();
        assert_eq!(newest(), None, "no run");
        // Copied in another order than they were measured.
        for day in ["20240103", "20240101", "20240102"] {
            make(&format!("proofmark-{day}T000000Z"), true);
        }
        assert_eq!(newest().unwrap(), "proofmark-20240103T000000Z");
        // The second run of the same second.
        make("proofmark-20240103T000000Z-2", true);
        make("proofmark-20240103T000000Z-10", true);
        assert_eq!(newest().unwrap(), "proofmark-20240103T000000Z-10");
        make("proofmark-mine", true);
        assert_eq!(newest().unwrap(), "proofmark-mine", "written now");
    }
}
