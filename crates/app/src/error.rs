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
pub fn status(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<Usage>() || matches!(error.downcast_ref(), Some(RunError::Usage(_)));
    ExitCode::from(if is_usage { 2 } else { 1 })
}
