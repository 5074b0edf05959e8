//! Where a run leaves its files, tried out before anything is measured.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proofmark_model::{Plan, Run, Timestamp, format_size};
use proofmark_report::Options;

use crate::error::Usage;
use crate::samples;
use crate::text::print;

/// Room that a run's files need, in bytes, at the least and for each trial.
const ROOM: usize = 8 << 20;
const ROOM_A_TRIAL: usize = 4 << 10;
/// The same for each sample of a series, in the run file and beside it, and for all of them.
const ROOM_A_SAMPLE: usize = 2 << 10;
const MOST_OF_SAMPLES: usize = 64 << 20;

/// A run's folder.
#[derive(Debug)]
pub struct Output {
    dir: PathBuf,
}

/// Name of the run file in its folder.
pub const RUN_FILE: &str = "run.json";

impl Output {
    /// Makes the folder, and proves that files of a run's size can be written there.
    ///
    /// # Errors
    /// If it holds a run already (usage), cannot be made, is read-only or full.
    pub fn create(asked: Option<&Path>, plan: &Plan, started: Timestamp) -> Result<Self> {
        let dir = asked.map_or_else(
            || PathBuf::from(format!("proofmark-{}", started.compact())),
            Path::to_path_buf,
        );
        if dir.join(RUN_FILE).exists() {
            return Err(Usage::error(format!(
                "{} already holds a run; name another folder with --out",
                dir.display()
            )));
        }
        fs::create_dir_all(&dir).with_context(|| {
            format!("cannot make the folder {}; name another with --out", dir.display())
        })?;
        let output = Self { dir };
        output.try_out(plan)?;
        Ok(output)
    }

    fn try_out(&self, plan: &Plan) -> Result<()> {
        let trials = plan.points.len() * plan.policy.max_trials as usize;
        let samples: f64 = plan.series.iter().map(|s| s.for_s / s.every_s).sum();
        let samples = (samples as usize * ROOM_A_SAMPLE).min(MOST_OF_SAMPLES);
        let room = ROOM.max(trials * ROOM_A_TRIAL) + samples;
        try_out(&self.dir.join(RUN_FILE), &vec![0x5a; room]).with_context(|| {
            format!(
                "cannot write {} MiB to {}; nothing was measured; free some space or name another folder with --out",
                room >> 20,
                self.dir.display()
            )
        })
    }

    /// Replaces the run file in one step: a reader, and a crash, find the old one or the new.
    ///
    /// # Errors
    /// If it cannot be written; the old one is then still there.
    pub fn save(&self, run: &Run) -> io::Result<()> {
        write_whole(&self.dir.join(RUN_FILE), serde_json::to_vec(run)?.as_slice())
    }

    /// Writes the run in every format that makes a file.
    ///
    /// # Errors
    /// The first one that cannot be made or written.
    pub fn save_reports(&self, run: &Run) -> Result<()> {
        let options = Options { width: 100, color: false };
        for format in proofmark_report::ALL {
            let Some(name) = format.file() else { continue };
            let path = self.dir.join(name);
            let text =
                format.render(run, &options).with_context(|| format!("cannot make {name}"))?;
            write_whole(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page that a person opens.
    pub fn page(&self) -> PathBuf {
        self.dir.join("report.html")
    }
}

/// Writes a file beside the place of another and removes it: whether the other can be written.
///
/// # Errors
/// If it could not.
pub fn try_out(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_special(path) {
        return fs::OpenOptions::new().write(true).open(path).map(drop);
    }
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut f| {
        f.write_all(bytes)?;
        f.sync_all()
    });
    let _ = fs::remove_file(&beside);
    written
}

/// Whether something is there that must be written to and not replaced: a device, a
/// pipe, a link.
fn is_special(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| !m.is_file())
}

/// The name under which a file is written before it is moved to its place.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Writes a file beside its place and moves it there.
///
/// # Errors
/// If the folder cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_special(path) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let beside = beside(path);
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes a text to the file that was named, or prints it.
///
/// # Errors
/// If it cannot be written.
pub fn deliver(text: &str, out: Option<&Path>) -> Result<()> {
    match out {
        Some(path) => write_whole(path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display())),
        None => Ok(print(text)?),
    }
}

/// Largest run file that is read, in bytes.
const LARGEST_RUN: u64 = 1 << 30;

/// Reads a text file of at most so many bytes.
///
/// # Errors
/// If it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    read_bounded(File::open(path)?, most)
}

/// Reads text of at most so many bytes.
///
/// # Errors
/// If it cannot be read, is longer, or is not UTF-8.
pub fn read_bounded(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    from.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {}", format_size(most))));
    }
    Ok(text)
}

/// Why a file that was named cannot be read: a failure if it may not be, else a mistake in
/// what was typed.
pub fn unreadable(path: &Path, error: io::Error) -> anyhow::Error {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => anyhow::anyhow!(text),
        _ => Usage::error(text),
    }
}

/// Reads the run file that a person named, or the one in the folder that they named.
///
/// # Errors
/// A usage error of one line if it is no run file of this version.
pub fn read(path: &Path) -> Result<Run> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_path_buf() };
    let text = read_text(&file, LARGEST_RUN).map_err(|e| unreadable(&file, e))?;
    let mut run = proofmark_model::read_run(&text)
        .map_err(|e| Usage::error(format!("{}: {e}", file.display())))?;
    // What was sampled since the file was saved lies beside it.
    if let Some(folder) = file.parent().filter(|_| file.file_name() == Some(RUN_FILE.as_ref())) {
        samples::complete(&mut run, folder);
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_written_to_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (link, file) = (dir.path().join("link"), dir.path().join("file"));
        fs::write(&file, "old and longer").unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        try_out(&link, b"x").unwrap();
        write_whole(&link, b"x").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        try_out(&file, b"x").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old and longer");
        write_whole(&file, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "something was left behind");
    }

    #[test]
    fn no_file_is_read_without_a_bound() {
        let error = read_text(Path::new("/dev/zero"), 1000).unwrap_err();
        assert!(error.to_string().contains("larger than"), "{error}");
    }
}
