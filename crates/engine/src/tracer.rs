//! Detects a process that traces a thread (ptrace), which stops it at each system call or signal.
//!
//! Source: proc_pid_status(5), `TracerPid`. Linux does not report seccomp filters that hand system
//! calls to another process.

use std::fs;

/// The process that traces a thread, as the system reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Tracer {
    /// The system does not report it.
    #[default]
    Unknown,
    None,
    /// The name of the process, or its id if the name cannot be read.
    By(String),
}

impl Tracer {
    /// The tracer of the calling thread.
    pub(crate) fn for_this_thread() -> Self {
        Self::from_status(&fs::read_to_string("/proc/thread-self/status").unwrap_or_default())
    }

    /// The tracer of any thread of this process. Reads at most `most` threads.
    pub(crate) fn for_this_process(most: usize) -> Self {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten().take(most);
        let of_task = |task: fs::DirEntry| {
            Self::from_status(&fs::read_to_string(task.path().join("status")).unwrap_or_default())
        };
        tasks.map(of_task).fold(Self::Unknown, Self::or)
    }

    fn from_status(text: &str) -> Self {
        let field = text.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        match field.and_then(|value| value.trim().parse::<u32>().ok()) {
            None => Self::Unknown,
            Some(0) => Self::None,
            Some(pid) => {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                let name = name.trim();
                Self::By(if name.is_empty() { format!("process {pid}") } else { name.to_owned() })
            }
        }
    }

    /// The tracer at either of two moments, or of either of two threads.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (by @ Self::By(_), _) | (_, by @ Self::By(_)) => by,
            (Self::None, _) | (_, Self::None) => Self::None,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        if let Self::By(name) = self { Some(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_is_named_and_none_is_not_unknown() {
        let own = std::process::id();
        let named = Tracer::from_status(&format!("Name:\tx\nTracerPid:\t{own}\nUid:\t0\n"));
        assert!(named.name().is_some_and(|name| !name.is_empty()), "{named:?}");
        let gone = Tracer::from_status("TracerPid:\t4294967295\n");
        assert_eq!(gone.name(), Some("process 4294967295"));
        assert_eq!(Tracer::from_status("TracerPid:\t0\n"), Tracer::None);
        assert_eq!(Tracer::from_status("Name:\tx\n"), Tracer::Unknown);
        assert_eq!(Tracer::Unknown.or(Tracer::None), Tracer::None);
        assert_eq!(Tracer::None.or(named.clone()), named);
        assert_eq!(Tracer::for_this_process(0), Tracer::Unknown);
    }
}
