//! The decision: which limit explains an end.

use super::{CgroupLimit, LimitKind, LimitReached, SystemLimit, SystemState};

/// Numbers of errors, as x86-64 and AArch64 have them (Linux `asm-generic/errno-base.h`).
const ENOENT: i32 = 2;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;

/// A first thread needs about so much stack before it starts another one, in bytes: less explains
/// an overflow, more does not.
const SMALL_STACK: u64 = 1 << 20;

/// What was seen of an end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'a> {
    /// The signal that ended the process, by its name.
    pub signal: Option<&'a str>,
    /// Its last words, or the error's, with the number of the error where there is one.
    pub words: &'a str,
    /// The CPU time that the process took, in seconds.
    pub cpu_s: Option<f64>,
}

/// The limit that explains an end, by the state of the system before and after it. `None`: no limit
/// does, and the fault is the program's own or another's.
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
        // Refused before it was written.
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

/// `5` of `No such thing (os error 5)` and of `Os { code: 5, kind: ... }`: the last one that is named.
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

    /// Those of these limits that are set.
    fn set<const N: usize>(&self, all: [(LimitKind, Option<u64>); N]) -> Vec<SystemLimit> {
        let set = all.into_iter().filter(|(_, value)| value.is_some());
        set.map(|(kind, value)| self.limit(kind, value)).collect()
    }

    fn of_cgroup(&self, kind: LimitKind, limit: &CgroupLimit) -> SystemLimit {
        SystemLimit { kind, value: limit.limit, source: Some(limit.file.clone()) }
    }

    /// Whether the words are of a thread or a process that was to be started. The same error also
    /// means that a read or a write waited for too long.
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

    /// A thread or a process could not be started. A cgroup counts its refusals; a stack that found
    /// no address space is reported by the same error.
    fn no_thread(&self) -> Vec<SystemLimit> {
        let (before, pids) = (&self.before.cgroup_processes, &self.after.cgroup_processes);
        let of_cgroup = || self.of_cgroup(LimitKind::CgroupProcesses, pids);
        let is_full = pids.limit.zip(pids.used).is_some_and(|(limit, used)| used >= limit);
        if pids.limit.is_some() && (is_full || increased(before.hits, pids.hits)) {
            return vec![of_cgroup()];
        }
        let mut limits = self.set([(LimitKind::Processes, self.after.processes)]);
        // Its refusals are not counted everywhere (before Linux 4.3), and processes end meanwhile.
        if pids.limit.is_some() && pids.hits.is_none() {
            limits.push(of_cgroup());
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

    /// A file that every system has, of an error that names none or that one.
    fn missing(&self) -> Vec<SystemLimit> {
        // What cannot be had without /dev/urandom are random numbers.
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
                    return vec![self.of_cgroup(LimitKind::CgroupMemory, memory)];
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
