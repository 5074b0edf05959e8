//! What a person types wrong: exit status 2, one clear line, nothing written.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use proofmark_testing::{PROCESS_DEADLINE, output};

fn proofmark(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("proofmark").unwrap();
    command.timeout(PROCESS_DEADLINE);
    command.current_dir(dir).env_remove("COLUMNS").env("PROOFMARK_HISTORY", "off");
    command
}

/// Runs it, and holds it to status 2, one line with `word`, and an untouched folder.
fn refused(arguments: &[&str], word: &str) {
    let dir = tempfile::tempdir().unwrap();
    let line = predicate::str::contains(word)
        .and(predicate::function(|e: &str| e.lines().count() == 1 && !e.contains("panicked")));
    proofmark(dir.path()).args(arguments).assert().code(2).stdout("").stderr(line);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{arguments:?} wrote something");
}

#[test]
fn unknown_names_come_with_the_nearest() {
    refused(&["run", "cpu.flop"], "did you mean 'cpu.flops'?");
    refused(&["run", "cpi"], "did you mean 'cpu'?");
    refused(&["run", "--profile", "quik"], "did you mean 'quick'?");
    refused(&["run", "--set", "cpu.flops.isaa=avx2"], "did you mean 'isa'?");
    refused(&["run", "--set", "cpu.flops.isa=avx9"], "not one of scalar");
    refused(&["explain", "cpu.peek"], "did you mean 'cpu.peak'?");
}

#[test]
fn numbers_that_are_none() {
    refused(&["run", "--threads", "0"], "out of range");
    refused(&["run", "--threads", "1,x"], "'x' is not a whole number");
    refused(&["run", "--threads", "99999999999999999999"], "not a whole number");
    refused(&["run", "--block-size", "99999999999TB"], "too large");
    refused(&["run", "--budget", "5"], "not a duration");
    refused(&["run", "--trials", "0"], "1 to 1000");
    refused(&["run", "--set", "cpu.mix.int.iterations=1.5"], "not a whole number");
    refused(&["run", "--limit", "disk.reed=1MB/s"], "did you mean 'disk.read'?");
    refused(&["run", "--limit", "disk.read=fast"], "MB/s");
}

#[test]
fn options_that_are_none() {
    refused(&["run", "--thread", "1"], "--threads");
    refused(&["run", "--quick", "--profile", "default"], "cannot be used with");
    refused(&["rum"], "run");
    refused(&["list", "workload"], "workloads");
    refused(&["check", "run"], "were not provided: --against <RUN>\n");
    refused(&["compare"], "were not provided: <A>, <B>\n");
    refused(&["completions", "powershell"], "; [possible values: bash, zsh, fish]\n");
}

#[test]
fn addresses_that_are_none() {
    refused(&["run", "network", "--peer", "host:0"], "a port is a number from 1 to 65535");
    refused(&["run", "network", "--peer", ":5277"], "the host is missing");
    refused(&["run", "cpu", "--peer", "127.0.0.1"], "this run measures no network workload");
    refused(&["serve", "--bind", "node2"], "write an IP address of this machine");
    refused(&["serve", "--max-time", "1"], "not a duration");
}

#[test]
fn profiles_that_are_none() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, word) in [
        ("torn.toml", "name = \"x\"\n[policy", "line 2"),
        ("unknown.toml", "name = \"x\"\ncolour = 1\n", "colour"),
        ("workload.toml", &profile("workload = \"cpu.flopz\""), "did you mean 'cpu.flops'?"),
        (
            "parameter.toml",
            &profile("workload = \"cpu.flops\"\nthread = 1"),
            "did you mean 'threads'?",
        ),
        ("value.toml", &profile("workload = \"cpu.flops\"\nthreads = [1, \"x\"]"), "'x' is not"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        refused(&["run", "--profile", path.to_str().unwrap()], word);
    }
}

fn profile(point: &str) -> String {
    format!(
        "name = \"x\"\n[policy]\ntarget = 0.02\nmin_trials = 6\nmax_trials = 8\ntrial = \"10ms\"\n[[points]]\n{point}\n"
    )
}

#[test]
fn run_files_that_are_none() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, word) in [
        ("old.json", r#"{"schema": "proofmark.run/0"}"#, "proofmark.run/0"),
        ("none.json", r#"{"a": 1}"#, "schema is missing"),
        ("torn.json", r#"{"schema": "proofmark.run/2", "tool""#, "line 1"),
        ("empty.json", "", "not a proofmark run"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        refused(&["report", path.to_str().unwrap()], word);
    }
    refused(&["report", "/nonexistent/run.json"], "No such file");
}

#[test]
fn a_tool_is_explained_with_what_its_tests_are_compared_with() {
    let dir = tempfile::tempdir().unwrap();
    for (tool, line) in [
        ("stream", "  Triad: memory.triad\n"),
        ("likwid-bench", "  load: memory.sweep with op=read\n"),
    ] {
        let explained = proofmark(dir.path()).args(["explain", tool]).assert().success();
        explained.stdout(predicate::str::contains(line));
    }
}

#[test]
fn lists_and_explanations_cover_each_other() {
    let dir = tempfile::tempdir().unwrap();
    for list in ["workloads", "checks", "ceilings", "references"] {
        let out = proofmark(dir.path()).args(["list", list]).assert().success();
        let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        assert!(text.lines().count() >= 3, "{text}");
        for line in text.lines() {
            let id = line.split_whitespace().next().unwrap();
            proofmark(dir.path()).args(["explain", id]).assert().success();
        }
    }
    for list in ["profiles", "formats"] {
        proofmark(dir.path()).args(["list", list]).assert().success();
    }
}

#[test]
fn a_dry_run_prints_the_points_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    proofmark(dir.path())
        .args(["run", "cpu.flops", "--threads", "1,3", "--set", "cpu.flops.isa=scalar"])
        .args(["--set", "cpu.flops.type=f64", "--dry-run"])
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "cpu.flops isa=scalar threads=1 type=f64\ncpu.flops isa=scalar threads=3 type=f64\n",
        ));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "\"$0\" schema | head -c 10; \"$0\" list checks | true"]);
    let out = output(shell.arg(assert_cmd::cargo::cargo_bin("proofmark")));
    assert!(out.status.success());
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
}

#[test]
fn the_checked_in_schema_is_the_program_s() {
    let dir = tempfile::tempdir().unwrap();
    let out = proofmark(dir.path()).arg("schema").assert().success();
    let now = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/proofmark.run-2.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "the run file's shape changed; UPDATE_SCHEMA=1 cargo test rewrites {}",
        path.display()
    );
}
