//! Tests of the program by its command line, and of rules between crates, in one binary.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod architecture;
mod audit;
mod compare;
mod completions;
mod deadlines;
mod documents;
mod files;
mod fleet;
mod formats;
mod history;
mod import;
mod lists;
mod noise;
mod profiles;
mod reframe;
mod repeat;
mod report;
mod terminal;
mod usage;
mod versions;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proofmark_model::{Account, Measurement, Verification};
use proofmark_testing::{output, skip, wait};
use tempfile::TempDir;

/// A directory for one test, in which the program runs without a history.
struct Folder(TempDir);

struct Ended {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

impl Ended {
    fn run(command: &mut Command) -> Self {
        let out = output(command);
        let [stdout, stderr] = [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap());
        assert!(!stderr.contains("panicked"), "{stderr}");
        Self { stdout, stderr, code: out.status.code() }
    }

    #[track_caller]
    fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Checks that standard error is empty. Returns standard output.
    #[track_caller]
    fn quiet(self) -> String {
        assert_eq!(self.stderr, "");
        self.stdout
    }

    /// Checks for a refusal in one line with this word, and nothing on standard output.
    #[track_caller]
    fn refused(self, code: i32, word: &str) {
        let Self { stdout, stderr, .. } = self.with(code);
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{stderr}");
        assert!(stderr.contains(word), "{stderr}is not\n{word}");
    }
}

/// The rows of a list, without the lines that continue them.
fn rows(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with(' '))
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn count(&self) -> usize {
        fs::read_dir(self.path()).unwrap().count()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
        command.current_dir(self.path()).env("COLUMNS", "100").env("PROOFMARK_HISTORY", "off");
        command
    }

    fn run(&self, arguments: &[impl AsRef<OsStr>]) -> Ended {
        Ended::run(self.command().args(arguments))
    }

    /// Returns the output of a command that succeeds without standard error.
    #[track_caller]
    fn prints(&self, arguments: &[impl AsRef<OsStr>]) -> String {
        self.run(arguments).with(0).quiet()
    }

    /// Checks that wrong arguments are refused, and nothing is written.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], word: &str) {
        let before = self.count();
        self.run(arguments).refused(2, word);
        assert_eq!(self.count(), before, "{arguments:?} wrote something");
    }
}

/// Adds the proof of a worker to a measurement: without a verification none is valid.
fn proved(mut m: Measurement) -> Measurement {
    for t in &mut m.trials {
        t.verified = Some(Account { claimed: t.work, counted: t.work });
    }
    let (kind, note) = ("checked arithmetic".to_owned(), String::new());
    let work = m.trials.iter().map(|t| t.work).sum();
    m.verification = Some(Verification { kind, claimed: work, counted: work, note });
    m
}

/// Returns true if a program is installed; else prints that the test is skipped.
#[track_caller]
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let found = command.spawn().map(|mut child| wait(program, &mut child)).is_ok();
    if !found {
        skip(format!("{program} is not installed"));
    }
    found
}

/// Lists the files of captured outputs.
fn captured() -> Vec<PathBuf> {
    let tools = listed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/src"));
    let folders = tools.into_iter().map(|tool| tool.join("captured")).filter(|f| f.is_dir());
    folders.flat_map(|folder| listed(&folder)).collect()
}

/// Returns the first captured output of a tool with that ending.
fn captured_of(tool: &str, ending: &str) -> PathBuf {
    let is_its = |f: &PathBuf| f.to_str().unwrap().contains(&format!("/{tool}/captured/"));
    captured().into_iter().filter(is_its).find(|f| f.to_str().unwrap().ends_with(ending)).unwrap()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    all.sort();
    all
}

/// The schema in the folder `schema` must be the program's.
#[track_caller]
fn is_checked_in(now: &str, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(name);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "its shape changed; UPDATE_SCHEMA=1 cargo test rewrites {}",
        path.display()
    );
}
