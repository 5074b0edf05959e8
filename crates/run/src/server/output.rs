//! What the loopback server says: a limit of the system that it met ends a point as one that the run
//! met itself.

use proofmark_engine::{Request, Session, Taken};
use proofmark_model::{Ending, LimitReached, Seen, SystemState, clean_excerpt, limit_reached};
use proofmark_process::Capture;

use crate::system_limits::{explained, state};

/// Most bytes that are kept of what a server of this run's own says.
pub(super) const MOST_SAID: usize = 64 << 10;

/// What a server of this run's own says on its standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    words: Capture,
    /// The limits of the system before it was started.
    before: SystemState,
}

impl Said {
    pub(super) fn new(words: Capture, before: SystemState) -> Self {
        Self { words, before }
    }

    /// The limit of the system that it met, and the text that shows it.
    fn limit(&self) -> Option<(LimitReached, String)> {
        let said = self.words.text();
        let after = state();
        let limit_in =
            |words| limit_reached(&Seen { words, ..Seen::default() }, &self.before, &after);
        let limit = limit_in(&said)?;
        // A crash takes several lines: then all of the text.
        let line = said.lines().rev().find(|line| limit_in(line).as_ref() == Some(&limit));
        let text = line.unwrap_or(&said).trim().trim_start_matches("proofmark: ");
        let text = clean_excerpt(text, 400);
        Some((limit, text))
    }

    /// An error of the run's side, with the limit that the server met.
    pub(super) fn explained(&self, error: &dyn std::fmt::Display) -> String {
        match self.limit() {
            Some((limit, words)) => limit.explain(&words),
            None => explained(error.to_string(), None, &self.before),
        }
    }

    /// How a point ended, with the limit that the server met.
    pub(super) fn limited(&self, ending: Ending) -> Ending {
        match (&ending, self.limit()) {
            (Ending::Refused { .. } | Ending::Crashed { .. }, Some((limit, words))) => {
                Ending::Limited { limit, detail: format!("the loopback server: {words}") }
            }
            _ => ending,
        }
    }
}

/// A session of a network point: what ends it may be a limit that the server met.
pub(super) struct ServedSession {
    pub(super) session: Box<dyn Session>,
    pub(super) said: Said,
}

impl Session for ServedSession {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        self.session.take(request).map_err(|ending| self.said.limited(ending))
    }
}
