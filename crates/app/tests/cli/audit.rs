//! `proofmark audit`: published figures, judged.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use proofmark_testing::PROCESS_DEADLINE;

const HEADER: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n";
const GOOD: &str = "disk,own,seq_read,throughput,8192,1,1,500,MB/s,5e8,bytes/s\n";
const CACHED: &str = "disk,own,seq_read,throughput,8192,1,2,700,MB/s,7e8,bytes/s\n";
const MACHINES: &str =
    "[first]\ndisk_link_bytes_per_s = 6e8\n[second]\ndisk_link_bytes_per_s = 8e8\n";

/// The command in a folder with a table `first.csv` of these rows and with `machines.toml`.
fn audit(dir: &Path, rows: &[&str], arguments: &[&str]) -> Command {
    fs::write(dir.join("first.csv"), HEADER.to_owned() + &rows.concat()).unwrap();
    fs::write(dir.join("machines.toml"), MACHINES).unwrap();
    let mut command = Command::cargo_bin("proofmark").unwrap();
    command.timeout(PROCESS_DEADLINE);
    command.current_dir(dir).args(["audit", "first.csv", "--machine", "machines.toml"]);
    command.args(arguments);
    command
}

#[test]
fn the_verdict_is_the_status_and_the_file_name_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    audit(dir.path(), &[GOOD], &[]).assert().code(0).stdout(predicate::str::contains("1 valid"));
    let said = predicate::str::contains("page_cache").and(predicate::str::contains("700.0 MB/s"));
    audit(dir.path(), &[GOOD, CACHED], &[]).assert().code(3).stdout(said);
    audit(dir.path(), &[GOOD, CACHED], &["--name", "second"]).assert().code(0);
}

#[test]
fn programs_get_json_or_csv() {
    let dir = tempfile::tempdir().unwrap();
    let json =
        audit(dir.path(), &[GOOD, CACHED], &["--json", "-", "--csv", "out.csv"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["figures"][1]["reason"], "page_cache");
    let rows = fs::read_to_string(dir.path().join("out.csv")).unwrap();
    assert!(rows.lines().nth(2).unwrap().contains(",invalid,page_cache,"), "{rows}");
}

#[test]
fn what_is_no_table_is_a_usage_error_of_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |rows: &[&str], arguments: &[&str], word: &str| {
        let line = predicate::str::contains(word)
            .and(predicate::function(|e: &str| e.lines().count() == 1 && !e.contains("panicked")));
        audit(dir.path(), rows, arguments).assert().code(2).stdout("").stderr(line);
    };
    refused(&[GOOD, &GOOD.replace("500", "NaN")], &[], "line 3: column 'value' holds 'NaN'");
    refused(&[GOOD], &["--name", "frist"], "did you mean 'first'?");
    refused(&[GOOD], &["--json", "-", "--csv", "-"], "only one of --json and --csv");
}
