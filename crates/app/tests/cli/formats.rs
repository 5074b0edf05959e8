//! `proofmark report --format` for other programs: from a run's folder to a file.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use proofmark_testing::PROCESS_DEADLINE;
use serde_json::Value;

fn proofmark(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("proofmark").unwrap();
    command.timeout(PROCESS_DEADLINE);
    command.current_dir(dir).args(arguments).env("PROOFMARK_HISTORY", "off");
    command
}

/// A captured output of fio.
fn captured() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/src/fio/captured");
    let files = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files.into_iter().next().unwrap()
}

#[test]
fn a_run_s_folder_becomes_each_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let status = proofmark(dir.path(), &["import", "--out", "run"]).arg(captured()).output();
    assert!(matches!(status.unwrap().status.code(), Some(0 | 3)));
    let made = |format: &str| {
        let file = dir.path().join(format);
        let arguments = ["report", "run", "--format", format, "--out", format];
        proofmark(dir.path(), &arguments).assert().code(0).stdout("").stderr("");
        let text = fs::read_to_string(file).unwrap();
        let printed = ["report", "run", "--format", format];
        proofmark(dir.path(), &printed).assert().code(0).stdout(text.clone());
        text
    };
    let lines = made("jsonl");
    let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let median = lines.iter().find(|l| l["metric"] == "median").unwrap();
    assert!(median["value"].as_f64().unwrap() > 0.0, "{median}");
    assert!(median["tool"].as_str().unwrap().starts_with("fio"), "{median}");
    let metrics = made("openmetrics");
    assert!(metrics.ends_with("\n# EOF\n"));
    assert!(metrics.contains("imported=\"fio"), "{metrics}");
    let values = metrics.lines().filter_map(|l| l.rsplit_once(' ')?.1.parse::<f64>().ok());
    assert!(values.into_iter().any(|v| Some(v) == median["value"].as_f64()), "{metrics}");
    assert!(!metrics.contains("proofmark_run_complete"), "an import neither ends nor is stopped");
    let junit = made("junit");
    assert!(junit.starts_with("<?xml ") && junit.ends_with("</testsuites>\n"));
    assert!(junit.contains(median["workload"].as_str().unwrap()));
}

#[test]
fn the_list_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let output = proofmark(dir.path(), &["list", "formats"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for format in ["jsonl", "openmetrics", "junit"] {
        assert!(text.lines().any(|l| l.starts_with(format)), "{text}");
    }
}
