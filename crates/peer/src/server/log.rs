//! The server's log, written by a thread of its own: no serving thread waits for its reader.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum of queued lines.
const MAX_QUEUED: usize = 256;
/// Maximum wait for queued lines at the end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Queue and its writer thread, the only one that waits.
pub(super) struct Log {
    queue: Option<SyncSender<String>>,
    /// Lines lost to a full queue since the last report of it.
    lost: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    pub(super) fn new(log: impl Fn(String) + Send + 'static) -> Self {
        let (queue, lines) = sync_channel(MAX_QUEUED);
        let lost = Arc::new(AtomicU64::new(0));
        let uncounted = Arc::clone(&lost);
        let write = move || write(&log, &lines, &uncounted);
        // Without its thread nothing is logged.
        let writer = thread::Builder::new().name("peer-log".to_owned()).spawn(write).ok();
        Self { queue: Some(queue), lost, writer }
    }

    /// Queues a line; counts it as lost if the queue is full.
    pub(super) fn report(&self, line: String) {
        if self.queue.as_ref().is_none_or(|queue| queue.try_send(line).is_err()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // The thread ends after the queued lines; one that hangs is abandoned.
        self.queue.take();
        let begin = Instant::now();
        while self.writer.as_ref().is_some_and(|writer| !writer.is_finished())
            && begin.elapsed() < DRAIN_TIMEOUT
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(log: &dyn Fn(String), lines: &Receiver<String>, lost: &AtomicU64) {
    // A log that cannot be written ends nothing.
    let write = |line| drop(catch_unwind(AssertUnwindSafe(|| log(line))));
    for line in lines {
        write(line);
        match lost.swap(0, Ordering::Relaxed) {
            0 => {}
            count => write(format!("{count} log lines were dropped")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use proofmark_testing::join;

    use super::*;

    #[test]
    fn who_reports_does_not_wait_and_what_is_lost_is_counted() {
        let stall = Arc::new(Mutex::new(()));
        let reported = Arc::new(Mutex::new(Vec::new()));
        let (stalled, heard) = (Arc::clone(&stall), Arc::clone(&reported));
        let held = stall.lock().unwrap();
        let log = Log::new(move |line| {
            drop(stalled.lock().unwrap_or_else(PoisonError::into_inner));
            heard.lock().unwrap().push(line);
        });
        let teller = thread::spawn(move || {
            (0..2 * MAX_QUEUED).for_each(|n| log.report(n.to_string()));
            log
        });
        let log = join("the events to be queued while the log stalls", teller);
        drop(held);
        drop(log);
        let reported = reported.lock().unwrap();
        let dropped = |line: &String| line.strip_suffix(" log lines were dropped")?.parse().ok();
        let dropped: Vec<usize> = reported.iter().filter_map(dropped).collect();
        let whole = reported.len() - dropped.len();
        assert_eq!(reported[0], "0");
        // The writer may hold one more line than the queue.
        assert!((MAX_QUEUED..=MAX_QUEUED + 1).contains(&whole), "{whole}");
        assert_eq!(whole + dropped.iter().sum::<usize>(), 2 * MAX_QUEUED);
    }

    #[test]
    fn a_log_that_panics_or_stalls_for_ever_ends_nothing() {
        let log = Log::new(|_| panic!("planted: a log that fails"));
        log.report(String::new());
        drop(log);
        let log = Log::new(|_| {
            loop {
                thread::park()
            }
        });
        log.report(String::new());
        join("the end of a log that stalls", thread::spawn(move || drop(log)));
    }
}
