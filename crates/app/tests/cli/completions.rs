//! Completions, tested in the shells, and manual pages, tested with groff.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Ended, Folder, is_there, listed, rows};

/// Returns the completions that bash offers for the last of these words.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    const ASK: &str = r#"
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
        [[ $(complete -p proofmark) == *"-F _proofmark"* ]] || exit 1
        _proofmark "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    // The script calls the program for the runs of this directory.
    bash.current_dir(script.parent().unwrap()).env("PROOFMARK_HISTORY", "off");
    bash.args(["--norc", "--noprofile", "-c", ASK, "bash"]).arg(script).args(words);
    let text = Ended::run(&mut bash).with(0).quiet();
    text.lines().filter(|l| !l.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_ids() {
    if !is_there("bash") {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("proofmark.bash", folder.prints(&["completions", "bash"]));
    let offered = |line: &str| {
        let words: Vec<&str> = ["proofmark"].into_iter().chain(line.split(' ')).collect();
        offered(&script, &words)
    };
    for (line, ids) in [
        ("run cpu.l", &["cpu.linpack"][..]),
        ("run cpu.linpack memory.c", &["memory.copy"]),
        ("endure memory.c", &["memory.copy"]),
        ("history memory.c", &["memory.copy"]),
        ("run --no-", &["--no-reference", "--no-history"]),
        ("run --profile q", &["quick"]),
        ("history --profile q", &["quick"]),
        ("run --reference hp", &["hpl"]),
        ("import --tool hp", &["hpl"]),
        ("report run.json --format o", &["openmetrics"]),
        ("compare a b --format h", &["html"]),
        ("check a --format j", &["json", "junit"]),
        ("history --format h", &["html"]),
        ("explain plan.b", &["plan.budget"]),
        ("explain chameleon-2", &["chameleon-2017"]),
        ("explain cpu.pe", &["cpu.peak"]),
        ("list wo", &["workloads"]),
        ("re", &["report"]),
        ("fleet re", &["report"]),
        ("fleet run --ro", &["--rounds"]),
        ("fleet run --profile scr", &["screen"]),
        ("fleet report dir --format j", &["json", "junit"]),
        ("run --progress js", &["jsonl"]),
        ("explain not_comparab", &["not_comparable"]),
        ("explain queue_d", &["queue_depth"]),
        // A hidden command, and a hidden option.
        ("wor", &[]),
        ("serve --for", &[]),
    ] {
        assert_eq!(offered(line), ids, "{line}");
    }
    let (workloads, all) = (folder.prints(&["list", "workloads"]), offered("run "));
    for workload in rows(&workloads).filter_map(|l| l.split(' ').next()) {
        assert!(all.iter().any(|o| o == workload), "{workload} is not offered");
    }
}

#[test]
fn bash_completes_runs() {
    if !is_there("bash") {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("proofmark.bash", folder.prints(&["completions", "bash"]));
    folder.file("monday/run.json", "{}");
    folder.file("monkeys/notes.txt", "");
    folder.file("proofmark-1/run.json", "{}");
    let run: &str = env!("CARGO_BIN_EXE_proofmark");
    for (line, runs) in [
        ("report mond", &["monday"][..]),
        // A path of any kind, such as a directory above the run's.
        ("report mon", &["monday", "monkeys"]),
        ("compare monday proof", &["proofmark-1", "proofmark.bash"]),
        ("check monday --against mond", &["monday"]),
        ("check monday --format js", &["json"]),
        ("history --add mond", &["monday"]),
        ("report --fo", &["--format"]),
    ] {
        let words: Vec<&str> = [run].into_iter().chain(line.split(' ')).collect();
        assert_eq!(offered(&script, &words), runs, "{line}");
    }
    let printed = folder.prints(&["runs-to-complete"]);
    assert_eq!(printed, "monday\nproofmark-1\n");
    let history = folder.path().join("none.db");
    let ended =
        Ended::run(folder.command().arg("runs-to-complete").env("PROOFMARK_HISTORY", &history));
    assert_eq!(ended.with(0).quiet(), printed);
    assert!(!history.exists(), "a shell that asks creates no history");
}

#[test]
fn other_shells_take_their_scripts() {
    let folder = Folder::new();
    for (shell, read) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let text = folder.prints(&["completions", shell]);
        let has = |word: &str| text.contains(word);
        assert!(has("cpu.linpack") && has("openmetrics") && has("runs-to-complete"), "{shell}");
        assert!(has("rounds") && !has("_users") && !has("copying"), "{shell}");
        if is_there(shell) {
            let script = folder.file("script", text);
            Ended::run(Command::new(shell).arg(read).arg(&script)).with(0).quiet();
        }
    }
}

fn pages(folder: &Folder) -> Vec<PathBuf> {
    folder.prints(&["man", "--out", "made/man1"]);
    listed(&folder.path().join("made/man1"))
}

#[test]
fn there_is_a_page_for_every_command_with_its_sections() {
    let folder = Folder::new();
    let count = pages(&folder).len();
    let text = |name: &str| folder.text(&format!("made/man1/{name}"));
    let main = text("proofmark.1");
    assert_eq!(main, folder.prints(&["man"]));
    for section in
        ["NAME", "SYNOPSIS", "EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES", "\"SEE ALSO\""]
    {
        let heading = section.replace('"', "");
        let there = main.lines().any(|l| l.replace('"', "") == format!(".SH {heading}"));
        assert!(there, "{section}");
    }
    assert!(main.contains("PROOFMARK_HISTORY") && main.contains("check: A result is slower"));
    let help = folder.prints(&["--help"]);
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1);
    let commands = commands.take_while(|l| !l.is_empty()).filter_map(|l| l.strip_prefix("  "));
    let commands: Vec<&str> = commands
        .filter(|l| !l.starts_with(' '))
        .filter_map(|l| l.split(' ').next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.contains(&"run") && commands.len() > 10, "{commands:?}");
    // And the pages of `fleet run` and `fleet report`.
    assert_eq!(count, commands.len() + 1 + 2);
    for command in commands {
        let page = text(&format!("proofmark-{command}.1"));
        assert!(page.contains(&format!("proofmark {command}")), "{command}: no example");
        let see = format!("proofmark\\-{command}");
        assert!(main.contains(&see), "{command} is not named on the main page");
        assert!(!page.contains("In that folder"), "{command}: the folder is on another page");
    }
    let check = text("proofmark-check.1");
    let statuses = check.lines().filter_map(|l| l.strip_prefix("\\fB")?.strip_suffix("\\fR"));
    let statuses: Vec<&str> = statuses.filter(|s| s.len() == 1).collect();
    assert_eq!(statuses, ["0", "1", "2", "4", "5"]);
}

#[test]
fn groff_finds_nothing_wrong() {
    if !is_there("groff") {
        return;
    }
    for page in pages(&Folder::new()) {
        let mut groff = Command::new("groff");
        let shown = Ended::run(groff.args(["-man", "-ww", "-Tutf8"]).arg(&page)).quiet();
        let head = shown.lines().find(|l| !l.is_empty()).unwrap();
        assert!(head.contains("User Commands"), "the page's head is shifted: {head}");
    }
}

fn files(folder: &Folder) -> Vec<PathBuf> {
    let mut find = Command::new("find");
    let found = Ended::run(find.arg(folder.path()).args(["!", "-type", "d"])).quiet();
    found.lines().map(PathBuf::from).collect()
}

#[test]
fn what_is_installed_is_taken_away_again_and_nothing_else() {
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install");
    let run = |arguments: &[&str]| {
        let mut install = Command::new(&script);
        install.env("BINARY", env!("CARGO_BIN_EXE_proofmark"));
        Ended::run(install.args(arguments).arg(folder.path()).arg("/usr")).with(0);
    };
    run(&[]);
    let all = files(&folder);
    assert!(all.len() > 15, "{all:?}");
    for file in [
        "bin/proofmark",
        "share/man/man1/proofmark.1.gz",
        "share/man/man1/proofmark-check.1.gz",
        "share/bash-completion/completions/proofmark",
        "share/zsh/site-functions/_proofmark",
        "share/fish/vendor_completions.d/proofmark.fish",
    ] {
        assert!(fs::metadata(folder.path().join("usr").join(file)).unwrap().len() > 0, "{file}");
    }
    let other = folder.file("usr/share/man/man1/other.1.gz", "");
    run(&["--remove"]);
    assert_eq!(files(&folder), [other]);
}

#[test]
fn a_folder_that_cannot_be_made_is_reported() {
    let folder = Folder::new();
    folder.file("file", "");
    folder.run(&["man", "--out", "file/man"]).refused(1, "cannot create directory");
}
