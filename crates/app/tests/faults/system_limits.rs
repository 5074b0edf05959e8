//! Limits of the system: each ends in one message that names it, with status 1 or 2, and keeps the
//! results.

use std::os::unix::process::CommandExt as _;
use std::process::Output;

use proofmark_model::LimitKind;

use super::*;

/// Few short trials; the time limit is for a busy machine, which may leave nothing out.
const BRIEF: [&str; 6] = ["--budget", "60s", "--trials", "3", "--threads", "1"];

/// Returns a short run of a workload into a directory.
fn brief(workload: &str, folder: &Path) -> Command {
    let mut command = proofmark();
    command.args(["run", workload]).args(BRIEF).arg("--out").arg(folder.join("out"));
    command
}

/// Runs a command under a limit that a line of shell sets; `None` if util-linux is missing.
fn under(limit: &str, command: &mut Command) -> Option<(Output, String)> {
    if !Command::new("prlimit").arg("--version").output().is_ok_and(|o| o.status.success()) {
        skip("no prlimit");
        return None;
    }
    let out = output(lab::wrap(command, &format!("exec prlimit {limit} -- \"$0\" \"$@\"")));
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    Some((out, text))
}

/// Checks for one message that names a limit, without a panic, a signal or a report of a defect.
#[track_caller]
fn names_limit(out: &Output, text: &str, limit: &str) {
    assert!(matches!(out.status.code(), Some(1 | 2)), "{:?}: {text}", out.status);
    assert!(text.contains(limit), "no {limit}: {text}");
    let all = format!("{text}{}", String::from_utf8_lossy(&out.stdout));
    for wrong in ["panicked", "defect", "overflowed", "RUST_BACKTRACE", "free some space"] {
        assert!(!all.contains(wrong), "{wrong}: {all}");
    }
}

fn kinds(m: &Measurement) -> Vec<LimitKind> {
    match &m.ending {
        Ending::Limited { limit, .. } => limit.limits.iter().map(|l| l.kind).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_small_limit_of_file_size_is_named_before_anything_is_measured() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let Some((out, text)) = under("--fsize=50000", &mut brief("cpu.clock", dir.path())) else {
        return;
    };
    names_limit(&out, &text, "RLIMIT_FSIZE");
    assert!(text.contains("out/run.json") && text.contains("nothing was measured"), "{text}");
    assert_eq!(fs::read_dir(dir.path().join("out")).unwrap().count(), 0, "it left a file");
    // A test file that is too large fails only its own measurement.
    fs::remove_dir(dir.path().join("out")).unwrap();
    let mut command = brief("disk.seq_read", dir.path());
    command.args(["--set", "file_size=64MB", "--disk-path", env!("CARGO_MANIFEST_DIR")]);
    let Some((out, text)) = under("--fsize=20000000", &mut command) else { return };
    names_limit(&out, &text, "RLIMIT_FSIZE");
    let run = saved(dir.path());
    assert_eq!(kinds(&run.measurements[0]), [LimitKind::FileSize]);
}

#[test]
fn a_file_that_grows_beyond_the_limit_costs_no_result_on_the_terminal() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    // The output passes its test; the report of another run does not fit.
    let run = output(&mut brief("cpu.clock", dir.path()));
    assert!(run.status.code().is_some_and(|code| code != 1), "{run:?}");
    let mut report = proofmark();
    report.args(["report", "--format", "html", "--out"]).arg(dir.path().join("page.html"));
    report.arg(dir.path().join("out"));
    let Some((out, text)) = under("--fsize=5000", &mut report) else { return };
    names_limit(&out, &text, "RLIMIT_FSIZE");
    assert!(text.contains("page.html"), "{text}");
    let mut table = proofmark();
    table.arg("report").arg(dir.path().join("out"));
    let Some((out, text)) = under("--fsize=5000", &mut table) else { return };
    assert!(out.status.success() && !out.stdout.is_empty(), "{text}");
}

#[test]
fn few_open_files_are_named_wherever_they_end() {
    let _turn = shared();
    for (files, workload) in [
        (5, "cpu.clock"),
        (10, "cpu.clock"),
        (9, "network.tcp.stream"),
        // The server needs two files per connection: one is missing, then both.
        (18, "network.tcp.stream"),
        (19, "network.tcp.stream"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = brief(workload, dir.path());
        if workload.starts_with("network") {
            command = proofmark();
            command.args(["run", workload, "--trials", "3", "--set", "streams=8", "--out"]);
            command.arg(dir.path().join("out"));
        }
        let Some((out, text)) = under(&format!("--nofile={files}"), &mut command) else { return };
        names_limit(&out, &text, "RLIMIT_NOFILE");
        assert!(text.contains(&format!("{files} open files")), "{text}");
    }
}

#[test]
fn a_small_stack_is_no_reason_to_die() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let Some((out, text)) = under("--stack=65536", &mut brief("cpu.clock", dir.path())) else {
        return;
    };
    assert!(matches!(out.status.code(), Some(0 | 3)), "{:?}: {text}", out.status);
    assert_eq!(saved(dir.path()).measurements[0].trials.len(), 3);
}

#[test]
fn little_address_space_is_named() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    // Enough for the program, too little for its arrays.
    let command = &mut brief("memory.triad", dir.path());
    command.args(["--set", "array_size=512MB"]);
    let Some((out, text)) = under("--as=600000000", command) else { return };
    names_limit(&out, &text, "RLIMIT_AS");
    assert_eq!(kinds(&saved(dir.path()).measurements[0]), [LimitKind::AddressSpace]);
    let dir = tempfile::tempdir().unwrap();
    let command = &mut brief("cpu.clock", dir.path());
    let Some((out, text)) = under("--data=6000000", command) else { return };
    names_limit(&out, &text, "RLIMIT_DATA");
}

#[test]
fn a_limit_of_cpu_time_is_named_and_the_other_results_are_kept() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut command = proofmark();
    command.args(["run", "cpu.clock", "cpu.linpack", "--trials", "3", "--threads", "1"]);
    // A trial takes longer than that.
    command.args(["--set", "cpu.linpack.n=4000", "--set", "cpu.linpack.isa=sse2", "--out"]);
    command.arg(dir.path().join("out"));
    let Some((out, text)) = under("--cpu=2", &mut command) else { return };
    let run = saved(dir.path());
    let [clock, linpack] = &run.measurements[..] else { panic!("{text}") };
    assert_eq!(clock.trials.len(), 3);
    names_limit(&out, &text, "RLIMIT_CPU");
    assert_eq!(kinds(linpack), [LimitKind::CpuTime], "{:?}", names(linpack));
}

#[test]
fn a_run_whose_own_cpu_time_ends_stops_and_keeps_what_it_measured() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path(), 40);
    wait_for_trials(dir.path(), &mut child);
    // The signal of the soft limit.
    lab::kill(child.id(), "XCPU");
    assert_eq!(wait("the run to end", &mut child).code(), Some(1));
    let run = saved(dir.path());
    assert_eq!(run.interrupted.as_deref(), Some("SIGXCPU"));
    assert!(run.ended.is_some() && dir.path().join("out/report.html").exists());
}

#[test]
fn a_full_cgroup_of_processes_is_named_wherever_it_ends() {
    let _turn = shared();
    for most in [1, 2, 3, 5, 9] {
        let Some(group) = Cgroup::with_processes(most) else { return };
        let dir = tempfile::tempdir().unwrap();
        let mut command = proofmark();
        command.args(["run", "cpu.flops", "--threads", "12", "--out"]);
        command.arg(dir.path().join("out")).args(SHORT);
        let out = output(group.enter(&mut command));
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        names_limit(&out, &text, "pids.max");
        assert!(text.contains(&format!("limit of {most} processes and threads")), "{text}");
    }
}

#[test]
fn a_limit_of_the_users_processes_is_named() {
    let _turn = shared();
    if lab::status(std::process::id(), "Uid").split_whitespace().next() != Some("0") {
        return skip("only root may start a program as another user");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = proofmark();
    command.args(["run", "cpu.flops", "--threads", "40", "--out"]);
    command.arg(dir.path().join("out")).args(SHORT);
    lab::wrap(&mut command, "exec prlimit --nproc=20 -- \"$0\" \"$@\"");
    // A user without processes who may write there.
    let user = 61_234;
    std::os::unix::fs::chown(dir.path(), Some(user), Some(user)).unwrap();
    command.uid(user).gid(user).current_dir(dir.path());
    let out = output(&mut command);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    if text.contains("Permission denied") {
        return skip("another user may not run this program");
    }
    names_limit(&out, &text, "RLIMIT_NPROC");
    assert!(text.contains("20 processes and threads"), "{text}");
}

#[test]
fn a_worker_that_the_out_of_memory_killer_ends_is_named_with_its_limit_and_the_run_goes_on() {
    let _turn = alone();
    // More than a run needs, and less than the load.
    let Some(group) = Cgroup::with_memory(192 << 20) else { return };
    let mut command = proofmark();
    command.args(["run", "test.hoard", "cpu.clock", "--trials", "3", "--threads", "1"]);
    let (run, code) = run_json(group.enter(&mut command));
    assert_eq!(code, Some(1));
    let of = |id: &str| run.measurements.iter().find(|m| m.workload == id).unwrap();
    assert_eq!(of("cpu.clock").trials.len(), 3, "the run survived: {:?}", of("cpu.clock").ending);
    let hoard = of("test.hoard");
    assert_eq!(kinds(hoard), [LimitKind::CgroupMemory], "{:?}", names(hoard));
    assert!(names(hoard)[0].contains("192 MiB of memory"), "{:?}", names(hoard));
}

#[test]
fn too_little_memory_for_a_measurement_of_memory_is_said_before() {
    let _turn = shared();
    let Some(group) = Cgroup::with_memory(72 << 20) else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = output(group.enter(&mut brief("memory.copy", dir.path())));
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{text}");
    let says = ["memory limit of 72 MiB", "no room for a measurement of memory", "needs"];
    assert!(says.iter().all(|says| text.contains(says)), "{text}");
    assert!(!dir.path().join("out").exists(), "it measured");
}

#[test]
fn without_devices_a_run_measures_and_what_is_missing_is_named() {
    let _turn = shared();
    let without_dev = |command: &mut Command| {
        let line = "exec unshare --mount sh -c 'mount -t tmpfs none /dev && exec \"$0\" \"$@\"' \
                    \"$0\" \"$@\"";
        output(lab::wrap(command, line))
    };
    let probe = without_dev(Command::new("true").env("PATH", "/usr/bin:/bin"));
    if !probe.status.success() {
        return skip("this user may not mount");
    }
    let dir = tempfile::tempdir().unwrap();
    let out = without_dev(&mut brief("cpu.clock", dir.path()));
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(matches!(out.status.code(), Some(0 | 3)), "{text}");
    let dir = tempfile::tempdir().unwrap();
    let mut command = proofmark();
    command.args(["run", "network.tcp.rtt", "--trials", "3", "--out"]).arg(dir.path().join("out"));
    let out = without_dev(&mut command);
    let text = String::from_utf8_lossy(&out.stderr);
    if out.status.code() != Some(0) {
        names_limit(&out, &text, "/dev/urandom");
    }
}

#[test]
fn workers_are_the_first_that_the_out_of_memory_killer_takes() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path(), 40);
    wait_for_trials(dir.path(), &mut child);
    let score = |pid: u32| fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    let workers = lab::children(child.id());
    assert!(!workers.is_empty());
    for pid in &workers {
        assert_eq!(score(*pid).trim(), "1000");
    }
    assert_ne!(score(child.id()).trim(), "1000");
    lab::kill(child.id(), "INT");
    wait("the run to end", &mut child);
}
