//! The directory of several runs: `repeat.json`, which is what to do, and a directory for each run.
//!
//! Nothing else records what is done: a run that ended is there as a whole, and one that a crash or a
//! signal cut off is not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proofmark_model::{Run, Timestamp, Tool, read_run};
use proofmark_run::read_text;
use serde::{Deserialize, Serialize};

use super::timing::Timing;
use crate::error::usage;
use crate::output::{RUN_FILE, not_written, unreadable};
use crate::stored::LARGEST_RUN;
use crate::writer::{Existing, write};

/// Name of the file in the directory.
pub(super) const REPEAT_FILE: &str = "repeat.json";
/// Version of its shape.
const SCHEMA: &str = "proofmark.repeat/1";
/// Most bytes of the file.
const LARGEST: u64 = 1 << 20;

/// What to do: every run is the same command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Repeated {
    schema: String,
    /// The program: others would not measure alike.
    pub(super) tool: Tool,
    /// When the first run was to begin.
    started: Timestamp,
    /// The directory in which the command was typed.
    pub(super) directory: PathBuf,
    /// The arguments as typed after the word `run`. Each run ignores those about several runs.
    pub(super) arguments: Vec<String>,
    /// Number and distance of the runs.
    #[serde(flatten)]
    pub(super) timing: Timing,
}

impl Repeated {
    pub(super) fn new(tool: Tool, timing: Timing, arguments: Vec<String>) -> Result<Self> {
        let directory =
            std::env::current_dir().context("cannot determine the current directory")?;
        let (schema, started) = (SCHEMA.to_owned(), Timestamp::now());
        Ok(Self { schema, tool, started, directory, arguments, timing })
    }

    /// Reads the file of a directory.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(REPEAT_FILE);
        let text = read_text(&path, LARGEST).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => usage(format!(
                "'{}' has no {REPEAT_FILE}; name the directory of a run with --repeat",
                dir.display()
            )),
            _ => unreadable(&path, e),
        })?;
        let wrong = |why: String| usage(format!("{}: {why}", path.display()));
        let read: Self = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        match read.schema == SCHEMA && read.timing.is_possible() {
            true => Ok(read),
            false => Err(wrong(format!("not a file of {SCHEMA}"))),
        }
    }

    /// Writes the file of a new directory.
    pub(super) fn save(&self, dir: &Path) -> Result<()> {
        let path = dir.join(REPEAT_FILE);
        let text = serde_json::to_vec_pretty(self)?;
        write(&path, &text, Existing::Keep).with_context(|| not_written(&path))
    }

    /// The directory of a run, counted from 1: `run-01`.
    pub(super) fn run_directory(&self, dir: &Path, number: u32) -> PathBuf {
        let digits = self.timing.runs.to_string().len().max(2);
        dir.join(format!("run-{number:0digits$}"))
    }

    /// The directories of the runs that ended; an error if none did.
    pub(super) fn ended_runs(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        let all = (1..=self.timing.runs).map(|number| self.run_directory(dir, number));
        let ended: Vec<PathBuf> = all.filter(|own| matches!(find(own), Found::Ended(_))).collect();
        match ended.is_empty() {
            true => Err(usage(format!("no run in {} has ended", dir.display()))),
            false => Ok(ended),
        }
    }
}

/// Creates the directory of several runs, which must hold none.
pub(super) fn create(dir: &Path) -> Result<()> {
    if fs::symlink_metadata(dir.join(REPEAT_FILE)).is_ok() {
        let dir = dir.display();
        return Err(usage(format!(
            "{dir} already holds {REPEAT_FILE}; continue with `proofmark run --resume {dir}`, or name \
             another directory with --out"
        )));
    }
    crate::output::named_folder(dir).map(drop)
}

/// What is in the directory of a run.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// A run that ended by itself.
    Ended(Box<Run>),
    /// Nothing: the run did not begin.
    Absent,
    /// A run that a signal or a crash cut off, or something else.
    Stopped,
}

/// Looks for a run in its directory.
pub(super) fn find(dir: &Path) -> Found {
    let read = || read_run(&read_text(&dir.join(RUN_FILE), LARGEST_RUN).ok()?).ok();
    match read().filter(|run: &Run| run.ended.is_some() && run.interrupted.is_none()) {
        Some(run) => Found::Ended(Box::new(run)),
        None if fs::symlink_metadata(dir).is_err() => Found::Absent,
        None => Found::Stopped,
    }
}

/// Renames the directory of a run that was cut off: `run-03-stopped`. One without any file is removed.
pub(super) fn move_aside(dir: &Path) -> Result<Option<PathBuf>> {
    if fs::remove_dir(dir).is_ok() {
        return Ok(None);
    }
    let name = |ending: String| PathBuf::from(format!("{}-stopped{ending}", dir.display()));
    let mut to = name(String::new());
    let mut number = 1;
    while fs::symlink_metadata(&to).is_ok() {
        number += 1;
        to = name(format!("-{number}"));
    }
    let moved = fs::rename(dir, &to);
    moved.with_context(|| format!("cannot rename {} to {}", dir.display(), to.display()))?;
    Ok(Some(to))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proofmark_model::testing;

    use super::*;

    #[test]
    fn what_to_do_is_read_as_it_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let timing = Timing { runs: 12, every: Some(Duration::from_millis(90_500)) };
        let arguments = vec!["cpu".to_owned(), "--quick".to_owned()];
        let saved = Repeated::new(crate::this_program::tool(), timing, arguments).unwrap();
        saved.save(dir.path()).unwrap();
        assert_eq!(Repeated::read(dir.path()).unwrap(), saved);
        assert!(saved.save(dir.path()).is_err(), "it replaced a file");
        assert!(saved.run_directory(dir.path(), 7).ends_with("run-07"));
        let file = dir.path().join(REPEAT_FILE);
        let text = fs::read_to_string(&file).unwrap();
        for (from, to) in
            [(SCHEMA, "proofmark.repeat/2"), ("\"runs\": 12", "\"runs\": 0"), ("{", "[")]
        {
            fs::write(&file, text.replacen(from, to, 1)).unwrap();
            let error = Repeated::read(dir.path()).unwrap_err();
            assert!(error.is::<crate::error::Usage>(), "{error}");
        }
        fs::remove_file(&file).unwrap();
        assert!(Repeated::read(dir.path()).unwrap_err().to_string().contains("--repeat"));
    }

    #[test]
    fn only_a_run_that_ended_by_itself_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("run-01");
        let put = |run: &Run| {
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join(RUN_FILE), serde_json::to_vec(run).unwrap()).unwrap();
        };
        assert_eq!(find(&own), Found::Absent);
        fs::create_dir(&own).unwrap();
        assert_eq!(find(&own), Found::Stopped, "empty");
        assert_eq!(move_aside(&own).unwrap(), None);
        assert!(!own.exists());
        let done = Run { ended: Some(Timestamp::now()), ..testing::run(Vec::new()) };
        let stopped = Run { interrupted: Some("SIGTERM".to_owned()), ..done.clone() };
        let aside = |ending: &str| dir.path().join(format!("run-01-stopped{ending}"));
        for (run, to) in [(Run { ended: None, ..done.clone() }, aside("")), (stopped, aside("-2"))]
        {
            put(&run);
            assert_eq!(find(&own), Found::Stopped);
            assert_eq!(move_aside(&own).unwrap(), Some(to.clone()));
            assert!(to.join(RUN_FILE).exists() && !own.exists());
        }
        fs::create_dir(&own).unwrap();
        fs::write(own.join(RUN_FILE), "{ cut o").unwrap();
        assert_eq!(find(&own), Found::Stopped);
        assert_eq!(move_aside(&own).unwrap(), Some(aside("-3")));
        put(&done);
        assert_eq!(find(&own), Found::Ended(Box::new(done)));
    }
}
