//! Points that are measured together in one worker, so that they can use the same memory. A worker
//! that dies costs the point that it worked on; the others are set up again in a new one.

use std::sync::{Arc, Mutex, MutexGuard};

use proofmark_model::{Ending, lock};

use super::{Session, Worker, Workers};
use crate::protocol::{Job, Request, Taken};

/// The worker of points that are measured together, while there are any.
#[derive(Clone, Default)]
pub struct SharedWorker(Arc<Mutex<Live>>);

#[derive(Default)]
struct Live {
    worker: Option<Worker>,
    /// Number of the worker, from 1.
    generation: u64,
    /// Points that are measured together, and the slot of the next one.
    points: usize,
    next: u32,
}

impl SharedWorker {
    fn lock(&self) -> MutexGuard<'_, Live> {
        lock(&self.0)
    }
}

/// One of the points.
pub(super) struct SharedSession {
    how: Workers,
    job: Job,
    slot: u32,
    /// The worker that it is set up in.
    generation: u64,
}

impl SharedSession {
    pub(super) fn new(how: Workers, job: Job) -> Self {
        let slot = {
            let mut live = how.shared.lock();
            live.points += 1;
            live.next += 1;
            live.next
        };
        Self { how, job, slot, generation: 0 }
    }

    pub(super) fn set_up(&mut self) -> Result<(), Ending> {
        self.with_worker(|_, _| Ok(()))
    }

    /// Does something with the worker in which the point is set up. A worker in which anything went
    /// wrong is ended: nobody knows what else is wrong there.
    fn with_worker<T>(
        &mut self,
        ask: impl FnOnce(&mut Worker, u32) -> Result<T, Ending>,
    ) -> Result<T, Ending> {
        let shared = self.how.shared.clone();
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
                self.how.begun(self.slot, &self.job)?
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
    /// The last one leaves the worker to the next points, even if it was not set up there any more.
    fn drop(&mut self) {
        let mut live = self.how.shared.lock();
        live.points -= 1;
        let is_there = live.generation == self.generation;
        let Some(mut worker) = live.worker.take() else { return };
        if is_there && worker.take_down(self.slot).is_err() {
            return;
        }
        match live.points {
            0 => *self.how.idle.lock() = Some(worker),
            _ => live.worker = Some(worker),
        }
    }
}

#[cfg(test)]
mod tests;
