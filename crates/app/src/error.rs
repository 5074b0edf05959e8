//! How the program ends, as an exit status.

use std::process::ExitCode;

use proofmark_run::RunError;
pub use proofmark_run::Usage;

/// A mistake in what was typed or in a file that was named, for `anyhow`: exit status 2.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}

/// What a command that did its work ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All is well: 0.
    Done,
    /// The run failed: 1.
    Failed,
    /// Done, but something is invalid, or not what the exit status was to ask for: 3.
    Doubtful,
    /// `check`: a result is slower or gone, or a requirement is missed: 4.
    CheckFailed,
    /// `check`: a requirement is undecided, and none is missed: 5.
    Undecided,
    /// As another program ended that was run.
    Status(i32),
    /// Stopped by a signal after keeping what was measured: 128 and its number.
    Stopped(i32),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Doubtful => 3,
            Outcome::CheckFailed => 4,
            Outcome::Undecided => 5,
            Outcome::Status(status) => u8::try_from(status).unwrap_or(1),
            Outcome::Stopped(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
        })
    }
}

/// The exit status of an error: 2 for one of usage, else 1.
pub fn status_of(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<Usage>() || matches!(error.downcast_ref(), Some(RunError::Usage(_)));
    ExitCode::from(if is_usage { 2 } else { 1 })
}

/// One meaning of an exit status: the help, `explain exit_status` and the manual pages are made from this.
pub struct Status {
    /// The number, as it is printed.
    pub code: &'static str,
    /// It in one or two words.
    pub word: &'static str,
    /// What happened.
    pub about: &'static str,
    /// The commands that end so; none: all.
    pub commands: &'static [&'static str],
}

impl Status {
    /// What happened, after the commands that end so.
    pub fn line(&self) -> String {
        match self.commands {
            [] => self.about.to_owned(),
            commands if commands.len() > MANY => format!("Other commands: {}", self.about),
            commands => format!("{}: {}", commands.join(", "), self.about),
        }
    }
}

/// More commands than these are the other ones.
const MANY: usize = 5;

/// Commands that print or write.
const OTHERS: &[&str] =
    &["info", "list", "explain", "report", "compare", "history", "schema", "completions", "man"];

const fn status(
    code: &'static str,
    word: &'static str,
    commands: &'static [&'static str],
    about: &'static str,
) -> Status {
    Status { code, word, about, commands }
}

/// Every exit status.
pub const STATUSES: &[Status] = &[
    status(
        "0",
        "done",
        &["run", "noise", "endure", "import", "audit"],
        "Completed, no result is invalid.",
    ),
    status(
        "0",
        "done",
        &["check"],
        "No result is slower or missing, at least half of the baseline's could be compared, and every requirement is met.",
    ),
    status("0", "done", &["fleet"], "Every node is healthy, or there are too few to compare them."),
    status("0", "done", &["serve"], "Stopped by SIGINT or SIGTERM (the normal end)."),
    status("0", "done", OTHERS, "Done."),
    status("1", "failed", &[], "The command failed; standard error has the reason."),
    status(
        "1",
        "failed",
        &["run", "noise", "endure"],
        "Nothing could be run, or a limit of the system (such as RLIMIT_NOFILE) or a lost server ended a result. The other results are kept.",
    ),
    status("2", "usage", &[], "Invalid argument or input file."),
    status(
        "3",
        "invalid",
        &["run", "noise", "endure", "import"],
        "A result is invalid, or suspect with --strict, or coarser than --precision. The report has the cause.",
    ),
    status("3", "invalid", &["audit"], "A figure is invalid, or suspect with --strict."),
    status(
        "4",
        "check failed",
        &["check"],
        "A result is slower than in the baseline, missing or invalid; fewer than half of the baseline's results could be compared; or a requirement is missed.",
    ),
    status("4", "check failed", &["fleet"], "A node, or the link between two, is slow."),
    status(
        "5",
        "undecided",
        &["check"],
        "A requirement is undecided: its limit lies within the figure's 95 % interval, or there is no figure to rely on. None is missed.",
    ),
    status("5", "undecided", &["fleet"], "A node is unverified, and none is slow."),
    status(
        "128 + n",
        "stopped by signal n",
        &["run", "noise", "endure"],
        "Stopped by signal n, after saving what was measured. A second signal ends the run at once: the run file stays as last saved, without a report.",
    ),
    status("128 + n", "stopped by signal n", &["fleet"], "Stopped by signal n; --resume goes on."),
];

/// Every status but those of signals in a word: `0 done, 1 failed, ...`.
pub fn statuses_in_words() -> String {
    let numbers = STATUSES.iter().filter(|s| s.code.len() == 1);
    let mut words: Vec<String> = numbers.map(|s| format!("{} {}", s.code, s.word)).collect();
    words.dedup();
    words.join(", ")
}
