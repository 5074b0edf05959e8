//! Explains the end of a worker by the limits of the system.

use proofmark_model::{Ending, Seen, SystemState, clean_excerpt, limit_reached};
use proofmark_process::Ended;

/// The limits of the system as they were before an activity that they may end.
pub(super) struct Limits {
    read: fn() -> SystemState,
    before: SystemState,
}

impl Limits {
    pub(super) fn new(read: fn() -> SystemState) -> Self {
        Self { read, before: read() }
    }

    /// Reads the limits again, before the next activity.
    pub(super) fn renew(&mut self) {
        self.before = (self.read)();
    }

    /// Explains the end of a worker, or why it could not be started. `ended` is `None` if it did
    /// not end by itself.
    pub(super) fn ending(&self, ended: Option<Ended>, words: &str) -> Ending {
        let signal = ended.and_then(|e| e.exit.signal());
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

    /// Explains the refusal of a worker that still runs.
    pub(super) fn refusal(&self, reason: String) -> Ending {
        let seen = Seen { words: &reason, ..Seen::default() };
        match limit_reached(&seen, &self.before, &(self.read)()) {
            Some(limit) => Ending::Limited { limit, detail: reason },
            None => Ending::Refused { reason },
        }
    }
}

/// The beginning of another process's text, cleaned.
pub(super) fn excerpt(text: &str) -> String {
    let excerpt = clean_excerpt(text.trim(), 300);
    let cut = if excerpt.len() < text.trim().len() { "..." } else { "" };
    excerpt + cut
}
