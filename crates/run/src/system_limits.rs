//! Errors of what a run starts, with the limit of the system that they are due to.

use proofmark_host::{Root, system_state};
use proofmark_model::{Seen, SystemState, limit_reached};

/// The limits of the system and its counters now.
pub(crate) fn state() -> SystemState {
    system_state(&Root::live())
}

/// An error, or how a process ended, with the limit that explains it, if one does. The process
/// began when the system was in that state.
pub(crate) fn explained(error: String, signal: Option<&str>, before: &SystemState) -> String {
    let seen = Seen { signal, words: &error, cpu_s: None };
    match limit_reached(&seen, before, &state()) {
        Some(limit) => limit.explain(&error),
        None => error,
    }
}
