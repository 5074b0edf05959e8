//! Explains errors of child processes by the limits of the system.

use proofmark_host::{Root, system_state};
use proofmark_model::{Seen, SystemState, limit_reached};

/// Reads the limits and counters of the system.
pub(crate) fn state() -> SystemState {
    system_state(&Root::live())
}

/// Adds the limit that explains an error or the end of a process, if one does. `before` is the
/// state of the system when the process started.
pub(crate) fn explained(error: String, signal: Option<&str>, before: &SystemState) -> String {
    let seen = Seen { signal, words: &error, cpu_s: None };
    match limit_reached(&seen, before, &state()) {
        Some(limit) => limit.explain(&error),
        None => error,
    }
}
