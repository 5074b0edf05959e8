//! The limits of the system that workers run under: all the files that they may have, and no core
//! dumps.

use super::*;

/// The soft and the hard value of a limit of a process, as /proc tells them.
fn limit(pid: u32, name: &str) -> [String; 2] {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let mut words = line.split_whitespace().map(str::to_owned);
    [words.next().unwrap(), words.next().unwrap()]
}

/// Core dumps as large as may be, and few files.
const USUAL: &str = "ulimit -Sc \"$(ulimit -Hc)\"; ulimit -Sn 200; exec \"$0\" \"$@\"";

#[test]
fn a_run_and_its_workers_have_all_open_files() {
    let _quiet = quiet();
    let dir = tempfile::tempdir().unwrap();
    let mut command = long_command(dir.path());
    let mut child = lab::wrap(&mut command, USUAL)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_trials(dir.path(), &mut child);
    let workers = lab::children(child.id());
    assert!(!workers.is_empty());
    for pid in workers.iter().chain([&child.id()]) {
        let [soft, hard] = limit(*pid, "Max open files");
        assert_eq!(soft, hard, "open files");
    }
    lab::kill(child.id(), "INT");
    child.wait().unwrap();
}
