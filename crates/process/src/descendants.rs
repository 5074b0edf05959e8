//! Ends all descendants of a process, in all process groups and sessions. The process must be a
//! subreaper (prctl(2), `PR_SET_CHILD_SUBREAPER`): an orphaned descendant becomes its child.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, wait, waitid,
};

/// Kills all descendants, and waits until none is left.
pub fn end_descendants() {
    while !none_is_left() {
        if kill_children(listed()) == 0 {
            kill_children(every_number());
            // The next search finds the processes that were orphaned meanwhile.
            thread::sleep(Duration::from_millis(1));
        } else if wait(WaitOptions::empty()).is_err() {
            return; // None is left.
        }
    }
}

/// Reaps all children that have ended. Returns true if no child is left.
fn none_is_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Kills the children among these processes and counts them. Their own children then become
/// children here.
fn kill_children(all: impl Iterator<Item = Pid>) -> usize {
    /// The number of processes asked about between two checks for remaining children. Some calls
    /// take 1 ms.
    const AT_ONCE: usize = 4096;
    let mut killed = 0;
    for (asked, pid) in all.enumerate() {
        if asked % AT_ONCE == AT_ONCE - 1 && none_is_left() {
            break;
        }
        if is_child(pid) {
            // It may have just ended.
            let _ = kill_process(pid, Signal::KILL);
            killed += 1;
        }
    }
    killed
}

/// Returns the processes that /proc lists. If /proc belongs to another pid namespace, its numbers
/// mean other processes here, perhaps none of them a child.
fn listed() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| Pid::from_raw(e.file_name().to_str()?.parse().ok()?))
}

/// Returns each number that a process can have, for where /proc lists no child.
fn every_number() -> impl Iterator<Item = Pid> {
    /// The largest process id (Linux `include/linux/threads.h`, `PID_MAX_LIMIT`).
    const LARGEST: i32 = 1 << 22;
    /// The limit of most systems. After it, numbers start again from the lowest.
    const USUAL: i32 = 1 << 15;
    let own = getpid().as_raw_nonzero().get();
    // Linux assigns numbers in ascending order: a child's is usually a little larger.
    let near = own.saturating_add(USUAL).min(LARGEST);
    (own + 1..=near).chain(1..own).chain(near + 1..=LARGEST).filter_map(Pid::from_raw)
}

/// Returns true if a process is a child of this one.
fn is_child(pid: Pid) -> bool {
    let only_ask = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), only_ask).is_ok()
}
