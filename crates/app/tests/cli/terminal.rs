//! Text of files, peers, arguments and paths that would steer a terminal, shown on one.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proofmark_model::clean_page;
use proofmark_testing::{join, wait};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

/// Clears the screen, sets the title, colours, goes back, and turns the rest around.
const ATTACK: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{8}\u{202e}evil\u{2069}";

/// Runs the program in that folder with a terminal as its standard output and error; all that it
/// wrote.
fn on_a_terminal(folder: &Path, arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = || {
        let side = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        Stdio::from(OwnedFd::from(side))
    };
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("proofmark"))
        .args(arguments)
        .current_dir(folder)
        .env("TERM", "xterm-256color")
        .env("PROOFMARK_HISTORY", "off")
        .env("PATH", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(side())
        .stderr(side())
        .spawn()
        .unwrap();
    let reading = std::thread::spawn(move || {
        let (mut terminal, mut all) = (File::from(terminal), Vec::new());
        let mut part = [0; 4096];
        // The end is an error: EIO, once nobody has the other side open.
        while let Ok(n @ 1..) = terminal.read(&mut part) {
            all.extend_from_slice(&part[..n]);
        }
        String::from_utf8(all).unwrap().replace("\r\n", "\n")
    });
    wait(&format!("{arguments:?} to end"), &mut child);
    join("the end of what it printed", reading)
}

/// Runs it, and holds what it wrote to be what [`clean_page`] leaves.
fn steers_nothing(folder: &Path, arguments: &[&str]) -> String {
    let text = on_a_terminal(folder, arguments);
    assert!(!text.is_empty() && clean_page(&text) == text, "{arguments:?}: {text:?}");
    text
}

/// The same, of what quotes the attack.
fn quotes_safely(folder: &Path, arguments: &[&str]) {
    let text = steers_nothing(folder, arguments);
    assert!(text.contains("evil"), "{arguments:?} does not quote it: {text:?}");
}

/// What is written as a JSON or TOML string: control characters escaped, others as they are.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn stream_output() -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../reference/src/stream/captured");
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all.into_iter().find(|p| !p.to_string_lossy().contains("refused")).unwrap()
}

/// Appends the attack to every text of a value but for those that a reader must know.
fn attack(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if FREE.contains(&key) => text.push_str(ATTACK),
        Value::Array(all) => all.iter_mut().for_each(|v| attack(v, key)),
        Value::Object(all) => all.iter_mut().for_each(|(key, v)| attack(v, key)),
        _ => {}
    }
}

/// Texts of a run file that may be any.
const FREE: [&str; 14] = [
    "version", "commit", "build", "imported", "profile", "title", "summary", "detail", "message",
    "advice", "note", "formula", "name", "reason",
];

#[test]
fn a_run_files_texts_are_text() {
    let dir = tempfile::tempdir().unwrap();
    let output = stream_output();
    on_a_terminal(dir.path(), &["import", "--out", "run", output.to_str().unwrap()]);
    let file = dir.path().join("run/run.json");
    let mut run: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    attack(&mut run, "");
    fs::write(&file, run.to_string()).unwrap();
    for format in ["terminal", "markdown", "json", "html", "junit", "openmetrics"] {
        quotes_safely(dir.path(), &["report", "run", "--format", format]);
    }
    steers_nothing(dir.path(), &["report", "run", "--format", "csv"]);
    quotes_safely(dir.path(), &["compare", "run", "run", "--all"]);
    steers_nothing(dir.path(), &["check", "run", "--against", "run"]);
    // It says that figures of another tool, which it quotes, do not belong there.
    quotes_safely(dir.path(), &["history", "--history", "h.db", "--add", "run"]);
}

#[test]
fn errors_quote_files_safely() {
    let dir = tempfile::tempdir().unwrap();
    let holds = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let bad = quoted(ATTACK);
    for text in [
        format!("{{\"schema\": {bad}}}"),
        format!("{{\"schema\": \"proofmark.run/2\", \"started\": {bad}}}"),
        format!("{{\"schema\": \"proofmark.run/2\", \"ended\": {bad}}}"),
    ] {
        holds("run.json", &text);
        steers_nothing(dir.path(), &["report", "run.json"]);
    }
    for text in [format!("name = \"x\"\n{bad} = 1\n"), format!("name = 5\nabout = {bad}\n")] {
        holds("p.toml", &text);
        steers_nothing(dir.path(), &["run", "--dry-run", "--profile", "p.toml"]);
    }
    holds("a.csv", &format!("{ATTACK},operation\n1,2\n"));
    for text in [format!("[a]\ncores = {bad}\n"), format!("[{bad}]\n[b]\n"), "[a]".to_owned()] {
        holds("m.toml", &text);
        steers_nothing(dir.path(), &["audit", "a.csv", "--machine", "m.toml"]);
    }
    holds("o.txt", &format!("STREAM {ATTACK}\n"));
    for tool in ["stream", "fio", "iperf3", "hpl", "iozone"] {
        steers_nothing(dir.path(), &["import", "--tool", tool, "o.txt"]);
    }
}

#[test]
fn errors_of_the_system_quote_paths_safely() {
    let dir = tempfile::tempdir().unwrap();
    let path = format!("no/{ATTACK}");
    for arguments in [
        &["report", &path][..],
        &["import", &path],
        &["audit", &path, "--machine", &path],
        &["history", "--history", &path, "--add", &path],
        &["run", "cpu.clock", "--profile", &path],
        &["run", "disk", "--disk-path", &path],
        &["run", "network", "--peer", "localhost:1", "--key-file", &path],
        &["run", &path],
        &["run", "--set", &path],
        &["explain", &path],
        &["completions", &path],
    ] {
        quotes_safely(dir.path(), arguments);
    }
    // A file where the folder of the report should be made.
    fs::write(dir.path().join(ATTACK), "").unwrap();
    let out = format!("{ATTACK}/out");
    quotes_safely(dir.path(), &["run", "cpu.clock", "--trials", "1", "--out", &out]);
}
