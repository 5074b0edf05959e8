//! Exit statuses: outcomes of commands, errors, and the table that help and manual pages print.

use std::process::ExitCode;

use proofmark_model::Decision;
use proofmark_run::RunError;
pub use proofmark_run::Usage;

/// Returns an error for an invalid argument or input file: exit status 2.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}

/// The numbers of the exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    Done = Decision::Met.exit_status(),
    Failed = 1,
    Usage = 2,
    Invalid = 3,
    CheckFailed = Decision::Missed.exit_status(),
    Undecided = Decision::Undecided.exit_status(),
}

impl Code {
    /// The status in one or two words.
    const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Invalid => "invalid",
            Self::CheckFailed => "check failed",
            Self::Undecided => "undecided",
        }
    }
}

/// The end of a command that returned no error. [`STATUSES`] has the meanings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed,
    Invalid,
    CheckFailed,
    Undecided,
    /// Another program's exit status, which becomes the command's.
    Status(i32),
    /// The number of the signal that stopped the command. It kept its results.
    Stopped(i32),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => Code::Done as u8,
            Outcome::Failed => Code::Failed as u8,
            Outcome::Invalid => Code::Invalid as u8,
            Outcome::CheckFailed => Code::CheckFailed as u8,
            Outcome::Undecided => Code::Undecided as u8,
            Outcome::Status(status) => u8::try_from(status).unwrap_or(Code::Failed as u8),
            Outcome::Stopped(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
        })
    }
}

/// Returns the exit status of an error.
pub fn status_of(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<Usage>() || matches!(error.downcast_ref(), Some(RunError::Usage(_)));
    ExitCode::from(if is_usage { Code::Usage } else { Code::Failed } as u8)
}

/// One meaning of an exit status, for the help, `explain exit_status` and the manual pages.
pub struct Status {
    /// The number; `None`: 128 and the number of a signal.
    code: Option<Code>,
    /// The cause.
    pub about: &'static str,
    /// The commands for which the status has this meaning; empty: all.
    pub commands: &'static [&'static str],
}

impl Status {
    /// The number as text: `3`, or `128 + n`.
    pub fn number(&self) -> String {
        self.code.map_or_else(|| "128 + n".to_owned(), |code| (code as u8).to_string())
    }

    /// The cause, after the commands for which the status has this meaning.
    pub fn line(&self) -> String {
        match self.commands {
            [] => self.about.to_owned(),
            commands if commands.len() > MANY => format!("Other commands: {}", self.about),
            commands => format!("{}: {}", commands.join(", "), self.about),
        }
    }
}

/// Commands up to which a line names each; more are "other commands".
const MANY: usize = 5;

/// Commands that print or write.
const OTHERS: &[&str] =
    &["info", "list", "explain", "report", "compare", "history", "schema", "completions", "man"];

const fn status(code: Code, commands: &'static [&'static str], about: &'static str) -> Status {
    Status { code: Some(code), about, commands }
}

const fn stopped(commands: &'static [&'static str], about: &'static str) -> Status {
    Status { code: None, about, commands }
}

/// Every exit status.
pub const STATUSES: &[Status] = &[
    status(
        Code::Done,
        &["run", "noise", "endure", "import", "audit"],
        "Completed, no result is invalid.",
    ),
    status(
        Code::Done,
        &["check"],
        "No result is slower, gone or undecided, the run had time for all that it planned, at least half of the baseline's could be judged, and every requirement is met.",
    ),
    status(Code::Done, &["fleet"], "Every node is healthy, or there are too few to compare them."),
    status(Code::Done, &["serve"], "Stopped by SIGINT or SIGTERM (the normal end)."),
    status(Code::Done, OTHERS, "Done."),
    status(Code::Failed, &[], "The command failed; standard error has the reason."),
    status(
        Code::Failed,
        &["run", "noise", "endure"],
        "Nothing could be run, or a limit of the system (such as RLIMIT_NOFILE) or a lost server ended a result. The other results are kept.",
    ),
    status(Code::Usage, &[], "Invalid argument or input file."),
    status(
        Code::Invalid,
        &["run", "noise", "endure", "import"],
        "A result is invalid, or suspect with --strict, or coarser than --precision. The report has the cause.",
    ),
    status(Code::Invalid, &["audit"], "A figure is invalid, or suspect with --strict."),
    status(
        Code::CheckFailed,
        &["check"],
        "A result is slower than in the baseline, or gone: the baseline has it, and here it is missing or invalid. What the run left out for its time limit is not gone. Or a requirement is missed.",
    ),
    status(Code::CheckFailed, &["fleet"], "A node, or the link between two, is slow."),
    status(
        Code::Undecided,
        &["check"],
        "Nothing fails, but something is undecided. A result: its figures and its rounds lead to different conclusions. The run had no time left for a result that it planned and the baseline has. The comparison: fewer than half of the baseline's results could be judged, which a plan too long for its time limit may cause (raise --budget), or last-good finds no baseline. A requirement: its limit lies within the figure's 95 % interval, or its result is suspect, invalid or not measured. Measure again on a quiet machine (run --wait-quiet) or with more --trials, or set a limit outside the interval.",
    ),
    status(Code::Undecided, &["fleet"], "A node is unverified, and none is slow."),
    stopped(
        &["run", "noise", "endure"],
        "Stopped by signal n, after saving what was measured. A second signal ends the run at once: the run file stays as last saved, without a report.",
    ),
    stopped(&["fleet"], "Stopped by signal n; --resume goes on."),
];

/// Lists the statuses but those of signals: `0 done, 1 failed, ...`.
pub fn statuses_in_words() -> String {
    let codes = STATUSES.iter().filter_map(|status| status.code);
    let mut words: Vec<String> = codes.map(|c| format!("{} {}", c as u8, c.word())).collect();
    words.dedup();
    words.join(", ")
}
