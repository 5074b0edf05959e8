//! Planted faults: each must be found and named, and must not cost other results.
//!
//! A fault that this machine does not allow is skipped by name. Tests of disturbances run alone,
//! the others at the same time (`lab::alone`, `lab::shared`).

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod clocks;
mod device;
mod disk;
mod endure;
mod held_back;
mod lab;
mod limits;
mod memory;
mod network;
mod placed;
mod quotas;
mod references;
mod server;
mod system_limits;

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use lab::disk::Mounted;
use lab::{Cgroup, alone, found, on_cpu, proofmark, run_json, shared, start};
use proofmark_judge::microarchitecture;
use proofmark_model::{Ending, Measurement, Run, Severity, Verdict};
use proofmark_testing::{output, skip, wait, wait_until};

const SHORT: [&str; 7] =
    ["--set", "cpu.flops.isa=scalar", "--set", "cpu.flops.type=f64", "--trials", "8", "--strict"];

fn has(m: &Measurement, check: &str, severity: Severity) -> bool {
    found(m, check) == Some(severity)
}

fn names(m: &Measurement) -> Vec<String> {
    m.findings.iter().map(|f| format!("{} ({:?}): {}", f.check, f.severity, f.message)).collect()
}

/// Returns true if this CPU's design has no ceiling, and prints that.
fn peak_is_unknown(run: &Run) -> bool {
    let design = run.host.cpu.microarchitecture.get().and_then(|d| microarchitecture::find(&d.id));
    if design.is_none() {
        skip("what this CPU can start in a cycle is not known");
    }
    design.is_none()
}

#[test]
fn a_process_that_is_stopped_again_and_again_is_named_and_its_time_accounted_for() {
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path(), 20);
    wait_for_trials(dir.path(), &mut child);
    let workers = lab::children(child.id());
    // Stop it a third of the time, until it has ended.
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        for (signal, ms) in [("STOP", 20), ("CONT", 40)] {
            for pid in &workers {
                let _ = lab::signal_to(*pid, signal);
            }
            std::thread::sleep(Duration::from_millis(ms));
        }
    }
    wait("the run to end", &mut child);
    let run = saved(dir.path());
    let m = run.measurements.last().unwrap();
    assert!(has(m, "stopped", Severity::Note), "{:?}", names(m));
    let time = m.trials.iter().filter_map(|t| t.time_account).reduce(|a, b| a + b).unwrap();
    let [stopped, lost] = [time.stopped_s, time.unaccounted_s].map(|s| s / time.wall_s);
    assert!((0.15..0.55).contains(&stopped) && lost < 0.05, "{time:?}");
}

/// Checks that a result is undoubted, however wide its interval is on a busy machine. The host of a
/// virtual machine may have lowered the clock meanwhile, which no test can prevent.
fn is_undoubted_but_for_the_clock(m: &Measurement, code: Option<i32>) {
    let worse = m.findings.iter().filter(|f| f.severity != Severity::Note);
    let worse: Vec<&str> = worse.map(|f| &*f.check).collect();
    if worse != ["clock_drop"] {
        assert!(m.verdict.is_undoubted() && code == Some(0), "{:?}: {:?}", m.verdict, names(m));
    }
}

#[test]
fn a_cpu_quota_is_named() {
    let _turn = alone();
    let Some(group) = Cgroup::with_quota(0.5) else { return };
    // On a busy machine, other work would leave less than the quota.
    group.prefer();
    let mut command = proofmark();
    command.args(["run", "cpu.flops", "--threads", "1"]).args(SHORT);
    let (run, code) = run_json(group.enter(&mut command));
    let m = &run.measurements[0];
    // The figure leaves out the time that the quota took; delivered is half of it.
    assert!(has(m, "throttled", Severity::Note), "{:?}", names(m));
    is_undoubted_but_for_the_clock(m, code);
    let summary = m.summary.as_ref().unwrap();
    let [attainable, delivered] =
        [&summary.attainable, &summary.delivered].map(|f| f.value.unwrap());
    assert!(delivered < 0.55 * attainable, "{delivered} of {attainable}");
    let quota = run.host.limits.cpu_quota.get().and_then(|q| q.cpus);
    assert_eq!(quota, Some(0.5));
    // The ceiling of attainable is that of a whole core.
    if peak_is_unknown(&run) {
        return;
    }
    let e = m.efficiency.unwrap();
    assert!(e > 0.7 && e < 1.3, "{e}");
}

#[test]
fn a_competing_process_is_named() {
    let _turn = alone();
    let Some(cpu) = lab::a_cpu() else { return };
    let _busy = lab::Busy::on(cpu);
    let mut command = proofmark();
    command.args(["run", "cpu.flops", "--threads", "1"]).args(SHORT);
    let (run, code) = run_json(on_cpu(&mut command, cpu));
    let m = &run.measurements[0];
    assert!(has(m, "other_cpu", Severity::Note), "{:?}", names(m));
    is_undoubted_but_for_the_clock(m, code);
    let summary = m.summary.as_ref().unwrap();
    let [attainable, delivered] =
        [&summary.attainable, &summary.delivered].map(|f| f.value.unwrap());
    assert!(delivered < 0.8 * attainable, "{delivered} of {attainable}");
}

#[test]
fn more_threads_than_cpus_are_labelled_and_share_one_ceiling() {
    let _turn = alone();
    let Some(cpu) = lab::a_cpu() else { return };
    let mut command = proofmark();
    command.args(["run", "cpu.flops", "--threads", "1,2"]).args(SHORT);
    let (run, _) = run_json(on_cpu(&mut command, cpu));
    let [one, two] = run.measurements.as_slice() else { panic!("{}", run.measurements.len()) };
    assert!(!one.findings.iter().any(|f| f.check == "oversubscribed"), "{:?}", names(one));
    assert!(two.findings.iter().any(|f| f.check == "oversubscribed"), "{:?}", names(two));
    if peak_is_unknown(&run) {
        return;
    }
    let [a, b] = [one, two].map(|m| m.ceiling.as_ref().unwrap().value);
    assert!((b / a - 1.0).abs() < 0.2, "{a} and {b}");
}

#[test]
fn a_worker_that_dies_costs_its_own_measurement() {
    let _turn = shared();
    let mut command = proofmark();
    command.args("run test.kill test.wrong test.corrupt test.refuse cpu.clock".split(' '));
    command.args("--trials 3 --threads 1".split(' '));
    let (run, code) = run_json(&mut command);
    assert_eq!(code, Some(3));
    let [healthy, killed, wrong, corrupt, refused] = &run.measurements[..] else {
        panic!("{run:?}")
    };
    let Ending::Crashed { signal, .. } = &killed.ending else { panic!("{:?}", killed.ending) };
    assert_eq!(signal.as_deref(), Some("SIGKILL"));
    assert!(killed.findings.iter().any(|f| f.message.contains("SIGKILL")), "{:?}", names(killed));
    for m in [wrong, corrupt] {
        assert!(matches!(m.ending, Ending::Unverified { .. }), "{}: {:?}", m.workload, m.ending);
    }
    assert!(matches!(refused.ending, Ending::Refused { .. }), "{:?}", refused.ending);
    let verdicts = [killed, wrong, corrupt, refused].map(|m| m.verdict);
    let invalid = Verdict::Invalid;
    assert_eq!(verdicts, [invalid, invalid, invalid, Verdict::NotRun]);
    assert_eq!(healthy.trials.len(), 3);
    assert_ne!(healthy.verdict, Verdict::Invalid, "{:?}", names(healthy));
}

/// A thread that panics never reaches the barrier of the others, in the timed part.
#[test]
fn a_panic_ends_the_threads_that_wait_for_the_one_that_is_gone() {
    let _turn = shared();
    let start = Instant::now();
    let mut command = proofmark();
    command.args(["run", "test.abandon", "cpu.clock", "--trials", "3", "--threads", "1"]);
    let (run, code) = run_json(&mut command);
    assert_eq!(code, Some(3));
    assert!(start.elapsed() < Duration::from_secs(100), "it waited until patience (120 s) ended");
    let m = run.measurements.iter().find(|m| m.workload == "test.abandon").unwrap();
    assert!(has(m, "crashed", Severity::Invalid), "{:?}", names(m));
    let Ending::Crashed { signal, detail } = &m.ending else { panic!("{:?}", m.ending) };
    assert_eq!(signal.as_deref(), Some("SIGABRT"), "{detail}");
    assert!(detail.contains("load 0") && detail.contains("never reaches the barrier"), "{detail}");
    let healthy = run.measurements.iter().find(|m| m.workload == "cpu.clock").unwrap();
    assert_eq!(healthy.trials.len(), 3, "{:?}", healthy.ending);
    // Others may use the core: that makes no clock slower, and no contradiction.
    assert_ne!(healthy.verdict, Verdict::Invalid, "{:?}", names(healthy));
    for t in &healthy.trials {
        let clock_hz = t.conditions.clock_hz.unwrap_or(t.work / t.seconds);
        assert_eq!(t.value, clock_hz);
        assert!(t.value > 0.99 * t.work / t.seconds, "{t:?}");
    }
}

/// Two configurations of some seconds.
fn long_command(dir: &Path, trials: u32) -> Command {
    let mut command = proofmark();
    command
        .args(["run", "cpu.iops", "--threads", "1,2", "--trials", &trials.to_string()])
        .args(["--set", "cpu.iops.isa=scalar", "--set", "cpu.iops.type=i64", "--out"])
        .arg(dir.join("out"));
    command
}

fn long_run(dir: &Path, trials: u32) -> Child {
    start(&mut long_command(dir, trials))
}

fn saved(dir: &Path) -> Run {
    try_saved(dir).unwrap()
}

fn try_saved(dir: &Path) -> Option<Run> {
    let text = fs::read_to_string(dir.join("out/run.json")).ok()?;
    proofmark_model::read_run(&text).ok()
}

/// Waits until a started run has created a path.
fn wait_for(what: &str, child: &mut Child, mut is_there: impl FnMut() -> bool) {
    wait_until(what, || {
        let is_there = is_there();
        assert!(is_there || child.try_wait().unwrap().is_none(), "it ended without {what}");
        is_there
    });
}

/// Waits until the run file has a trial.
fn wait_for_trials(dir: &Path, child: &mut Child) {
    let some = |run: Run| run.measurements.iter().any(|m| !m.trials.is_empty());
    wait_for("a trial in the run file", child, || try_saved(dir).is_some_and(some));
}

fn no_one_left(workers: &[u32]) {
    wait_until("the workers to end with their run", || {
        !workers.iter().any(|pid| lab::is_alive(*pid))
    });
}

#[test]
fn a_run_that_is_stopped_or_killed_keeps_what_it_measured_and_leaves_no_worker() {
    let _turn = shared();
    for (signal, name, code) in [
        ("INT", Some("SIGINT"), Some(130)),
        ("TERM", Some("SIGTERM"), Some(143)),
        ("KILL", None, None),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut child = long_run(dir.path(), 40);
        wait_for_trials(dir.path(), &mut child);
        let workers = lab::children(child.id());
        assert!(!workers.is_empty());
        lab::kill(child.id(), signal);
        assert_eq!(wait("the run to end", &mut child).code(), code);
        no_one_left(&workers);
        let run = saved(dir.path());
        assert_eq!((run.interrupted.as_deref(), run.ended.is_some()), (name, name.is_some()));
        let is_suspect = |m: &Measurement| name.is_some() || m.verdict == Verdict::Suspect;
        let measured = |m: &Measurement| !m.trials.is_empty() && is_suspect(m);
        assert!(run.measurements.iter().any(measured), "{signal}");
        assert_eq!(dir.path().join("out/report.html").exists(), name.is_some());
        let report = output(proofmark().arg("report").arg(dir.path().join("out")));
        assert!(report.status.success());
    }
}

/// timeout(1) signals the process, and then its group, which includes the process.
#[test]
fn a_stop_that_is_sent_twice_at_once_is_one() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path(), 40);
    wait_for_trials(dir.path(), &mut child);
    let twice = format!("kill -TERM {0}; kill -TERM {0}; kill -INT {0}", child.id());
    assert!(Command::new("sh").args(["-c", &twice]).status().unwrap().success());
    assert!(matches!(child.wait().unwrap().code(), Some(143 | 130)));
    assert!(saved(dir.path()).ended.is_some(), "it ended in the middle of its work");
}

/// Checks that a run fails at once, before it measures.
fn fails_early(command: &mut Command, word: &str) {
    let out = output(command);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains(word) && !text.contains("panicked"), "{text}");
    assert!(out.stdout.is_empty());
    assert!(!text.lines().any(|line| line.starts_with('[')), "it measured first: {text}");
}

#[test]
fn what_cannot_be_written_is_told_before_minutes_are_spent() {
    let _turn = shared();
    let run = |out: &Path| {
        let mut command = proofmark();
        command.args(["run", "cpu.clock", "--out"]).arg(out.join("out"));
        command
    };
    // No user, not even root, can create directories in /proc.
    fails_early(&mut run(Path::new("/proc/proofmark")), "cannot create directory");
    let dir = tempfile::tempdir().unwrap();
    let json = ["run", "cpu.clock", "--json", "/dev/full/x"];
    fails_early(proofmark().args(json).current_dir(dir.path()), "cannot write");
    let Some(disk) = Mounted::of_kind("tmpfs", "size=1m") else { return };
    fails_early(&mut run(disk.path()), "free some space");
    assert!(!disk.path().join("out/run.json").exists());
    disk.make_read_only();
    fails_early(proofmark().args(["run", "cpu.clock"]).current_dir(disk.path()), "cannot create");
}
