//! The ReFrame test of `integrations/reframe`: its reading of runs, by Python alone, and the test
//! in ReFrame.

use std::path::Path;
use std::process::Command;

use proofmark_testing::skip;

use super::{Ended, Folder, is_there};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../integrations/reframe");

#[test]
fn figures_and_faults_are_read_from_a_run() {
    if !is_there("python3") {
        return;
    }
    let mut python = Command::new("python3");
    let said = Ended::run(python.args(["-B", "-m", "unittest", "discover", "-s", HERE])).with(0);
    assert!(said.stderr.contains("\nOK\n"), "{}", said.stderr);
}

const PROFILE: &str = r#"
name = "node"
[policy]
target = 0.05
min_trials = 8
max_trials = 8
trial = "20ms"
[[points]]
workload = "cpu.flops"
threads = [1, "all"]
isa = "scalar"
[[points]]
workload = "disk.seq_read"
block_size = "1MB"
file_size = "16MB"
"#;

/// Runs ReFrame with these variables of the test. Returns its end and output.
fn check(folder: &Folder, status: i32, variables: &[String]) -> String {
    let mut reframe = Command::new("reframe");
    reframe.current_dir(folder.path()).env("HOME", folder.path());
    reframe.env("PYTHONDONTWRITEBYTECODE", "1").env("TMPDIR", folder.path());
    reframe.args(["--nocolor", "--prefix", "made", "-c", HERE, "-r"]);
    let program = format!("executable={}", env!("CARGO_BIN_EXE_proofmark"));
    let profile = format!("profile={}", folder.path().join("node.toml").display());
    for variable in [program, profile].iter().chain(variables) {
        reframe.args(["-S", variable]);
    }
    Ended::run(&mut reframe).with(status).stdout
}

#[test]
fn reframe_shows_figures_and_fails_where_a_result_is_invalid() {
    if !is_there("reframe") {
        return;
    }
    if !Path::new("/dev/shm").is_dir() {
        return skip("no folder is in memory (/dev/shm)");
    }
    let folder = Folder::new();
    folder.file("node.toml", PROFILE);
    let said = check(&folder, 0, &[]);
    for figure in ["P: cpu_flops_threads_1_delivered: ", "P: suspect_results: "] {
        assert!(said.contains(figure), "{figure} is missing: {said}");
    }
    assert!(!said.contains("disk"), "no disk was asked for: {said}");
    let said = check(&folder, 1, &["disk_path=/dev/shm".to_owned()]);
    let fault = "disk_seq_read is invalid: not_a_disk: /dev/shm (tmpfs) is in memory";
    assert!(said.contains("failed during 'sanity'") && said.contains(fault), "{said}");
    let said = check(&folder, 1, &["options=--nonsense".to_owned()]);
    assert!(said.contains("the run failed with exit status 2: proofmark: unexpected"), "{said}");
}
