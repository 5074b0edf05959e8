//! Whose trial a row is, where reference tools ran.

use proofmark_model::{Reference, Run, Verdict};

use super::{Shot, guarded};

/// The names of the columns, in the order of [`Whose::cells`].
pub const COLUMNS: [&str; 3] = ["tool", "tool_version", "command"];

/// Whether any tool ran.
pub fn any(run: &Run) -> bool {
    run.measurements.iter().any(|m| !m.references.is_empty())
}

/// Whose trial it is.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'a> {
    tool: &'a str,
    version: &'a str,
    command: &'a str,
    /// Of that tool's number; `None` for the measurement's own.
    pub verdict: Option<Verdict>,
}

impl<'a> Whose<'a> {
    /// Our own.
    pub fn ours(run: &'a Run) -> Self {
        Self { tool: "proofmark", version: &run.tool.version, command: "", verdict: None }
    }

    /// A tool's.
    fn theirs(r: &'a Reference) -> Self {
        let verdict = Some(r.verdict);
        Self { tool: &r.tool, version: &r.version, command: &r.command, verdict }
    }

    /// The cells.
    pub fn cells(self) -> [String; 3] {
        [self.tool, self.version, self.command].map(guarded)
    }
}

/// A tool's trials, with what is known of each where that is known of all.
pub fn shots(r: &Reference) -> impl Iterator<Item = (Option<Whose<'_>>, Shot<'_>)> {
    let known = r.evidence.len() == r.trials.len();
    r.trials.iter().enumerate().map(move |(at, value)| {
        let trial = r.evidence.get(at).filter(|_| known);
        (Some(Whose::theirs(r)), Shot { at, value: *value, trial })
    })
}
