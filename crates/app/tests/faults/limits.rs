//! The limits of workers: the maximum of open files, and no core dumps.

use super::*;

/// Returns the soft and the hard value of a process's limit, from /proc.
fn limit(pid: u32, name: &str) -> [String; 2] {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let mut words = line.split_whitespace().map(str::to_owned);
    [words.next().unwrap(), words.next().unwrap()]
}

/// Allows unlimited core dumps, and few open files.
const USUAL: &str = "ulimit -Sc \"$(ulimit -Hc)\"; ulimit -Sn 200; exec \"$0\" \"$@\"";

#[test]
fn workers_have_all_open_files_and_leave_no_memory_in_core_dumps() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let mut command = long_command(dir.path(), 40);
    let mut child = start(lab::wrap(&mut command, USUAL));
    wait_for_trials(dir.path(), &mut child);
    let workers = lab::children(child.id());
    assert!(!workers.is_empty());
    for pid in workers.iter().chain([&child.id()]) {
        let [soft, hard] = limit(*pid, "Max open files");
        assert_eq!(soft, hard, "open files");
    }
    for pid in &workers {
        assert_eq!(limit(*pid, "Max core file size"), ["1", "1"]);
        let filter = fs::read_to_string(format!("/proc/{pid}/coredump_filter"));
        assert_eq!(filter.unwrap().trim().trim_matches('0'), "", "memory is dumped");
        assert!(fs::read_dir(format!("/proc/{pid}/fd")).is_ok(), "the run reads their /proc");
    }
    let [soft, hard] = limit(child.id(), "Max core file size");
    assert_eq!(soft, hard, "the tools that a run starts have the user's limit");
    lab::kill(child.id(), "INT");
    wait("the run to end", &mut child);
}

#[test]
fn a_crash_leaves_no_core_file_and_is_told_as_before() {
    let _turn = shared();
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim().is_empty() || pattern.starts_with(['|', '/', '@']) {
        return skip("core dumps do not go to the current folder (core_pattern)");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = proofmark();
    command.args(["run", "test.illegal", "test.panic", "--trials", "3"]);
    let (run, code) = run_json(lab::wrap(&mut command, USUAL).current_dir(dir.path()));
    assert_eq!(code, Some(3));
    let signal = |m: &Measurement| match &m.ending {
        Ending::Crashed { signal, .. } => signal.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    let signals: Vec<_> = run.measurements.iter().map(signal).collect();
    assert_eq!(signals, ["SIGILL", "SIGABRT"]);
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}
