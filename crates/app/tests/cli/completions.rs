//! Completions, asked of the shells themselves, and manual pages, read by groff.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::prelude::*;
use proofmark_testing::{output, wait};

fn proofmark(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("proofmark").unwrap();
    let output = output(command.args(arguments));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether a program is there; if not, the test says that it is skipped.
fn is_there(program: &str, test: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(|mut child| wait(program, &mut child))
        .is_ok();
    if !found {
        // Past the test harness, which captures what is printed with print! and eprint!.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: {program} is not installed");
    }
    found
}

/// What bash would offer for the last of these words.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    const ASK: &str = r#"
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
        [[ $(complete -p proofmark) == *"-F _proofmark"* ]] || exit 1
        _proofmark proofmark "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", ASK, "bash"]).arg(script).args(words);
    let output = output(&mut bash);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{words:?}: {told}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|l| !l.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_ids() {
    if !is_there("bash", "bash_completes_commands_options_and_ids") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("proofmark.bash");
    fs::write(&script, proofmark(&["completions", "bash"])).unwrap();
    let offered = |line: &str| {
        let words: Vec<&str> = ["proofmark"].into_iter().chain(line.split(' ')).collect();
        offered(&script, &words)
    };
    assert_eq!(offered("run cpu.l"), ["cpu.linpack"]);
    assert_eq!(offered("run cpu.linpack memory.c"), ["memory.copy"]);
    assert_eq!(offered("endure memory.c"), ["memory.copy"]);
    assert_eq!(offered("run --no-"), ["--no-reference", "--no-history"]);
    assert_eq!(offered("run --profile q"), ["quick"]);
    assert_eq!(offered("run --reference hp"), ["hpl"]);
    assert_eq!(offered("report run.json --format o"), ["openmetrics"]);
    assert_eq!(offered("check a --format j"), ["json", "junit"]);
    assert_eq!(offered("history --format h"), ["html"]);
    assert_eq!(offered("explain plan.b"), ["plan.budget"]);
    assert_eq!(offered("explain chameleon-2"), ["chameleon-2017"]);
    assert_eq!(offered("explain cpu.pe"), ["cpu.peak"]);
    assert_eq!(offered("list wo"), ["workloads"]);
    assert_eq!(offered("re"), ["report"]);
    assert_eq!(offered("wor"), [""; 0], "a hidden command is offered");
    assert_eq!(offered("serve --for"), [""; 0], "a hidden option is offered");
    let workloads = proofmark(&["list", "workloads"]);
    let all = offered("run ");
    for workload in workloads.lines().filter_map(|l| l.split(' ').next()) {
        assert!(all.iter().any(|o| o == workload), "{workload} is not offered");
    }
}

#[test]
fn other_shells_take_their_scripts() {
    for (shell, read) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let text = proofmark(&["completions", shell]);
        assert!(text.contains("cpu.linpack") && text.contains("openmetrics"), "{shell}");
        if !is_there(shell, "other_shells_take_their_scripts") {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, text).unwrap();
        let output = output(Command::new(shell).arg(read).arg(&script));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{shell}: {told}");
    }
}

/// Every page, by its path.
fn pages(dir: &Path) -> Vec<PathBuf> {
    let folder = dir.join("made").join("man1");
    proofmark(&["man", "--out", folder.to_str().unwrap()]);
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn there_is_a_page_for_every_command_with_its_sections() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = pages(dir.path())
        .iter()
        .map(|p| p.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let text = |name: &str| fs::read_to_string(dir.path().join("made/man1").join(name)).unwrap();
    let main = text("proofmark.1");
    assert_eq!(main, proofmark(&["man"]));
    for section in
        ["NAME", "SYNOPSIS", "EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES", "\"SEE ALSO\""]
    {
        let heading = section.replace('"', "");
        let there = main.lines().any(|l| l.replace('"', "") == format!(".SH {heading}"));
        assert!(there, "{section}");
    }
    assert!(main.contains("PROOFMARK_HISTORY") && main.contains("slower than the baseline"));
    let help = proofmark(&["--help"]);
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1);
    let commands = commands.take_while(|l| !l.is_empty()).filter_map(|l| l.strip_prefix("  "));
    let commands: Vec<&str> = commands
        .filter(|l| !l.starts_with(' '))
        .filter_map(|l| l.split(' ').next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.contains(&"run") && commands.len() > 10, "{commands:?}");
    assert_eq!(names.len(), commands.len() + 1);
    for command in commands {
        let page = text(&format!("proofmark-{command}.1"));
        assert!(page.contains(&format!("proofmark {command}")), "{command}: no example");
        let see = format!("proofmark\\-{command}");
        assert!(main.contains(&see), "{command} is not named on the main page");
        let part =
            page.split(".SH \"EXIT STATUS\"").nth(1).or(page.split(".SH EXIT STATUS").nth(1));
        let part = part.unwrap_or_default().split(".SH ").next().unwrap();
        let statuses: Vec<&str> =
            part.lines().filter_map(|l| l.strip_prefix("\\fB")?.strip_suffix("\\fR")).collect();
        let expected: &[&str] = match command {
            "run" | "endure" => &["0", "1", "2", "3", "128 + n"],
            "import" | "audit" => &["0", "1", "2", "3"],
            "check" => &["0", "1", "2", "4"],
            _ => &["0", "1", "2"],
        };
        assert_eq!(statuses, expected, "{command}");
        assert!(!page.contains("In that folder"), "{command}: the folder is on another page");
    }
}

#[test]
fn groff_finds_nothing_wrong() {
    if !is_there("groff", "groff_finds_nothing_wrong") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for page in pages(dir.path()) {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8"]).arg(&page);
        let output = output(&mut groff);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.is_empty(), "{told}");
        let shown = String::from_utf8(output.stdout).unwrap();
        let head = shown.lines().find(|l| !l.is_empty()).unwrap();
        assert!(head.contains("User Commands"), "the page's head is shifted: {head}");
    }
}

/// Files and links below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap()) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

#[test]
fn what_is_installed_is_taken_away_again_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install");
    let run = |arguments: &[&str]| {
        let mut install = Command::new(&script);
        install.env("BINARY", Command::cargo_bin("proofmark").unwrap().get_program());
        install.env_remove("ZSH").args(arguments).arg(dir.path()).arg("/usr");
        output(&mut install).assert().success();
    };
    run(&[]);
    let all = files(dir.path());
    assert!(all.len() > 15, "{all:?}");
    for file in [
        "bin/proofmark",
        "share/man/man1/proofmark.1.gz",
        "share/man/man1/proofmark-check.1.gz",
        "share/bash-completion/completions/proofmark",
        "share/zsh/site-functions/_proofmark",
        "share/fish/vendor_completions.d/proofmark.fish",
    ] {
        assert!(fs::metadata(dir.path().join("usr").join(file)).unwrap().len() > 0, "{file}");
    }
    let other = dir.path().join("usr/share/man/man1/other.1.gz");
    fs::write(&other, "").unwrap();
    run(&["--remove"]);
    assert_eq!(files(dir.path()), [other]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let mut command = Command::cargo_bin("proofmark").unwrap();
    let output = output(command.args(["man", "--out"]).arg(file.join("man")));
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("cannot create directory") && told.lines().count() == 1, "{told}");
}
