//! The end of a process: as data, and in words.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use proofmark_model::excerpt;

/// The base of a shell's status for a killed command: the status minus this is the signal's number.
const KILLED: i32 = 128;

/// The exit of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The process ended by itself, with this status.
    Status(i32),
    /// This signal killed the process.
    Signal(i32),
}

impl Exit {
    /// Returns the exit of a process that a shell reported: status 139 is SIGSEGV. A process that
    /// replaces another one reports its death in the same way.
    pub fn from_shell(self) -> Self {
        match self {
            Self::Status(status) if status > KILLED => Self::Signal(status - KILLED),
            exit => exit,
        }
    }

    /// Returns the status with which a shell reports this exit.
    pub fn shell_status(self) -> i32 {
        match self {
            Self::Status(status) => status,
            Self::Signal(signal) => KILLED + signal,
        }
    }

    /// Returns true if the process reported success.
    pub fn is_success(self) -> bool {
        self == Self::Status(0)
    }

    /// Returns the exit with the last line that the process wrote: `exited with status 3: no disk`.
    pub fn with_last_line(self, words: &str) -> String {
        match last_line(words) {
            Some(line) => format!("{self}: {line}"),
            None => self.to_string(),
        }
    }

    /// Returns the name of the signal that killed the process: `SIGKILL`, or `signal 40`.
    pub fn signal(self) -> Option<String> {
        let Self::Signal(signal) = self else { return None };
        let name = signal_hook::low_level::signal_name(signal);
        Some(name.map_or_else(|| format!("signal {signal}"), str::to_owned))
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Status(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Exit {
    /// Writes `exited with status 3` or `was killed by SIGKILL`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.signal()) {
            (_, Some(signal)) => write!(f, "was killed by {signal}"),
            (Self::Status(status) | Self::Signal(status), None) => {
                write!(f, "exited with status {status}")
            }
        }
    }
}

/// Returns the last line of a text that is not blank, cleaned and shortened to 200 characters.
pub fn last_line(text: &str) -> Option<String> {
    const LETTERS: usize = 200;
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(excerpt(last, LETTERS))
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// The exit.
    pub exit: Exit,
    /// The CPU time of all its threads, in seconds; `None` where /proc does not report it.
    pub cpu_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_comes_with_the_last_line() {
        let exit = Exit::Status(3);
        assert_eq!(exit.with_last_line("first\nno disk \n\n"), "exited with status 3: no disk");
        assert_eq!(exit.with_last_line("\n \n"), "exited with status 3");
    }

    #[test]
    fn an_exit_has_one_wording() {
        for (exit, words) in [
            (Exit::Status(0), "exited with status 0"),
            (Exit::Status(139), "exited with status 139"),
            (Exit::Status(139).from_shell(), "was killed by SIGSEGV"),
            (Exit::Status(128).from_shell(), "exited with status 128"),
            (Exit::Signal(9), "was killed by SIGKILL"),
            (Exit::Signal(40), "was killed by signal 40"),
        ] {
            assert_eq!(exit.to_string(), words);
            assert_eq!(exit.from_shell().shell_status(), exit.shell_status());
        }
    }
}
