//! Ends all that a process started, whatever process groups and sessions it made.
//!
//! The process must be a subreaper (prctl(2), `PR_SET_CHILD_SUBREAPER`): who loses its parent
//! becomes its child.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, wait, waitid,
};

/// Kills all descendants, and waits until there are none.
pub fn end_all() {
    while !none_is_left() {
        let left = listed();
        if left.is_empty() {
            search_and_kill();
            // Who lost its parent meanwhile is found in the next search.
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        left.into_iter().for_each(kill);
        if wait(WaitOptions::empty()).is_err() {
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

fn kill(pid: Pid) {
    // It may have just ended.
    let _ = kill_process(pid, Signal::KILL);
}

/// Processes below this one that are not over, as /proc lists them; none where it lists the
/// processes of another namespace, whose numbers mean others here.
fn listed() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().get();
    if fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok()) != Some(own) {
        return Vec::new();
    }
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // `pid (name) state parent ...`: a name may hold anything.
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(1);
        if let (Some(pid), Some(parent)) = (pid, fields.next().and_then(|p| p.parse().ok())) {
            parents.push((pid, parent));
        }
    }
    let mut below = BTreeSet::from([own]);
    while parents.iter().any(|(pid, parent)| below.contains(parent) && below.insert(*pid)) {}
    below.into_iter().filter(|pid| *pid != own).filter_map(Pid::from_raw).collect()
}

/// Kills the children of this process without /proc, which nothing else lists: asks for each number
/// that a process can have whether it is a child. Their own children then become children here.
fn search_and_kill() {
    /// Largest number of a process (Linux `include/linux/threads.h`, `PID_MAX_LIMIT`).
    const LARGEST: i32 = 1 << 22;
    /// Questions between two looks at whether any child is left; some take a millisecond.
    const AT_ONCE: usize = 4096;
    /// Most systems count no further than this, and begin again from the lowest.
    const USUAL: i32 = 1 << 15;
    let own = getpid().as_raw_nonzero().get();
    // Numbers are given out in ascending order: that of a child is most often a little larger.
    let near = own.saturating_add(USUAL).min(LARGEST);
    let all = (own + 1..=near).chain(1..own).chain(near + 1..=LARGEST).filter_map(Pid::from_raw);
    for (asked, pid) in all.enumerate() {
        if asked % AT_ONCE == AT_ONCE - 1 && none_is_left() {
            return;
        }
        if is_child(pid) {
            kill(pid);
        }
    }
}

/// Whether a process is a child of this one.
fn is_child(pid: Pid) -> bool {
    let only_ask = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), only_ask).is_ok()
}
