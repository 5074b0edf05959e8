//! Ends all that a process started, whatever process groups and sessions it made. It must be a
//! subreaper (prctl(2), `PR_SET_CHILD_SUBREAPER`): who loses its parent becomes its child.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, wait, waitid,
};

/// Kills all descendants, and waits until there are none.
pub fn end_all() {
    while !none_is_left() {
        if kill_children(listed()) == 0 {
            kill_children(every_number());
            // Who lost its parent meanwhile is found in the next search.
            thread::sleep(Duration::from_millis(1));
        } else if wait(WaitOptions::empty()).is_err() {
            return; // None is left.
        }
    }
}

/// Takes note of all children that have ended; whether there is no other.
fn none_is_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Kills those that are children; how many. Their own children then become children here.
fn kill_children(all: impl Iterator<Item = Pid>) -> usize {
    /// Questions between two looks at whether any child is left; some take a millisecond.
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

/// Processes that /proc lists. Where it lists those of another namespace, their numbers mean others
/// here, of which none may be a child.
fn listed() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| Pid::from_raw(e.file_name().to_str()?.parse().ok()?))
}

/// Each number that a process can have, for where /proc lists no child.
fn every_number() -> impl Iterator<Item = Pid> {
    /// Largest number of a process (Linux `include/linux/threads.h`, `PID_MAX_LIMIT`).
    const LARGEST: i32 = 1 << 22;
    /// Most systems count no further than this, and begin again from the lowest.
    const USUAL: i32 = 1 << 15;
    let own = getpid().as_raw_nonzero().get();
    // Numbers are given out in ascending order: that of a child is most often a little larger.
    let near = own.saturating_add(USUAL).min(LARGEST);
    (own + 1..=near).chain(1..own).chain(near + 1..=LARGEST).filter_map(Pid::from_raw)
}

/// Whether a process is a child of this one.
fn is_child(pid: Pid) -> bool {
    let only_ask = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), only_ask).is_ok()
}
