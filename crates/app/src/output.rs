//! Where a run leaves its files, tried out before anything is measured.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proofmark_model::{Plan, Run, Timestamp};
use proofmark_reference::decoded;
use proofmark_report::Options;
use proofmark_run::{RunFile, read_bytes};

use crate::cli::ResultFiles;
use crate::error::usage;
use crate::samples::SAMPLES_FILE;
use crate::text::{print, print_data};
use crate::writer::{Existing, try_named, write, write_named};

/// Room that a run's files need, in bytes, at the least and for each trial.
const ROOM: usize = 8 << 20;
const ROOM_A_TRIAL: usize = 4 << 10;
/// The same for each sample of a series, in the run file and in the log of samples, and for all of them.
const ROOM_A_SAMPLE: usize = 2 << 10;
const MOST_OF_SAMPLES: usize = 64 << 20;

/// Most folders that runs which begin in the same second get without `--out`.
const MOST_FOLDERS: u32 = 100;

#[derive(Debug)]
pub struct Output {
    dir: PathBuf,
    /// Whether the run file there is of this run.
    saved: Cell<bool>,
    /// Whether the folder was not there before.
    made: bool,
    /// Whether names of the machine, its processes and its paths are left out.
    anonymous: bool,
}

/// Name of the run file in its folder.
pub const RUN_FILE: &str = "run.json";

impl Output {
    /// Makes the folder, and proves that files of a run's size can be written there, and the JSON
    /// where it was asked for. A folder with a file of a name that a run writes is an error of usage.
    pub fn create(results: &ResultFiles, plan: &Plan, started: Timestamp) -> Result<Self> {
        let asked = results.out.as_deref();
        let is_new = asked.is_none_or(|dir| fs::symlink_metadata(dir).is_err());
        let dir = match asked {
            Some(dir) => named_folder(dir)?,
            None => new_folder("proofmark", Path::new(""), started)?,
        };
        let anonymous = results.anonymous;
        let output = Self { dir, saved: Cell::new(false), made: is_new, anonymous };
        output.try_out(plan)?;
        // It may be meant for that folder.
        if let Some(json) = results.json.as_deref().filter(|p| !is_stdout(p)) {
            try_named(json, b"")
                .with_context(|| not_written(json))
                .inspect_err(|_| output.discard())?;
        }
        Ok(output)
    }

    fn try_out(&self, plan: &Plan) -> Result<()> {
        let room = room(plan);
        let file = self.dir.join(RUN_FILE);
        let tried = try_named(&file, &vec![0x5a; room]);
        tried.map_err(|e| {
            let is_full =
                matches!(e.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            let advice =
                if is_full { "; free some space or name another directory with --out" } else { "" };
            let (mib, file) = (room >> 20, file.display());
            let what = format!("cannot write {mib} MiB to {file}; nothing was measured{advice}");
            anyhow::Error::new(e).context(what)
        })
    }

    /// Writes the run in every format that makes a file. Those that can be written are, even if
    /// another one cannot; the first failure is the error.
    pub fn save_reports(&self, run: &Run) -> Result<()> {
        let options = Options { width: 100, color: false };
        let written = |format: &proofmark_report::RunFormat| {
            let Some(name) = format.file else { return Ok(()) };
            let path = self.dir.join(name);
            let text =
                format.render(run, &options).with_context(|| format!("cannot create {name}"))?;
            write(&path, text.as_bytes(), Existing::Keep).with_context(|| not_written(&path))
        };
        let all: Vec<_> = proofmark_report::ALL.iter().map(written).collect();
        all.into_iter().collect()
    }

    /// The run as it may be shown: with names, or without.
    pub fn shown<'a>(&self, run: &'a Run) -> serde_json::Result<Cow<'a, Run>> {
        if !self.anonymous {
            return Ok(Cow::Borrowed(run));
        }
        let own = ["HOME", "USER"].into_iter().filter_map(|name| std::env::var(name).ok());
        let here = std::env::current_dir().ok().map(|dir| dir.display().to_string());
        run.anonymous(&own.chain(here).collect::<Vec<_>>()).map(Cow::Owned)
    }

    /// Removes the folder again, if it was made for this run and holds nothing.
    pub fn discard(&self) {
        if self.made {
            let _ = fs::remove_dir(&self.dir);
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page that a person opens.
    pub fn page(&self) -> PathBuf {
        self.dir.join("report.html")
    }
}

impl RunFile for Output {
    /// In one step: a reader, and a crash, find the old file or the new.
    fn save(&self, run: &Run) -> io::Result<()> {
        // The first one must not replace a file that came here since the folder was looked at.
        let existing = if self.saved.get() { Existing::Replace } else { Existing::Keep };
        let shown = serde_json::to_vec(&*self.shown(run)?)?;
        write(&self.dir.join(RUN_FILE), &shown, existing)?;
        self.saved.set(true);
        Ok(())
    }
}

/// Bytes that the files of a run need at most, without the log of samples.
pub fn room(plan: &Plan) -> usize {
    let trials = plan.points.len() * plan.policy.max_trials as usize;
    let samples: f64 = plan.series.iter().map(|s| s.for_s / s.every_s).sum();
    let samples = (samples as usize * ROOM_A_SAMPLE).min(MOST_OF_SAMPLES);
    ROOM.max(trials * ROOM_A_TRIAL) + samples
}

/// The folder that a user named, which may be there.
pub fn named_folder(dir: &Path) -> Result<PathBuf> {
    if let Some(name) = file_names().find(|name| fs::symlink_metadata(dir.join(name)).is_ok()) {
        let what = match name {
            RUN_FILE => "a run".to_owned(),
            name => format!("{name}, which a run writes"),
        };
        let dir = dir.display();
        return Err(usage(format!(
            "{dir} already holds {what}; name another directory with --out"
        )));
    }
    fs::create_dir_all(dir).with_context(|| not_made(dir))?;
    Ok(dir.to_path_buf())
}

/// A new folder named after the time; what begins in the same second gets a number.
pub fn new_folder(what: &str, within: &Path, started: Timestamp) -> Result<PathBuf> {
    let name = format!("{what}-{}", started.compact());
    let mut dir = within.join(&name);
    for number in 2..=MOST_FOLDERS {
        match fs::create_dir(&dir) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                dir = within.join(format!("{name}-{number}"));
            }
            made => return made.with_context(|| not_made(&dir)).map(|()| dir),
        }
    }
    Err(anyhow::anyhow!("{} and similar names exist; name a directory with --out", dir.display()))
}

fn not_made(dir: &Path) -> String {
    format!("cannot create directory {}; name another with --out", dir.display())
}

/// Every file name that a run may write.
fn file_names() -> impl Iterator<Item = &'static str> {
    let reports = proofmark_report::ALL.iter().filter_map(|format| format.file);
    [RUN_FILE, SAMPLES_FILE].into_iter().chain(reports)
}

/// Whether a path that was named means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes the file that a person named.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_named(path, bytes).with_context(|| not_written(path))
}

pub fn not_written(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// The format for people; all others are for programs.
pub const TERMINAL: &str = "terminal";

/// Writes a text of that format to the file that was named, or prints it.
pub fn deliver(text: &str, format: &str, out: Option<&Path>) -> Result<()> {
    match out {
        Some(path) => write_file(path, text.as_bytes()),
        None if format == TERMINAL => Ok(print(text)?),
        None => Ok(print_data(text)?),
    }
}

/// The text of a stranger's file of so many bytes at most, whatever its encoding.
pub fn strangers_text(path: &Path, most: u64) -> Result<String> {
    let bytes = File::open(path).and_then(|file| read_bytes(file, most));
    bytes.map(|bytes| decoded(&bytes)).map_err(|e| unreadable(path, e))
}

/// Why a named file cannot be read: a failure if it may not be, else a mistake in what was typed.
pub fn unreadable(path: &Path, error: io::Error) -> anyhow::Error {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => anyhow::anyhow!(text),
        _ => usage(text),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing;

    use super::*;

    fn into(dir: &Path) -> ResultFiles {
        ResultFiles {
            out: Some(dir.to_path_buf()),
            json: None,
            label: None,
            anonymous: false,
            exit: crate::cli::ExitRules::default(),
        }
    }

    #[test]
    fn a_folder_with_any_file_name_of_a_runs_is_refused() {
        for name in file_names() {
            let dir = tempfile::tempdir().unwrap();
            let create = || Output::create(&into(dir.path()), &Plan::default(), Timestamp::now());
            fs::write(dir.path().join("notes.txt"), "mine").unwrap();
            create().unwrap();
            fs::write(dir.path().join(name), "mine").unwrap();
            let error = create().unwrap_err();
            assert!(
                error.is::<crate::error::Usage>() && error.to_string().contains("--out"),
                "{error}"
            );
            fs::remove_file(dir.path().join(name)).unwrap();
            // A link that leads nowhere would be replaced like a file.
            std::os::unix::fs::symlink("nowhere", dir.path().join(name)).unwrap();
            create().unwrap_err();
        }
    }

    #[test]
    fn each_run_without_out_gets_a_folder_that_was_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let started = Timestamp::from_millis(0).unwrap();
        let folders = [(); 3].map(|()| new_folder("proofmark", dir.path(), started).unwrap());
        assert!(folders[0] != folders[1] && folders[1] != folders[2]);
        // A link with the next name is not followed.
        let next = folders[2].to_string_lossy().replace("-3", "-4");
        std::os::unix::fs::symlink(dir.path(), &next).unwrap();
        assert!(
            new_folder("proofmark", dir.path(), started)
                .unwrap()
                .ends_with(next.replace("-4", "-5"))
        );
    }

    #[test]
    fn what_came_into_the_folder_meanwhile_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let run = testing::run(Vec::new());
        let output = Output::create(&into(dir.path()), &run.plan, run.started).unwrap();
        let file = dir.path().join(RUN_FILE);
        fs::write(&file, "mine").unwrap();
        assert!(output.save(&run).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_file(&file).unwrap();
        output.save(&run).unwrap();
        output.save(&run).unwrap();
        fs::write(dir.path().join("report.md"), "mine").unwrap();
        assert!(output.save_reports(&run).is_err());
        assert_eq!(fs::read_to_string(dir.path().join("report.md")).unwrap(), "mine");
    }
}
