//! The directory of a run's files, tested before anything is measured.

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

/// Bytes that a run's files need: the minimum, and per trial.
const ROOM: usize = 8 << 20;
const ROOM_PER_TRIAL: usize = 4 << 10;
/// Bytes per sample of a series, in the run file and in the log of samples, and the maximum of all.
const ROOM_PER_SAMPLE: usize = 2 << 10;
const MAX_ROOM_OF_SAMPLES: usize = 64 << 20;

/// Maximum directories of runs that start in the same second without `--out`.
const MAX_FOLDERS: u32 = 100;

#[derive(Debug)]
pub struct Output {
    dir: PathBuf,
    /// True if the run file in the directory is this run's.
    saved: Cell<bool>,
    /// True if this run created the directory.
    created: bool,
    /// True if names of the machine, its processes and its paths are left out.
    anonymous: bool,
}

/// Name of the run file in its folder.
pub const RUN_FILE: &str = "run.json";
/// Name of the page in a run's folder.
pub const PAGE_FILE: &str = "report.html";

impl Output {
    /// Creates the directory, and tests that files of a run's size and the JSON of `--json` can be
    /// written. A directory with a file of a name that a run writes is a usage error.
    pub fn create(results: &ResultFiles, plan: &Plan, started: Timestamp) -> Result<Self> {
        let named = results.out.as_deref();
        let is_new = named.is_none_or(|dir| fs::symlink_metadata(dir).is_err());
        let dir = match named {
            Some(dir) => named_folder(dir)?,
            None => new_folder("proofmark", Path::new(""), started)?,
        };
        let anonymous = results.anonymous;
        let output = Self { dir, saved: Cell::new(false), created: is_new, anonymous };
        output.try_out(plan)?;
        // The file may be in that directory.
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

    /// Writes the run in every format that has a file. A failure does not stop the others; the
    /// first one is the error.
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

    /// Returns the run, without names if it is anonymous.
    pub fn shown<'a>(&self, run: &'a Run) -> serde_json::Result<Cow<'a, Run>> {
        if !self.anonymous {
            return Ok(Cow::Borrowed(run));
        }
        let own = ["HOME", "USER"].into_iter().filter_map(|name| std::env::var(name).ok());
        let here = std::env::current_dir().ok().map(|dir| dir.display().to_string());
        run.anonymous(&own.chain(here).collect::<Vec<_>>()).map(Cow::Owned)
    }

    /// Removes the directory if this run created it and it is empty.
    pub fn discard(&self) {
        if self.created {
            let _ = fs::remove_dir(&self.dir);
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of the HTML report.
    pub fn page(&self) -> PathBuf {
        self.dir.join(PAGE_FILE)
    }
}

impl RunFile for Output {
    /// Replaces the file in one step: readers, also after a crash, find the old file or the new.
    fn save(&self, run: &Run) -> io::Result<()> {
        // The first save must not replace a file that appeared since the directory was checked.
        let existing = if self.saved.get() { Existing::Replace } else { Existing::Keep };
        let shown = serde_json::to_vec(&*self.shown(run)?)?;
        write(&self.dir.join(RUN_FILE), &shown, existing)?;
        self.saved.set(true);
        Ok(())
    }
}

/// Estimates the maximum bytes of a run's files, without the log of samples.
pub fn room(plan: &Plan) -> usize {
    let trials = plan.points.len() * plan.policy.max_trials as usize;
    let samples: f64 = plan.series.iter().map(|s| s.for_s / s.every_s).sum();
    let samples = (samples as usize * ROOM_PER_SAMPLE).min(MAX_ROOM_OF_SAMPLES);
    ROOM.max(trials * ROOM_PER_TRIAL) + samples
}

/// Creates the directory that the user named, if it is missing. Refuses one with files of a run.
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

/// Creates a directory named after the time; later ones of the same second get a number.
pub fn new_folder(what: &str, within: &Path, started: Timestamp) -> Result<PathBuf> {
    let name = format!("{what}-{}", started.compact());
    let mut dir = within.join(&name);
    for number in 2..=MAX_FOLDERS {
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

/// Lists the names of the files that a run may write.
fn file_names() -> impl Iterator<Item = &'static str> {
    let reports = proofmark_report::ALL.iter().filter_map(|format| format.file);
    [RUN_FILE, SAMPLES_FILE].into_iter().chain(reports)
}

/// Returns true if a path means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes the file that the user named.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_named(path, bytes).with_context(|| not_written(path))
}

pub fn not_written(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// The format for people; all others are for programs.
pub const TERMINAL: &str = "terminal";

/// Writes a text of that format to `out`, or prints it.
pub fn deliver(text: &str, format: &str, out: Option<&Path>) -> Result<()> {
    match out {
        Some(path) => write_file(path, text.as_bytes()),
        None if format == TERMINAL => Ok(print(text)?),
        None => Ok(print_data(text)?),
    }
}

/// Reads an untrusted file of at most `most` bytes, in any encoding.
pub fn read_untrusted(path: &Path, most: u64) -> Result<String> {
    let bytes = File::open(path).and_then(|file| read_bytes(file, most));
    bytes.map(|bytes| decoded(&bytes)).map_err(|e| unreadable(path, e))
}

/// Returns the error for a file that cannot be read: exit status 1 without permission, else 2.
pub fn unreadable(path: &Path, error: io::Error) -> anyhow::Error {
    let todo = match error.kind() {
        io::ErrorKind::NotFound => "; check the name",
        io::ErrorKind::IsADirectory => "; name a file in it",
        io::ErrorKind::PermissionDenied => "; give this user read permission",
        _ => "",
    };
    let text = format!("'{}': {error}{todo}", path.display());
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
    fn a_file_that_appears_in_the_directory_is_kept() {
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
