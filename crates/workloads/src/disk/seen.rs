//! The reports of a configuration's threads about its last trial.

use std::sync::{Mutex, MutexGuard};

use proofmark_model::{FileState, lock};

/// The requested bytes of each thread, and the file's state as observed by one of them.
pub(super) struct Seen(Mutex<State>);

struct State {
    /// Bytes that each thread requested to read and to write.
    requested: Vec<[u64; 2]>,
    file: FileState,
}

impl Seen {
    pub(super) fn new(threads: u64) -> Self {
        let requested = vec![[0, 0]; threads as usize];
        Self(Mutex::new(State { requested, file: FileState::default() }))
    }

    /// Sets the bytes that a thread requested to read and to write in this trial.
    pub(super) fn set_requested(&self, thread: usize, bytes: [u64; 2]) {
        self.state().requested[thread] = bytes;
    }

    /// Updates the observed state of the file.
    pub(super) fn update_file(&self, change: impl FnOnce(&mut FileState)) {
        change(&mut self.state().file);
    }

    /// Returns the observed state, with the requested bytes of all threads.
    pub(super) fn file(&self) -> FileState {
        let state = self.state();
        let all = |direction: usize| state.requested.iter().map(|bytes| bytes[direction]).sum();
        FileState { asked_read_bytes: all(0), asked_written_bytes: all(1), ..state.file.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}
