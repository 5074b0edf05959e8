//! The reports of a configuration's threads about its last trial.

use std::sync::{Mutex, MutexGuard};

use proofmark_model::{FileState, lock};

/// The report of each thread, and the file's state as observed by one of them.
pub(super) struct Seen(Mutex<State>);

/// A thread's report about its part of a trial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Of {
    /// Bytes that it requested to read and to write.
    pub(super) requested: [u64; 2],
    /// Mean number of its I/Os in flight; `None` where it has no queue, or did not time each I/O.
    pub(super) in_flight: Option<f64>,
}

struct State {
    threads: Vec<Of>,
    file: FileState,
}

impl Seen {
    pub(super) fn new(threads: u64) -> Self {
        let threads = vec![Of::default(); threads as usize];
        Self(Mutex::new(State { threads, file: FileState::default() }))
    }

    /// Stores a thread's report about this trial.
    pub(super) fn report(&self, thread: usize, report: Of) {
        self.state().threads[thread] = report;
    }

    /// Updates the observed state of the file.
    pub(super) fn update_file(&self, change: impl FnOnce(&mut FileState)) {
        change(&mut self.state().file);
    }

    /// Returns the observed state, with the requested bytes of all threads and the mean of their
    /// I/Os in flight.
    pub(super) fn file(&self) -> FileState {
        let state = self.state();
        let all = |way: usize| state.threads.iter().map(|of| of.requested[way]).sum();
        let in_flight: Option<f64> = state.threads.iter().map(|of| of.in_flight).sum();
        FileState {
            asked_read_bytes: all(0),
            asked_written_bytes: all(1),
            in_flight: in_flight.map(|sum| sum / state.threads.len() as f64),
            ..state.file.clone()
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}
