//! Keeps the memory of a process out of core dumps.

use rustix::process::{Resource, Rlimit, setrlimit};

/// From now on a crash of this process writes no memory to a disk: a worker holds GiBs, and the
/// key of a network run. How it crashed is still reported to its parent.
///
/// The limit is 1 byte: no dump fits into it. Where `core_pattern` pipes dumps to a program, the
/// kernel ignores a limit of 0 but skips the dump at exactly 1 (Linux `fs/coredump.c`).
/// Where a dump is made nevertheless, the filter leaves all memory out of it (core(5)).
/// `PR_SET_DUMPABLE` would do both, and would also take the process's /proc files from its run.
pub fn turn_off() {
    // Each alone is enough in most systems; where neither is allowed, the crash is as it was.
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // A hard limit of 0 cannot be raised.
    let _ = setrlimit(Resource::Core, limit).or_else(|_| setrlimit(Resource::Core, none));
    let _ = std::fs::write("/proc/self/coredump_filter", "0");
}
