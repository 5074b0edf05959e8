//! The error output of the loopback server. A limit of the system that the server met ends a
//! configuration like one that the run met itself.

use proofmark_engine::{Request, Session, Taken};
use proofmark_model::{Ending, LimitReached, Seen, SystemState, clean_excerpt, limit_reached};
use proofmark_process::Capture;

use crate::system_limits::{explained, state};

/// Maximum bytes of the server's output that are kept.
pub(super) const MAX_OUTPUT: usize = 64 << 10;

/// The standard error of the run's own server.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerOutput {
    text: Capture,
    /// The limits of the system before it started.
    before: SystemState,
}

impl ServerOutput {
    pub(super) fn new(text: Capture, before: SystemState) -> Self {
        Self { text, before }
    }

    /// The limit of the system that the server met, and the text that shows it.
    fn limit(&self) -> Option<(LimitReached, String)> {
        let all = self.text.text();
        let after = state();
        let limit_in =
            |words| limit_reached(&Seen { words, ..Seen::default() }, &self.before, &after);
        let limit = limit_in(&all)?;
        // A crash has several lines; then the whole text counts.
        let line = all.lines().rev().find(|line| limit_in(line).as_ref() == Some(&limit));
        let text = line.unwrap_or(&all).trim().trim_start_matches("proofmark: ");
        let text = clean_excerpt(text, 400);
        Some((limit, text))
    }

    /// An error on the run's side, with the limit that the server met.
    pub(super) fn explained(&self, error: &dyn std::fmt::Display) -> String {
        match self.limit() {
            Some((limit, words)) => limit.explain(&words),
            None => explained(error.to_string(), None, &self.before),
        }
    }

    /// The end of a configuration, with the limit that the server met.
    pub(super) fn limited(&self, ending: Ending) -> Ending {
        match (&ending, self.limit()) {
            (Ending::Refused { .. } | Ending::Crashed { .. }, Some((limit, words))) => {
                Ending::Limited { limit, detail: format!("the loopback server: {words}") }
            }
            _ => ending,
        }
    }
}

/// A session of a network configuration. Its end may be due to a limit that the server met.
pub(super) struct ServedSession {
    pub(super) session: Box<dyn Session>,
    pub(super) output: ServerOutput,
}

impl Session for ServedSession {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        self.session.take(request).map_err(|ending| self.output.limited(ending))
    }
}
