//! The decision: the limit that explains an end.

use super::{CgroupLimit, LimitKind, LimitReached, SystemLimit, SystemState};

/// Error numbers, as x86-64 and AArch64 have them (Linux `asm-generic/errno-base.h`).
const ENOENT: i32 = 2;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;

/// The stack in bytes that a first thread needs, roughly, before it starts another one. A smaller
/// limit explains an overflow, a larger one does not.
const SMALL_STACK: u64 = 1 << 20;

/// The observed end of a process or an operation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'a> {
    /// The signal that ended the process, by its name.
    pub signal: Option<&'a str>,
    /// The last output of the process, or the error's text, with the error number where there is
    /// one.
    pub words: &'a str,
    /// The CPU time that the process took, in seconds.
    pub cpu_s: Option<f64>,
}

/// Returns the limit that explains an end, by the state of the system before and after it. `None`:
/// no limit does, and the fault is the program's own or another's.
pub fn limit_reached(
    seen: &Seen,
    before: &SystemState,
    after: &SystemState,
) -> Option<LimitReached> {
    let found = Found { words: seen.words, before, after };
    let by_error = match os_error(seen.words) {
        Some(EMFILE) => vec![found.limit(LimitKind::OpenFiles, after.open_files)],
        Some(ENFILE) => vec![found.limit(LimitKind::SystemOpenFiles, after.system_open_files)],
        Some(EFBIG) => found.set([(LimitKind::FileSize, after.file_size)]),
        Some(EAGAIN) if found.was_starting() => found.no_thread(),
        Some(ENOMEM) => found.no_memory(),
        Some(ENOENT) => found.missing(),
        // Refused before anything was written.
        None if seen.words.contains("RLIMIT_FSIZE") => {
            found.set([(LimitKind::FileSize, after.file_size)])
        }
        _ if found.could_not_allocate() => found.no_memory(),
        _ if seen.words.contains("overflowed its stack") => found.small_stack(),
        _ => Vec::new(),
    };
    let limits = if by_error.is_empty() { found.killed(seen) } else { by_error };
    (!limits.is_empty()).then_some(LimitReached { limits })
}

/// Returns the last error number in a text: `5` of `No such thing (os error 5)` and of `Os { code:
/// 5, kind: ... }`.
fn os_error(words: &str) -> Option<i32> {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().ok()
    };
    let after = |mark: &str| words.rfind(mark).map(|at| (at, number(&words[at + mark.len()..])));
    let marks = ["os error ", "OS Error: ", "Os { code: "];
    let found = marks.into_iter().filter_map(after);
    found.max_by_key(|(at, _)| *at)?.1
}

struct Found<'a> {
    words: &'a str,
    before: &'a SystemState,
    after: &'a SystemState,
}

impl Found<'_> {
    fn limit(&self, kind: LimitKind, value: Option<u64>) -> SystemLimit {
        let source = match kind {
            LimitKind::SystemOpenFiles => Some("/proc/sys/fs/file-max"),
            LimitKind::SystemProcesses => Some("/proc/sys/kernel/threads-max"),
            _ => None,
        };
        SystemLimit { kind, value, source: source.map(str::to_owned) }
    }

    /// Returns those of these limits that are set.
    fn set<const N: usize>(&self, all: [(LimitKind, Option<u64>); N]) -> Vec<SystemLimit> {
        let set = all.into_iter().filter(|(_, value)| value.is_some());
        set.map(|(kind, value)| self.limit(kind, value)).collect()
    }

    fn cgroup_limit(&self, kind: LimitKind, limit: &CgroupLimit) -> SystemLimit {
        SystemLimit { kind, value: limit.limit, source: Some(limit.file.clone()) }
    }

    /// Returns true if the words are about the start of a thread or a process. The same error also
    /// means that a read or a write waited too long.
    fn was_starting(&self) -> bool {
        const STARTING: [&str; 6] = ["thread", "start", "spawn", "fork", "cannot run", "process"];
        STARTING.iter().any(|word| self.words.contains(word))
    }

    fn could_not_allocate(&self) -> bool {
        let words = self.words;
        words.contains("memory allocation of") || words.contains("Cannot allocate memory")
    }

    fn address_space(&self) -> Vec<SystemLimit> {
        let SystemState { address_space, data, .. } = *self.after;
        self.set([(LimitKind::AddressSpace, address_space), (LimitKind::Data, data)])
    }

    /// Returns the limits that may have prevented the start of a thread or a process. A cgroup
    /// counts its refusals; a stack without address space gives the same error.
    fn no_thread(&self) -> Vec<SystemLimit> {
        let (before, pids) = (&self.before.cgroup_processes, &self.after.cgroup_processes);
        let cgroup_limit = || self.cgroup_limit(LimitKind::CgroupProcesses, pids);
        let is_full = pids.limit.zip(pids.used).is_some_and(|(limit, used)| used >= limit);
        if pids.limit.is_some() && (is_full || increased(before.hits, pids.hits)) {
            return vec![cgroup_limit()];
        }
        let mut limits = self.set([(LimitKind::Processes, self.after.processes)]);
        // Refusals are not counted everywhere (before Linux 4.3), and processes end meanwhile.
        if pids.limit.is_some() && pids.hits.is_none() {
            limits.push(cgroup_limit());
        }
        limits.extend(self.address_space());
        if limits.is_empty() {
            limits = self.set([(LimitKind::SystemProcesses, self.after.system_processes)]);
        }
        limits
    }

    fn no_memory(&self) -> Vec<SystemLimit> {
        let limits = self.address_space();
        match limits.is_empty() {
            true => vec![self.limit(LimitKind::SystemMemory, self.after.memory)],
            false => limits,
        }
    }

    fn small_stack(&self) -> Vec<SystemLimit> {
        self.set([(LimitKind::Stack, self.after.stack.filter(|bytes| *bytes < SMALL_STACK))])
    }

    /// Returns a file that every system should have, for an error that names none or that one.
    fn missing(&self) -> Vec<SystemLimit> {
        // Without /dev/urandom the error is about random numbers.
        let names = |file: &&String| {
            let is_random = file.contains("random") && self.words.contains("random");
            is_random || self.words.contains(file.as_str())
        };
        let named = self.after.missing.iter().find(names);
        let unnamed = || self.after.missing.first().filter(|_| self.was_starting());
        let missing = |file: &String| SystemLimit {
            kind: LimitKind::MissingFile,
            value: None,
            source: Some(file.clone()),
        };
        named.or_else(unnamed).map(missing).into_iter().collect()
    }

    fn killed(&self, seen: &Seen) -> Vec<SystemLimit> {
        let (before, after) = (self.before, self.after);
        let cpu_s = after.cpu_s.filter(|limit| seen.cpu_s.is_none_or(|s| s >= *limit as f64 * 0.9));
        match seen.signal {
            Some("SIGXFSZ") => vec![self.limit(LimitKind::FileSize, after.file_size)],
            Some("SIGXCPU") => vec![self.limit(LimitKind::CpuTime, after.cpu_s)],
            Some("SIGSEGV") => self.small_stack(),
            Some("SIGKILL") => {
                let (memory, of_group) = (&after.cgroup_memory, &before.cgroup_memory);
                if increased(of_group.hits, memory.hits) && memory.limit.is_some() {
                    return vec![self.cgroup_limit(LimitKind::CgroupMemory, memory)];
                }
                if increased(of_group.hits, memory.hits)
                    || increased(before.system_oom_kills, after.system_oom_kills)
                {
                    return vec![self.limit(LimitKind::SystemMemory, after.memory)];
                }
                match seen.cpu_s {
                    Some(_) => self.set([(LimitKind::CpuTime, cpu_s)]),
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }
}

fn increased(before: Option<u64>, after: Option<u64>) -> bool {
    before.zip(after).is_some_and(|(before, after)| after > before)
}
