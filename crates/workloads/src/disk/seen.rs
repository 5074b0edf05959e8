//! What the threads of a point report about its last trial.

use std::sync::{Mutex, MutexGuard};

use proofmark_model::{FileState, lock};

/// The requests of each thread, and the file's state as seen by one of them.
pub(super) struct Seen(Mutex<State>);

struct State {
    /// Bytes that each thread asked to read and to write.
    asked: Vec<[u64; 2]>,
    file: FileState,
}

impl Seen {
    pub(super) fn new(threads: u64) -> Self {
        let asked = vec![[0, 0]; threads as usize];
        Self(Mutex::new(State { asked, file: FileState::default() }))
    }

    /// A thread asked for these bytes to be read and written, in place of the previous trial's.
    pub(super) fn asked(&self, thread: usize, bytes: [u64; 2]) {
        self.state().asked[thread] = bytes;
    }

    /// A thread saw this of the file.
    pub(super) fn saw(&self, change: impl FnOnce(&mut FileState)) {
        change(&mut self.state().file);
    }

    /// What was seen, and what all threads asked for together.
    pub(super) fn file(&self) -> FileState {
        let state = self.state();
        let all = |way: usize| state.asked.iter().map(|bytes| bytes[way]).sum();
        FileState { asked_read_bytes: all(0), asked_written_bytes: all(1), ..state.file.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}
