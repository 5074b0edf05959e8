//! The work of all block workloads: one file, of which each thread has its own part.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proofmark_engine::{Amount, Latencies, Load, Refusal, Setup, raw_ns};
use proofmark_model::{FileState, Flush};

use super::engine::Engine;
use super::extents::{cached_share, unwritten_share};
use super::feed::Feed;
#[cfg(feature = "faults")]
use super::feed::Run;
use super::file::{TestFile, is_direct};
use super::order::Order;
use super::readback::ReadBack;
use super::seen::{Of, Seen};
use super::shape::{Cache, Operation, Shape};
use crate::share;

/// Folder of the test file. The run starts its workers there.
pub(super) const FOLDER: &str = ".";

/// Minimum seconds of a trial that begins with untimed work. A cgroup or provider that throttles
/// I/O grants it in slices of about 100 ms, and allows a burst after a pause.
const LONG_TRIAL_S: f64 = 1.0;
/// Untimed work before a long trial, as a share of the trial.
const AHEAD: f64 = 1.0 / 8.0;

/// Returns the seconds of untimed work before a trial of `trial_s` seconds.
pub(super) fn ahead_s(trial_s: f64) -> f64 {
    if trial_s >= LONG_TRIAL_S { trial_s * AHEAD } else { 0.0 }
}

/// Returns the amount of work of a trial.
pub(super) fn amount(shape: &Shape) -> Amount {
    shape.iterations().map_or(Amount::Calibrated, Amount::Total)
}

/// Returns a number with which no block of this process was written before.
pub(super) fn new_generation() -> u64 {
    // Generation 0 is that of the laid-out file.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(feature = "faults")]
/// Plants a fault in the file or in the results of a run.
pub(super) type Plant = fn(&TestFile, &mut Run) -> Result<(), String>;

/// State that the threads of a configuration share.
pub(super) struct Task {
    kind: (Operation, Order),
    shape: Shape,
    file: Arc<TestFile>,
    seen: Seen,
    /// A fault that is planted after a run has ended.
    #[cfg(feature = "faults")]
    pub(super) before_check: Option<Plant>,
}

impl Task {
    /// Lays the file out, or takes that of the previous configuration.
    pub(super) fn new(kind: (Operation, Order), shape: Shape) -> Result<Self, Refusal> {
        Self::on(TestFile::get(Path::new(FOLDER), shape.file_size)?, kind, shape)
    }

    /// Uses this file, and evicts it from the page cache.
    pub(super) fn on(
        file: Arc<TestFile>,
        kind: (Operation, Order),
        shape: Shape,
    ) -> Result<Self, Refusal> {
        file.evict().map_err(|e| Refusal(format!("cannot flush the test file: {e}")))?;
        let seen = Seen::new(shape.threads);
        let task = Self {
            kind,
            shape,
            file,
            seen,
            #[cfg(feature = "faults")]
            before_check: None,
        };
        task.check_sector()?;
        Ok(task)
    }

    /// Refuses blocks that direct I/O cannot move here.
    fn check_sector(&self) -> Result<(), Refusal> {
        self.descriptor()?;
        let (block, direct) = (self.shape.block_size, self.shape.direct);
        match self.file.block().filter(|sector| direct && !block.is_multiple_of(*sector)) {
            Some(sector) => Err(Refusal(format!(
                "direct I/O on this disk needs multiples of {sector} B; block_size is {block} B"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the descriptor for the I/Os.
    fn descriptor(&self) -> Result<BorrowedFd<'_>, Refusal> {
        if self.shape.direct { self.file.direct() } else { Ok(self.file.buffered()) }
    }

    /// Returns the descriptor for reading back: that of direct I/O if available.
    fn readback_fd(&self) -> BorrowedFd<'_> {
        self.file.direct().unwrap_or_else(|_| self.file.buffered())
    }

    /// Brings the page cache into the state that the configuration requires.
    fn ready(&self) -> Result<(), String> {
        let size = self.file.size;
        let cached = || cached_share(self.file.buffered(), size);
        match self.shape.cache {
            Cache::None => Ok(()),
            Cache::Cold => self.file.evict(),
            Cache::Warm if cached() == Some(1.0) => Ok(()),
            Cache::Warm => self.file.warm(),
        }
        .map_err(|e| format!("cannot prepare the page cache: {e}"))?;
        self.seen.update_file(|file| file.cached = cached());
        Ok(())
    }
}

/// A configuration of a block workload after set-up.
pub(super) struct Blocks(pub(super) Arc<Task>);

impl Setup for Blocks {
    fn amount(&self) -> Amount {
        amount(&self.0.shape)
    }

    fn work_per_iteration(&self) -> f64 {
        self.0.shape.block_size as f64
    }

    fn on_disk(&self) -> bool {
        true
    }

    fn file(&self) -> Option<FileState> {
        let task = &self.0;
        let (fd, size_bytes) = (task.descriptor().ok()?, task.file.size);
        Some(FileState {
            order: task.kind.1,
            flush: if task.shape.flush { Flush::End } else { Flush::Never },
            direct: is_direct(fd),
            size_bytes,
            unwritten: unwritten_share(fd, size_bytes),
            entropy_bits: task.file.entropy_bits(),
            ..task.seen.file()
        })
    }

    fn pinned(&self) -> bool {
        false
    }

    fn ahead_s(&self, trial_s: f64) -> f64 {
        // Data that were read ahead would no longer be cold.
        if self.0.shape.cache == Cache::Cold { 0.0 } else { ahead_s(trial_s) }
    }

    fn thread(&self, index: usize, of: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Thread::new(&self.0, index, of)?))
    }
}

pub(super) struct Thread {
    task: Arc<Task>,
    index: usize,
    engine: Engine,
    feed: Feed,
    back: ReadBack,
    failure: Option<String>,
}

impl Thread {
    pub(super) fn new(task: &Arc<Task>, index: usize, of: usize) -> Result<Self, Refusal> {
        let shape = &task.shape;
        let part = share((shape.file_size / shape.block_size) as usize, index, of);
        let (block, depth) = (shape.block_size as usize, shape.queue_depth as usize);
        let engine = Engine::new(shape.engine, task.descriptor()?, block, depth)?;
        let mut feed = Feed::new(task.file.content, task.kind, shape, part);
        feed.begin(new_generation());
        let (task, back) = (Arc::clone(task), ReadBack::new()?);
        Ok(Self { task, index, engine, feed, back, failure: None })
    }

    /// Does the I/Os, and flushes the written data if that is part of the work.
    fn work(&mut self, iterations: u64) -> Result<(), String> {
        let begun = raw_ns();
        self.engine.run(iterations, &mut self.feed)?;
        self.feed.run.worked_ns += raw_ns() - begun;
        if self.task.shape.flush && iterations > 0 {
            self.task.file.flush().map_err(|e| format!("flushing the test file failed: {e}"))?;
        }
        Ok(())
    }
}

impl Load for Thread {
    fn prepare(&mut self, _: u64) {
        if self.index == 0 {
            self.failure = self.task.ready().err();
        }
    }

    fn begin(&mut self) {
        self.feed.begin(new_generation());
    }

    fn run(&mut self, iterations: u64) {
        if let Err(reason) = self.work(iterations) {
            self.failure.get_or_insert(reason);
        }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    fn latencies(&mut self, all: &mut Latencies) {
        all.merge(&self.feed.run.latencies);
    }

    fn verify(&mut self) -> Result<u64, String> {
        let run = &mut self.feed.run;
        #[cfg(feature = "faults")]
        if let Some(plant) = self.task.before_check {
            plant(&self.task.file, run)?;
        }
        if let Some(wrong) = run.wrong.take() {
            return Err(wrong);
        }
        let (file, content) = (self.task.readback_fd(), &self.task.file.content);
        for offset in &run.written {
            let block = (*offset, self.task.shape.block_size);
            self.back.check(file, content, block, run.generation)?;
        }
        self.task.seen.report(self.index, Of { requested: run.moved, in_flight: run.in_flight() });
        Ok(run.done)
    }
}

#[cfg(test)]
mod tests;
