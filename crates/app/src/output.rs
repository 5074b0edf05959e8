//! Where a run leaves its files, tried out before anything is measured.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proofmark_model::{Run, Timestamp};
use proofmark_report::Options;

use crate::error::Usage;

/// Room that a run's files may need; less free space is an error at the start.
const ROOM: usize = 8 << 20;

/// A run's folder.
#[derive(Debug)]
pub struct Output {
    dir: PathBuf,
}

/// Formats that make no file of their own: the run file is the JSON already.
const ON_REQUEST: [&str; 2] = ["terminal", "json"];

/// Name of the run file in its folder.
pub const RUN_FILE: &str = "run.json";

impl Output {
    /// Makes the folder, and proves that files of a run's size can be written there.
    ///
    /// # Errors
    /// If it holds a run already (usage), cannot be made, is read-only or full.
    pub fn create(asked: Option<&Path>, started: Timestamp) -> Result<Self> {
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
        output.try_out()?;
        Ok(output)
    }

    fn try_out(&self) -> Result<()> {
        try_out(&self.dir.join(RUN_FILE), &vec![0x5a; ROOM]).with_context(|| {
            format!(
                "cannot write {} MiB to {}; nothing was measured; free some space or name another folder with --out",
                ROOM >> 20,
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
            if ON_REQUEST.contains(&format.id()) {
                continue;
            }
            let name = format!("report.{}", format.extension());
            let path = self.dir.join(&name);
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
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut f| {
        f.write_all(bytes)?;
        f.sync_all()
    });
    let _ = fs::remove_file(&beside);
    written
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
    let beside = beside(path);
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Reads the run file that a person named, or the one in the folder that they named.
///
/// # Errors
/// A usage error of one line if it is no run file of this version.
pub fn read(path: &Path) -> Result<Run> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_path_buf() };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            bail!("{}: {e}", file.display())
        }
        Err(e) => return Err(Usage::error(format!("{}: {e}", file.display()))),
    };
    proofmark_model::read_run(&text).map_err(|e| Usage::error(format!("{}: {e}", file.display())))
}
