//! Configurations that are measured together in one worker, so that they can use the same memory. A
//! worker that dies costs the configuration that it worked on. The others are set up again in a new
//! one.

use std::sync::{Arc, Mutex, MutexGuard};

use proofmark_model::{Ending, lock};

use super::{Session, Worker, Workers};
use crate::protocol::{Job, Request, Taken};

/// The worker of configurations that are measured together, while there are any.
#[derive(Clone, Default)]
pub struct SharedWorker(Arc<Mutex<Live>>);

#[derive(Default)]
struct Live {
    worker: Option<Worker>,
    /// Number of the worker, starting at 1.
    generation: u64,
    /// Number of configurations that are measured together, and the last slot that was given out.
    points: usize,
    next: u32,
}

impl SharedWorker {
    fn lock(&self) -> MutexGuard<'_, Live> {
        lock(&self.0)
    }
}

/// One of the configurations.
pub(super) struct SharedSession {
    workers: Workers,
    job: Job,
    slot: u32,
    /// Number of the worker in which it is set up.
    generation: u64,
}

impl SharedSession {
    pub(super) fn new(workers: Workers, job: Job) -> Self {
        let slot = {
            let mut live = workers.shared.lock();
            live.points += 1;
            live.next += 1;
            live.next
        };
        Self { workers, job, slot, generation: 0 }
    }

    pub(super) fn set_up(&mut self) -> Result<(), Ending> {
        self.with_worker(|_, _| Ok(()))
    }

    /// Calls `ask` with the worker in which the configuration is set up. Ends a worker in which
    /// anything failed, since more may be wrong there.
    fn with_worker<T>(
        &mut self,
        ask: impl FnOnce(&mut Worker, u32) -> Result<T, Ending>,
    ) -> Result<T, Ending> {
        let shared = self.workers.shared.clone();
        let mut live = shared.lock();
        let is_ready = live.worker.is_some() && live.generation == self.generation;
        let mut worker = match (live.worker.take(), is_ready) {
            (Some(worker), true) => worker,
            (Some(mut worker), false) => {
                worker.begin(self.slot, &self.job)?;
                worker
            }
            (None, _) => {
                live.generation += 1;
                self.workers.worker_with(self.slot, &self.job)?
            }
        };
        self.generation = live.generation;
        let asked = ask(&mut worker, self.slot)?;
        live.worker = Some(worker);
        Ok(asked)
    }
}

impl Session for SharedSession {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        self.with_worker(|worker, slot| worker.take(slot, request))
    }
}

impl Drop for SharedSession {
    /// The last session leaves the worker to the next configurations, even if it was no longer set
    /// up there.
    fn drop(&mut self) {
        let mut live = self.workers.shared.lock();
        live.points -= 1;
        let is_there = live.generation == self.generation;
        let Some(mut worker) = live.worker.take() else { return };
        if is_there && worker.take_down(self.slot).is_err() {
            return;
        }
        match live.points {
            0 => *self.workers.idle.lock() = Some(worker),
            _ => live.worker = Some(worker),
        }
    }
}

#[cfg(test)]
mod tests;
