//! Planted faults of a server: access, unauthenticated peers, leftovers.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::lab::network::{Served, begun, point, profile, run_to, serve, throw_garbage, written};
use super::lab::{self, alone, children, proofmark, refused, run_json, shared};
use super::{names, no_one_left, saved, wait_for_trials};
use proofmark_model::{Ending, Run, Verdict};
use proofmark_testing::{join, output, wait, wait_until};

/// Returns a run over this machine's loopback to a server that is already started.
fn to(address: impl ToString, key: &Path) -> Command {
    let mut command = run_to(address, key);
    command.args(["network.tcp.connect", "--trials", "3", "--quick"]);
    command
}

fn all_complete(run: &Run) {
    assert!(!run.measurements.is_empty());
    run.measurements.iter().for_each(|m| assert_eq!(m.ending, Ending::Complete, "{}", m.point()));
}

/// Creates a directory, and returns the path of a key that does not exist yet.
fn for_a_key() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    (folder, key)
}

/// Creates a directory for a key, and starts a server that creates one there.
fn served() -> (tempfile::TempDir, PathBuf, Served) {
    let (folder, key) = for_a_key();
    let server = Served::here(&key);
    (folder, key, server)
}

/// Starts such a run of a profile's configurations in a directory.
fn begun_to(server: &Served, key: &Path, folder: &Path, points: &[String]) -> Child {
    let mut command = run_to(server.address, key);
    command.arg("--profile").arg(written(folder, &profile(8, points)));
    begun(command, folder)
}

#[test]
fn who_cannot_use_a_server_is_told_so_in_one_line() {
    let _turn = shared();
    let (folder, key, server) = served();
    let other = folder.path().join("other");
    drop(Served::here(&other)); // Makes another key.
    refused(&mut to(server.address, &other), "key");
    refused(&mut to(server.address, &folder.path().join("none")), "no key in");
    let address = server.address;
    drop(server);
    refused(&mut to(address, &key), "no server at");
    // The identity of another machine.
    let boot_id = folder.path().join("boot_id");
    fs::write(&boot_id, "00000000-0000-4000-8000-000000000000\n").unwrap();
    let Some(server) = Served::here_booted_as(&key, &boot_id) else { return };
    let why = "is a forwarder to another machine (the boot ids differ)";
    refused(&mut to(server.address, &key), why);
}

#[test]
fn a_run_without_network_points_starts_no_server() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let only_cpu = profile(8, &[point("cpu.clock", "200ms", "threads = 1")]);
    let mut command = proofmark();
    command.args(["run", "--profile"]).arg(written(dir.path(), &only_cpu));
    let mut run = begun(command, dir.path());
    wait_for_trials(dir.path(), &mut run);
    assert_eq!(children(run.id()).len(), 1, "a worker alone");
    wait("the run to end", &mut run);
}

#[test]
fn a_second_run_is_told_to_wait_and_the_first_goes_on() {
    let _turn = alone();
    let (folder, key, server) = served();
    let stream = point("network.tcp.stream", "200ms", "");
    let mut first = begun_to(&server, &key, folder.path(), &[stream]);
    wait_for_trials(folder.path(), &mut first);
    refused(&mut to(server.address, &key), "is busy with another run");
    assert!(first.try_wait().unwrap().is_none(), "the first was over");
    wait("the first run to end", &mut first);
    let m = &saved(folder.path()).measurements[0];
    assert_eq!((&m.ending, m.trials.len()), (&Ending::Complete, 8));
    assert_ne!(m.verdict, Verdict::Invalid, "{:?}", names(m));
}

#[test]
fn a_server_that_cannot_listen_says_so_in_one_line() {
    let _turn = shared();
    let (_folder, key, server) = served();
    for bind in [&*server.address.to_string(), "192.0.2.1"] {
        let out = output(&mut serve(bind, &key));
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!((out.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.contains("cannot listen on") && out.stdout.is_empty(), "{text}");
    }
}

#[test]
fn a_server_ends_when_it_is_told_to() {
    let _turn = shared();
    for (signal, name) in [("INT", "SIGINT"), ("TERM", "SIGTERM")] {
        let (folder, key, server) = served();
        let stream = point("network.tcp.stream", "500ms", "");
        let mut run = begun_to(&server, &key, folder.path(), &[stream]);
        wait_for_trials(folder.path(), &mut run);
        let (stderr, code) = server.end(signal);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains(&format!("stopped by {name}")), "{stderr}");
        // The run reports why it could not continue.
        assert_eq!(wait("the run to end", &mut run).code(), Some(1));
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains("the server was stopped"), "{log}");
    }
}

/// Returns true if the process has its own handler for SIGINT.
fn handles_interrupts(pid: u32) -> bool {
    u64::from_str_radix(&lab::status(pid, "SigCgt"), 16).unwrap() & 2 != 0
}

#[test]
fn a_second_signal_ends_a_server_that_hangs() {
    let _turn = shared();
    let folder = tempfile::tempdir().unwrap();
    // The pipe is full, so the server hangs at its first line.
    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b'\n'; 64 << 10]).unwrap();
    let mut command = serve("127.0.0.1:0", &folder.path().join("key"));
    let mut server =
        command.stdin(Stdio::null()).stdout(full).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the server to handle signals", || handles_interrupts(server.id()));
    thread::sleep(Duration::from_millis(200));
    lab::kill(server.id(), "INT");
    thread::sleep(Duration::from_millis(300));
    assert!(server.try_wait().unwrap().is_none(), "it does not hang");
    // A signal that follows at once is the same request as the first.
    let status = wait_until("the server to end at a second signal", || {
        lab::kill(server.id(), "TERM");
        thread::sleep(Duration::from_millis(50));
        server.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(128 + 15));
}

#[test]
fn a_session_that_exceeds_its_bytes_ends_in_words() {
    let _turn = shared();
    let (folder, key) = for_a_key();
    let server = Served::start(serve("127.0.0.1:0", &key).args(["--max-bytes", "300MB"]));
    let streams = [point("network.tcp.stream", "200ms", ""), point("network.tcp.rtt", "20ms", "")];
    let mut run = begun_to(&server, &key, folder.path(), &streams);
    assert_eq!(wait("the run to end", &mut run).code(), Some(1));
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("its byte limit was reached"), "{log}");
    for m in &saved(folder.path()).measurements {
        assert!(!matches!(m.ending, Ending::Complete), "{}", m.point());
    }
    let (stderr, _) = server.end("TERM");
    assert!(stderr.contains("ended after 314572800 B: its byte limit was reached"), "{stderr}");
}

#[test]
fn the_server_is_free_while_something_else_is_measured() {
    let _turn = shared();
    let (folder, key, server) = served();
    // Eight trials of this length take longer than the other run, also on a busy machine.
    let points =
        [point("cpu.clock", "4s", "threads = 1"), point("network.tcp.connect", "20ms", "")];
    let mut first = begun_to(&server, &key, folder.path(), &points);
    wait_for_trials(folder.path(), &mut first);
    let (other, _) = run_json(&mut to(server.address, &key));
    all_complete(&other);
    assert!(first.try_wait().unwrap().is_none(), "the first was over");
    wait("the first run to end", &mut first);
    all_complete(&saved(folder.path()));
}

#[test]
fn a_session_too_short_for_the_plan_is_told_first() {
    let _turn = shared();
    let (folder, key) = for_a_key();
    let server = Served::start(serve("127.0.0.1:0", &key).args(["--max-time", "3s"]));
    let stderr = |trial: &str| {
        let plan = profile(8, &[point("network.tcp.connect", trial, "")]);
        let mut command = run_to(server.address, &key);
        command.arg("--dry-run").arg("--profile").arg(written(folder.path(), &plan));
        String::from_utf8(output(&mut command).stderr).unwrap()
    };
    assert!(stderr("10s").contains("the server allows 3.0 s"), "{}", stderr("10s"));
    assert_eq!(stderr("20ms"), "");
}

#[test]
fn a_server_outlives_its_terminal_if_it_is_to() {
    let _turn = shared();
    let (_folder, key) = for_a_key();
    // Started as by `nohup`.
    let server = Served::here_by(&key, "trap '' HUP; exec \"$0\" \"$@\"");
    lab::kill(server.pid(), "HUP");
    let (run, _) = run_json(&mut to(server.address, &key));
    all_complete(&run);
    let (stderr, code) = server.end("TERM");
    assert_eq!(code, Some(0), "{stderr}");
    // Started as by a terminal, even if these tests run under `nohup`.
    let in_terminal = "exec env --default-signal=HUP \"$0\" \"$@\"";
    let (stderr, code) = Served::here_by(&key, in_terminal).end("HUP");
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_server_of_a_runs_own_ends_with_it() {
    let _turn = shared();
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = proofmark();
        let stream = profile(8, &[point("network.tcp.stream", "500ms", "")]);
        command.args(["run", "--profile"]).arg(written(dir.path(), &stream));
        let mut run = begun(command, dir.path());
        wait_for_trials(dir.path(), &mut run);
        let all = children(run.id());
        assert_eq!(all.len(), 2, "a server and a worker");
        lab::kill(run.id(), signal);
        assert_eq!(wait("the run to end", &mut run).code(), code);
        no_one_left(&all);
    }
}

#[test]
fn a_killed_run_leaves_the_server_to_the_next() {
    let _turn = shared();
    let (folder, key, server) = served();
    let stream = point("network.tcp.stream", "500ms", "");
    let mut run = begun_to(&server, &key, folder.path(), &[stream]);
    wait_for_trials(folder.path(), &mut run);
    let workers = children(run.id());
    lab::kill(run.id(), "KILL");
    wait("the run to end", &mut run);
    let next = tempfile::tempdir().unwrap();
    wait_until("the session to end with its run", || {
        let mut run = begun(to(server.address, &key), next.path());
        wait("the next run to end", &mut run).code() != Some(2)
    });
    all_complete(&saved(next.path()));
    no_one_left(&workers);
}

#[test]
fn strangers_do_not_disturb_a_run() {
    let _turn = alone();
    let (folder, key, server) = served();
    let workloads = ["network.tcp.stream", "network.udp.stream", "network.udp.rtt"];
    let points = workloads.map(|k| point(k, "200ms", ""));
    let mut run = begun_to(&server, &key, folder.path(), &points);
    wait_for_trials(folder.path(), &mut run);
    let before = server.kib("VmRSS");
    let over = Arc::new(AtomicBool::new(false));
    let (address, ended) = (server.address, Arc::clone(&over));
    let garbage = thread::spawn(move || throw_garbage(address, &ended));
    wait("the run to end", &mut run);
    over.store(true, Ordering::Relaxed);
    let thrown = join("the garbage to end", garbage);
    // The peak; the kernel updates it late, so that it may be below the present value.
    let grown = server.kib("VmHWM").saturating_sub(before);
    assert!(grown < 16 << 10, "{grown} KiB");
    assert!(thrown > 100, "{thrown} connections");
    let run = saved(folder.path());
    assert_eq!(run.measurements.len(), workloads.len());
    for m in &run.measurements {
        assert_eq!((&m.ending, m.trials.len()), (&Ending::Complete, 8), "{}", m.point());
        assert_ne!(m.verdict, Verdict::Invalid, "{:?}", names(m));
    }
    // The server still serves.
    let (run, _) = run_json(&mut to(server.address, &key));
    all_complete(&run);
}
