//! Keeps the memory of a process out of core dumps.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Keeps crashes of this process from writing its memory to a disk: a worker has GiBs of it, and
/// the key of a network run. The parent still learns how the process ended.
///
/// The limit is 1 byte: no dump fits into it. Where `core_pattern` pipes dumps to a program, the
/// kernel ignores a limit of 0 but skips the dump at exactly 1 (Linux `fs/coredump.c`).
/// If the system dumps nevertheless, the filter leaves all memory out of the dump (core(5)).
/// `PR_SET_DUMPABLE` would do both, but would also hide the process's /proc files from its run.
pub fn turn_off() {
    // Each alone is enough on most systems. If neither is allowed, a crash dumps memory as before.
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // A hard limit of 0 cannot be raised.
    let _ = setrlimit(Resource::Core, limit).or_else(|_| setrlimit(Resource::Core, none));
    let _ = std::fs::write("/proc/self/coredump_filter", "0");
}
