//! What the server reports, taken from the threads that serve: none of them waits for who
//! reads it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Event;

/// Most events that wait to be reported.
const MOST: usize = 256;
/// Longest wait at the end for what is still to be reported.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A queue with one thread behind it, which alone waits.
pub(super) struct Log {
    queue: Option<SyncSender<Event>>,
    /// Events that found the queue full and were not reported yet.
    lost: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    pub(super) fn new(log: impl Fn(Event) + Send + 'static) -> Self {
        let (queue, events) = sync_channel(MOST);
        let lost = Arc::new(AtomicU64::new(0));
        let uncounted = Arc::clone(&lost);
        let write = move || write(&log, &events, &uncounted);
        // Without a thread for it nothing is reported.
        let writer = thread::Builder::new().name("peer-log".to_owned()).spawn(write).ok();
        Self { queue: Some(queue), lost, writer }
    }

    /// Leaves an event to be reported; one that finds no room is counted.
    pub(super) fn report(&self, event: Event) {
        if self.queue.as_ref().is_none_or(|queue| queue.try_send(event).is_err()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // The thread ends when it has reported what is left; one that hangs is left behind.
        self.queue.take();
        let begin = Instant::now();
        while self.writer.as_ref().is_some_and(|writer| !writer.is_finished())
            && begin.elapsed() < LAST_WORDS
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(log: &dyn Fn(Event), events: &Receiver<Event>, lost: &AtomicU64) {
    // A log that cannot be written ends nothing.
    let tell = |event| drop(catch_unwind(AssertUnwindSafe(|| log(event))));
    for event in events {
        tell(event);
        match lost.swap(0, Ordering::Relaxed) {
            0 => {}
            count => tell(Event::Dropped { count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use proofmark_testing::join;

    use super::*;

    fn refused(n: usize) -> Event {
        Event::Refused { from: "127.0.0.1:1".parse().unwrap(), reason: n.to_string() }
    }

    #[test]
    fn who_tells_does_not_wait_and_what_is_lost_is_counted() {
        let stall = Arc::new(Mutex::new(()));
        let reported = Arc::new(Mutex::new(Vec::new()));
        let (stalled, heard) = (Arc::clone(&stall), Arc::clone(&reported));
        let held = stall.lock().unwrap();
        let log = Log::new(move |event| {
            drop(stalled.lock().unwrap_or_else(PoisonError::into_inner));
            heard.lock().unwrap().push(event);
        });
        let teller = thread::spawn(move || {
            (0..2 * MOST).for_each(|n| log.report(refused(n)));
            log
        });
        let log = join("the events to be queued while the log stalls", teller);
        drop(held);
        drop(log);
        let reported = reported.lock().unwrap();
        let lost =
            reported.iter().map(|e| if let Event::Dropped { count } = e { *count } else { 0 });
        let lost: u64 = lost.sum();
        let whole = reported.iter().filter(|e| !matches!(e, Event::Dropped { .. })).count();
        assert_eq!(reported[0], refused(0));
        // One may be in the writer's hand in addition to those that wait.
        assert!((MOST..=MOST + 1).contains(&whole), "{whole}");
        assert_eq!(whole as u64 + lost, 2 * MOST as u64);
    }

    #[test]
    fn a_log_that_panics_or_stalls_for_ever_ends_nothing() {
        let log = Log::new(|_| panic!("planted: a log that fails"));
        log.report(refused(0));
        drop(log);
        let log = Log::new(|_| {
            loop {
                thread::park()
            }
        });
        log.report(refused(0));
        join("the end of a log that stalls", thread::spawn(move || drop(log)));
    }
}
