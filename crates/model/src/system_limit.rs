//! Limits of the system, and the choice of the one that explains how something ended.
//!
//! [`SystemState`] has the limits and counters; [`limit_reached`] decides from them and from the
//! observed end. Workers, servers, reference tools and the program's own errors all use it.
//!
//! Sources: getrlimit(2), fork(2), mmap(2), pthread_create(3), Linux
//! `Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/pids.rst` and `cgroup-v1/memory.rst`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{counted, format_size};

mod explain;

pub use explain::{Seen, limit_reached};

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Open files of a process: `RLIMIT_NOFILE`.
    OpenFiles,
    /// Open files of the whole system.
    SystemOpenFiles,
    /// Bytes of a file: `RLIMIT_FSIZE`.
    FileSize,
    /// Processes and threads of a user: `RLIMIT_NPROC`.
    Processes,
    /// Processes and threads of a cgroup: `pids.max`.
    CgroupProcesses,
    /// Processes and threads of the whole system.
    SystemProcesses,
    /// Bytes of the first thread's stack: `RLIMIT_STACK`.
    Stack,
    /// Bytes of address space of a process: `RLIMIT_AS`.
    AddressSpace,
    /// Bytes of data of a process: `RLIMIT_DATA`.
    Data,
    /// Seconds of CPU time of a process: `RLIMIT_CPU`.
    CpuTime,
    /// Bytes of memory of a cgroup.
    CgroupMemory,
    /// Bytes of memory of the whole machine.
    SystemMemory,
    /// A file that every system should have, and this one does not.
    MissingFile,
}

/// A limit of the system with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemLimit {
    /// Kind of the limit.
    pub kind: LimitKind,
    /// Files, processes, bytes or seconds; `None` where unknown, and for a missing file.
    pub value: Option<u64>,
    /// The file that sets it, of a cgroup or of the system; or the missing file.
    pub source: Option<String>,
}

/// The limit that explains how something ended; several where any of them may be the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitReached {
    /// The limits, at least one.
    pub limits: Vec<SystemLimit>,
}

/// A cgroup's limit and how often it was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupLimit {
    /// Processes or bytes; `None` for no limit.
    pub limit: Option<u64>,
    /// Processes or bytes that count against it now.
    pub used: Option<u64>,
    /// Times that something was refused or killed because of it so far.
    pub hits: Option<u64>,
    /// The file of the limit.
    pub file: String,
}

/// The limits of a process, and the system's counters that show that one was reached. `None`: no
/// such limit, or it cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemState {
    /// Files of a process.
    pub open_files: Option<u64>,
    /// Bytes of a file.
    pub file_size: Option<u64>,
    /// Processes and threads of this user; `None` also for root, whom the kernel does not limit.
    pub processes: Option<u64>,
    /// Bytes of the first thread's stack.
    pub stack: Option<u64>,
    /// Bytes of address space.
    pub address_space: Option<u64>,
    /// Bytes of data.
    pub data: Option<u64>,
    /// Seconds of CPU time.
    pub cpu_s: Option<u64>,
    /// Processes and threads of the cgroup.
    pub cgroup_processes: CgroupLimit,
    /// Memory of the cgroup; hits are processes that the out-of-memory killer ended.
    pub cgroup_memory: CgroupLimit,
    /// Processes and threads that the system allows.
    pub system_processes: Option<u64>,
    /// Files that the system allows.
    pub system_open_files: Option<u64>,
    /// Processes that the system's out-of-memory killer ended so far.
    pub system_oom_kills: Option<u64>,
    /// Bytes of memory of the machine.
    pub memory: Option<u64>,
    /// Missing files that every system should have.
    pub missing: Vec<String>,
}

impl SystemLimit {
    /// Describes the limit: `the limit of 12 open files (RLIMIT_NOFILE)`.
    pub fn describe(&self) -> String {
        use LimitKind::*;
        let count = |what: &str| self.value.map_or(format!("{what}s"), |n| counted(n, what));
        let bytes = |of: &str| match self.value {
            Some(bytes) => format!("{} {of}", format_size(bytes)),
            None => of.to_owned(),
        };
        let processes = || match self.value {
            Some(n) => format!("{n} processes and threads"),
            None => "processes and threads".to_owned(),
        };
        let file = self.source.as_deref().unwrap_or("its file is unknown");
        match self.kind {
            OpenFiles => format!("the limit of {} (RLIMIT_NOFILE)", count("open file")),
            SystemOpenFiles => format!("the system's limit of {} ({file})", count("open file")),
            FileSize => format!("the limit of {} (RLIMIT_FSIZE)", bytes("per file")),
            Processes => format!("this user's limit of {} (RLIMIT_NPROC)", processes()),
            CgroupProcesses => format!("the cgroup's limit of {} ({file})", processes()),
            SystemProcesses => format!("the system's limit of {} ({file})", processes()),
            Stack => format!("the limit of {} (RLIMIT_STACK)", bytes("of stack")),
            AddressSpace => format!("the limit of {} (RLIMIT_AS)", bytes("of address space")),
            Data => format!("the limit of {} (RLIMIT_DATA)", bytes("of data")),
            CpuTime => format!("the limit of {} s of CPU time (RLIMIT_CPU)", self.value_or("some")),
            CgroupMemory => format!("the cgroup's limit of {} ({file})", bytes("of memory")),
            SystemMemory => match self.value {
                Some(total) => format!("the {} of memory of this machine", format_size(total)),
                None => "the memory of this machine".to_owned(),
            },
            MissingFile => format!("the missing file {file}"),
        }
    }

    fn value_or(&self, other: &str) -> String {
        self.value.map_or_else(|| other.to_owned(), |value| value.to_string())
    }

    /// Returns the action to take.
    fn action(&self) -> &'static str {
        use LimitKind::*;
        match self.kind {
            OpenFiles => "raise RLIMIT_NOFILE (`ulimit -n`; LimitNOFILE= of a service)",
            SystemOpenFiles => "raise fs.file-max with sysctl",
            FileSize => "raise RLIMIT_FSIZE (`ulimit -f`; LimitFSIZE= of a service)",
            Processes => "raise RLIMIT_NPROC (`ulimit -u`), or use fewer --threads",
            CgroupProcesses => {
                "raise pids.max (--pids-limit of a container), or use fewer --threads"
            }
            SystemProcesses => "raise kernel.threads-max with sysctl, or use fewer --threads",
            Stack => "raise RLIMIT_STACK (`ulimit -s`)",
            AddressSpace => "raise RLIMIT_AS (`ulimit -v`), or measure with less data",
            Data => "raise RLIMIT_DATA (`ulimit -d`), or measure with less data",
            CpuTime => "raise RLIMIT_CPU (`ulimit -t`), or measure for a shorter time",
            CgroupMemory => "raise the cgroup's memory limit, or measure with less data",
            SystemMemory => "stop other programs, or measure with less data",
            MissingFile => "mount a complete /dev and /proc",
        }
    }
}

impl LimitReached {
    /// Makes the result with that one limit.
    pub fn one(limit: SystemLimit) -> Self {
        Self { limits: vec![limit] }
    }

    /// Describes the cause, to follow "because of": `the limit of 12 open files (RLIMIT_NOFILE)`.
    pub fn cause(&self) -> String {
        self.joined(SystemLimit::describe)
    }

    /// Returns the action to take.
    pub fn action(&self) -> String {
        self.joined(|limit| limit.action().to_owned())
    }

    fn joined(&self, words: impl Fn(&SystemLimit) -> String) -> String {
        self.limits.iter().map(words).collect::<Vec<_>>().join(", or ")
    }

    /// Adds the limit that explains it to an error: `no room: caused by the limit ...; raise ...`.
    /// An error that already has it, as another process's may, stays.
    pub fn explain(&self, error: &str) -> String {
        if error.contains(&self.cause()) {
            return error.to_owned();
        }
        format!("{error}: caused by {}; {}", self.cause(), self.action())
    }
}

#[cfg(test)]
mod tests;
