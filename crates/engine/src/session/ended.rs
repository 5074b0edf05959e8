//! How a worker ended, and which limit of the system explains it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use proofmark_model::{Ending, Seen, SystemState, clean_excerpt, limit_reached};

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// CPU time that it took, in seconds; `None` where /proc does not say.
    cpu_s: Option<f64>,
}

impl Ended {
    /// `None` while it runs.
    pub(super) fn of(child: &mut Child) -> Option<Self> {
        // A process that has ended keeps its account until it is waited for.
        let cpu_s = cpu_seconds(child.id());
        let status = child.try_wait().ok().flatten()?;
        Some(Self { status, cpu_s })
    }
}

/// User and system time of a process with all its threads.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let all = ticks()?.saturating_add(ticks()?);
    Some(all as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The limits of the system as they were before something began that they may end.
pub(super) struct Limits {
    read: fn() -> SystemState,
    before: SystemState,
}

impl Limits {
    pub(super) fn new(read: fn() -> SystemState) -> Self {
        Self { read, before: read() }
    }

    /// Something else begins.
    pub(super) fn renew(&mut self) {
        self.before = (self.read)();
    }

    /// The end of a worker, or why it could not be started; `None`: it did not end by itself.
    pub(super) fn ending(&self, ended: Option<Ended>, words: &str) -> Ending {
        let signal = ended.and_then(|e| e.status.signal()).map(signal_name);
        let cpu_s = ended.and_then(|e| e.cpu_s);
        let seen = Seen { signal: signal.as_deref(), words, cpu_s };
        match (limit_reached(&seen, &self.before, &(self.read)()), signal) {
            (None, signal) => Ending::Crashed { signal, detail: excerpt(words) },
            (Some(limit), None) => Ending::Limited { limit, detail: excerpt(words) },
            (Some(limit), Some(signal)) => {
                Ending::Limited { limit, detail: format!("{signal}; {}", excerpt(words)) }
            }
        }
    }

    /// What a worker that lives cannot do.
    pub(super) fn refusal(&self, reason: String) -> Ending {
        let seen = Seen { words: &reason, ..Seen::default() };
        match limit_reached(&seen, &self.before, &(self.read)()) {
            Some(limit) => Ending::Limited { limit, detail: reason },
            None => Ending::Refused { reason },
        }
    }
}

/// The beginning of a text of another process, cleaned.
pub(super) fn excerpt(text: &str) -> String {
    let excerpt = clean_excerpt(text.trim(), 300);
    let cut = if excerpt.len() < text.trim().len() { "..." } else { "" };
    excerpt + cut
}

/// `SIGKILL`, or `signal 40`.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
