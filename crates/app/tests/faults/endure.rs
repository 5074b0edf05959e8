//! A configuration over time, with faults of its CPU time, worker, run or disk of samples.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use proofmark_model::{Change, Ending, Measurement, Run, Series, Severity, Timestamp};
use proofmark_testing::{output, output_of, wait, wait_until};

use super::lab::disk::Mounted;
use super::lab::{self, Cgroup, alone, proofmark, shared, start};
use super::{fails_early, has, names, wait_for};

const SCALAR: [&str; 6] = ["--threads", "1", "--set", "isa=scalar", "--set", "type=f64"];

/// Returns the command for a series in `out` below `dir`.
fn series_in(dir: &Path, length: &str, every: &str) -> Command {
    let mut command = proofmark();
    command.args(["endure", "cpu.flops", "--for", length, "--every", every]).args(SCALAR);
    command.arg("--strict");
    command.arg("--out").arg(dir.join("out"));
    command
}

/// Starts a series as a child process, and waits for that many samples.
fn begun(dir: &Path, samples: usize) -> Child {
    let mut child = start(&mut series_in(dir, "60s", "250ms"));
    wait_for_samples(dir, &mut child, samples);
    child
}

fn samples(dir: &Path) -> usize {
    fs::read_to_string(dir.join("out/samples.jsonl")).map_or(0, |text| text.lines().count())
}

fn wait_for_samples(dir: &Path, child: &mut Child, least: usize) {
    wait_for("the samples of a series", child, || samples(dir) >= least);
}

fn reported(dir: &Path) -> Run {
    let out = output(proofmark().args(["report", "--format", "json"]).arg(dir.join("out")));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    proofmark_model::read_run(&String::from_utf8(out.stdout).unwrap()).unwrap()
}

fn series(m: &Measurement) -> &Series {
    m.series.as_ref().unwrap()
}

fn shape(m: &Measurement) -> String {
    let s = series(m);
    let levels =
        s.levels.iter().map(|l| format!("{:.2}-{:.2} s: {:.4e}", l.from_s, l.until_s, l.median));
    format!("{:?} {:?}", levels.collect::<Vec<_>>(), s.changes)
}

#[test]
fn a_quota_that_is_set_and_lifted_is_found_when_it_was() {
    let _turn = alone();
    // Ten times the time of one CPU: no limit.
    let Some(group) = Cgroup::with_quota(10.0) else { return };
    group.prefer();
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(group.enter(&mut series_in(dir.path(), "24s", "500ms")));
    wait_for_samples(dir.path(), &mut child, 16);
    // So little that no other change on the machine, which may be found too, looks like it.
    assert!(group.set_quota(0.15));
    let set = Timestamp::now();
    thread::sleep(Duration::from_secs(8));
    assert!(group.set_quota(10.0));
    let lifted = Timestamp::now();
    assert_eq!(wait("the series to end", &mut child).code(), Some(3));
    let run = reported(dir.path());
    let m = &run.measurements[0];
    assert!(has(m, "level_change", Severity::Suspect), "{:?}", names(m));
    let client = |truth: Timestamp| {
        let off = move |change: &&Change| change.at.0.duration_since(truth.0).as_secs_f64().abs();
        let nearest = series(m).changes.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        nearest.filter(|c| off(c) < 2.0).unwrap_or_else(|| panic!("{truth:?}: {}", shape(m)))
    };
    let (down, up) = (client(set), client(lifted));
    // Half of the time that others leave is far more than the quota.
    assert!(down.ratio < 0.4 && up.ratio > 2.0, "{}", shape(m));
    let cause = |change: &Change| change.cause.clone().unwrap_or_default();
    assert!([down, up].iter().all(|c| cause(c).contains("CPU quota")), "{}", shape(m));
    assert!(!has(m, "burst_credits", Severity::Suspect), "{:?}", names(m));
}

#[test]
fn a_worker_killed_meanwhile_leaves_its_samples() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = begun(dir.path(), 8);
    for worker in lab::children(child.id()) {
        lab::kill(worker, "KILL");
    }
    assert_eq!(wait("the series to end", &mut child).code(), Some(3));
    let run = reported(dir.path());
    let m = &run.measurements[0];
    assert!(m.trials.len() >= 8, "{}", m.trials.len());
    assert!(matches!(&m.ending, Ending::Crashed { signal: Some(s), .. } if s == "SIGKILL"));
    assert!(has(m, "crashed", Severity::Invalid), "{:?}", names(m));
    assert_eq!(series(m).samples, m.trials.len() as u64);
}

#[test]
fn a_killed_run_shows_all_that_was_sampled() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = begun(dir.path(), 12);
    lab::kill(child.id(), "KILL");
    wait("the killed series to end", &mut child);
    let path = dir.path().join("out/samples.jsonl");
    let whole = samples(dir.path());
    // The state after a power cut.
    let text = fs::read_to_string(&path).unwrap();
    // The expected bytes of a line, `LINE` of `samples.rs`, exceed the real ones, but not by far.
    assert!((whole * 256..whole * 1024).contains(&text.len()), "{} B, {whole} lines", text.len());
    fs::write(&path, format!("{text}{}", &text[..100])).unwrap();
    let run = reported(dir.path());
    let m = &run.measurements[0];
    assert_eq!((run.ended, m.trials.len(), &m.ending), (None, whole, &Ending::Unfinished));
    assert!(!series(m).levels.is_empty(), "it is judged");
    assert!(has(m, "unfinished", Severity::Suspect), "{:?}", names(m));
}

#[test]
fn a_stopped_series_is_judged_and_reported() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = begun(dir.path(), 12);
    lab::kill(child.id(), "INT");
    assert_eq!(wait("the series to end", &mut child).code(), Some(130));
    let run = reported(dir.path());
    let m = &run.measurements[0];
    assert!(m.trials.len() >= 12 && series(m).trend.is_some() && !series(m).levels.is_empty());
    assert_eq!(run.interrupted.as_deref(), Some("SIGINT"));
    assert!(dir.path().join("out/report.html").exists());
}

#[test]
fn samples_that_cannot_be_written_are_told_once_and_measuring_goes_on() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut command = proofmark();
    command.args(["endure", "cpu.clock", "--for", "10s", "--threads", "1", "--out"]).arg(&out);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The first sample is written after a second.
    wait_until("the run to make its folder", || match fs::create_dir(out.join("samples.jsonl")) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => panic!("the samples were there first"),
        made => made.is_ok(),
    });
    let done = output_of("endure to end without its samples", child);
    let text = String::from_utf8_lossy(&done.stderr);
    assert_eq!(text.matches("cannot write samples.jsonl").count(), 1, "{text}");
    let m = &reported(dir.path()).measurements[0];
    // On a busy machine, late samples are left out.
    assert!(m.trials.len() > 1 && m.ending == Ending::Complete, "{text}");
}

#[test]
fn a_disk_that_others_fill_ends_a_series_early_with_what_it_has() {
    let _turn = shared();
    let Some(disk) = Mounted::of_kind("tmpfs", "size=64m") else { return };
    let mut command = series_in(disk.path(), "10m", "250ms");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_for_samples(disk.path(), &mut child, 4);
    let _ = fs::write(disk.path().join("other"), vec![1; 56 << 20]);
    let done = output_of("endure to end on a full disk", child);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(stderr.contains("need up to") && stderr.contains("the run stopped early"), "{stderr}");
    assert_eq!(done.status.code(), Some(3), "{stderr}");
    let run = reported(disk.path());
    assert_eq!(run.interrupted.as_deref(), Some("low disk space"));
    assert!(run.measurements[0].trials.len() >= 4);
    assert!(disk.path().join("out/report.html").exists(), "there was room for the report");
}

#[test]
fn a_series_that_cannot_be_written_is_refused_and_nothing_is_left() {
    let _turn = shared();
    let to = |out: &Path, every: &str| {
        let mut command = proofmark();
        command.args(["endure", "cpu.clock", "--for", "3d", "--every", every, "--out"]).arg(out);
        command
    };
    fails_early(&mut to(Path::new("/proc/proofmark"), "10m"), "cannot create directory");
    let Some(disk) = Mounted::of_kind("tmpfs", "size=256m") else { return };
    let out = disk.path().join("out");
    fails_early(&mut to(&out, "100ms"), "a shorter --for");
    assert!(!out.exists());
}
