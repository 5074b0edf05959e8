//! Text of files, peers, arguments and paths with control characters, shown on a terminal.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use proofmark_model::clean_page;
use proofmark_testing::{join, wait};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use super::{Ended, Folder, captured_of};

/// Clears the screen, sets the title, colours, moves back, and reverses the direction of the text.
const ATTACK: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{8}\u{202e}evil\u{2069}";

/// Runs the program in that directory with a terminal as standard output and error. Returns its
/// output.
fn on_a_terminal(folder: &Folder, arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = || {
        let side = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        Stdio::from(OwnedFd::from(side))
    };
    let mut command = folder.command();
    command.args(arguments).env("TERM", "xterm-256color").env("PATH", "/nonexistent");
    let mut child = command.stdin(Stdio::null()).stdout(side()).stderr(side()).spawn().unwrap();
    drop(command); // It holds the other side open.
    let reading = std::thread::spawn(move || {
        let (mut terminal, mut all) = (File::from(terminal), Vec::new());
        let mut part = [0; 4096];
        // The end is the error EIO, after the last process has closed the other side.
        while let Ok(n @ 1..) = terminal.read(&mut part) {
            all.extend_from_slice(&part[..n]);
        }
        String::from_utf8(all).unwrap().replace("\r\n", "\n")
    });
    wait(&format!("{arguments:?} to end"), &mut child);
    join("the end of what it printed", reading)
}

/// Runs the program, and checks that [`clean_page`] would leave its output as it is.
fn steers_nothing(folder: &Folder, arguments: &[&str]) -> String {
    let text = on_a_terminal(folder, arguments);
    assert!(!text.is_empty() && clean_page(&text) == text, "{arguments:?}: {text:?}");
    text
}

/// Runs the program, which must quote the attack.
fn quotes_safely(folder: &Folder, arguments: &[&str]) {
    let text = steers_nothing(folder, arguments);
    assert!(text.contains("evil"), "{arguments:?} does not quote it: {text:?}");
}

/// Returns the attack as a JSON or TOML string: control characters are escaped, others are not.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
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

/// Texts of a run file that may have any value.
const FREE: [&str; 14] = [
    "version", "commit", "build", "imported", "profile", "title", "summary", "detail", "message",
    "advice", "note", "formula", "name", "reason",
];

#[test]
fn a_run_files_texts_are_text() {
    let dir = Folder::new();
    let output = captured_of("stream", "");
    on_a_terminal(&dir, &["import", "--out", "run", output.to_str().unwrap()]);
    let mut run: Value = serde_json::from_str(&dir.text("run/run.json")).unwrap();
    attack(&mut run, "");
    dir.file("run/run.json", run.to_string());
    for format in ["terminal", "markdown", "json", "html", "junit", "openmetrics"] {
        quotes_safely(&dir, &["report", "run", "--format", format]);
    }
    for format in ["csv", "bmf"] {
        steers_nothing(&dir, &["report", "run", "--format", format]);
    }
    quotes_safely(&dir, &["compare", "run", "run", "--all"]);
    steers_nothing(&dir, &["check", "run", "--against", "run"]);
    // The message quotes the other tool whose figures do not belong there.
    quotes_safely(&dir, &["history", "--history", "h.db", "--add", "run"]);
}

#[test]
fn errors_quote_files_safely() {
    let dir = Folder::new();
    let bad = quoted(ATTACK);
    for key in ["schema", "started", "ended"] {
        let mut run = serde_json::json!({"schema": "proofmark.run/2"});
        run[key] = ATTACK.into();
        dir.file("run.json", run.to_string());
        steers_nothing(&dir, &["report", "run.json"]);
    }
    for text in [format!("name = \"x\"\n{bad} = 1\n"), format!("name = 5\nabout = {bad}\n")] {
        dir.file("p.toml", text);
        steers_nothing(&dir, &["run", "--dry-run", "--profile", "p.toml"]);
    }
    dir.file("a.csv", format!("{ATTACK},operation\n1,2\n"));
    for text in [format!("[a]\ncores = {bad}\n"), format!("[{bad}]\n[b]\n"), "[a]".to_owned()] {
        dir.file("m.toml", text);
        steers_nothing(&dir, &["audit", "a.csv", "--machine", "m.toml"]);
    }
    dir.file("o.txt", format!("STREAM {ATTACK}\n"));
    for tool in ["stream", "fio", "iperf3", "hpl", "iozone"] {
        steers_nothing(&dir, &["import", "--tool", tool, "o.txt"]);
    }
}

#[test]
fn errors_of_the_system_quote_paths_safely() {
    let dir = Folder::new();
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
        quotes_safely(&dir, arguments);
    }
    // A file at the path of the directory for the report.
    dir.file(ATTACK, "");
    let out = format!("{ATTACK}/out");
    quotes_safely(&dir, &["run", "cpu.clock", "--trials", "1", "--out", &out]);
}

#[test]
fn a_locale_without_utf8_gets_ascii_and_files_stay_as_they_are() {
    let dir = Folder::new();
    let output = captured_of("stream", "");
    let plain = |arguments: &[&str]| {
        let command = &mut dir.command();
        let ended = Ended::run(command.args(arguments).env("LC_ALL", "C"));
        assert!(
            ended.stdout.is_ascii() && ended.stderr.is_ascii(),
            "{arguments:?}: {}",
            ended.stdout
        );
        ended.stdout
    };
    let printed = plain(&["import", "--out", "run", output.to_str().unwrap()]);
    assert!(printed.contains("GB/s"), "{printed}");
    for arguments in [
        &["report", "run"][..],
        &["compare", "run", "run", "--all"],
        &["check", "run", "--against", "run"],
        &["check", "run", "--require", "memory.triad>=1MB/s"],
        &["explain", "precision"],
        &["explain", "placement"],
        &["list", "terms"],
        &["run", "--help"],
        &["info"],
        &["run", "--dry-run"],
        &["run", "caf\u{e9}"],
    ] {
        plain(arguments);
    }
    assert!(plain(&["explain", "precision"]).contains("+-"));
    // The columns of a table stay in line: each line is as long as in UTF-8.
    let utf8 = Ended::run(dir.command().args(["report", "run"]).env("LC_ALL", "C.UTF-8")).stdout;
    assert!(!utf8.is_ascii(), "{utf8}");
    assert!(!dir.text("run/report.md").is_ascii(), "files are UTF-8");
    let json = plain(&["report", "run", "--format", "csv"]);
    assert!(!json.is_empty());
}
