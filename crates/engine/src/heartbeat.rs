//! Measures how long this process could not run at all, for loads whose threads sleep by
//! themselves. A thread sleeps repeatedly. It wakes late if the process was stopped, its cgroup
//! frozen or the guest paused. The time that it waited for a CPU went to others and does not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::clock::raw_seconds;
use crate::conditions::ThreadCounters;

/// Sleep between two beats: a stop of 25 ms makes at least one late.
const BEAT: Duration = Duration::from_millis(20);

/// Seconds by which a beat must be late to count as held up. Timers of a busy guest are less late.
const LATE_S: f64 = 5e-3;

/// A thread that beats until this value is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    held_up_ns: Arc<AtomicU64>,
}

impl Heartbeat {
    /// Starts the thread; `None` if it cannot be started.
    pub fn start() -> Option<Self> {
        let (stop, stopped) = channel::<()>();
        let held_up_ns = Arc::new(AtomicU64::new(0));
        let sum = Arc::clone(&held_up_ns);
        let beat = move || {
            let mut before = ThreadCounters::before();
            loop {
                let woken = stopped.recv_timeout(BEAT);
                let late_s = raw_seconds() - before.at_s - BEAT.as_secs_f64();
                let now = ThreadCounters::before();
                let waited_s = now.since(before).waiting_s.unwrap_or(0.0);
                sum.fetch_add((held_up_s(late_s, waited_s) * 1e9) as u64, Ordering::Relaxed);
                before = now;
                // The thread ends when `stop` is dropped.
                if woken != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("heartbeat".to_owned()).spawn(beat).ok();
        thread.map(|thread| Self { stop: Some(stop), thread: Some(thread), held_up_ns })
    }

    /// Seconds held up so far.
    pub fn held_up_s(&self) -> f64 {
        self.held_up_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Ends the thread and returns all seconds held up, the last beat included.
    pub fn end(mut self) -> f64 {
        self.finish();
        self.held_up_s()
    }

    fn finish(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The part of the seconds held up that neither a hypervisor nor a quota explains. Whether their time
/// also counts as waiting differs between systems, so all of it may be among them.
pub fn stopped_s(held_up_s: f64, steal_s: Option<f64>, throttled_s: Option<f64>) -> f64 {
    (held_up_s - steal_s.unwrap_or(0.0) - throttled_s.unwrap_or(0.0)).max(0.0)
}

/// The part of a beat's lateness that is due neither to the timer nor to other work on the CPU.
fn held_up_s(late_s: f64, waited_s: f64) -> f64 {
    let held_s = late_s - waited_s;
    if held_s > LATE_S { held_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_beats_count_unless_others_had_the_cpu() {
        assert_eq!(held_up_s(0.001, 0.0), 0.0, "a timer");
        assert!((held_up_s(0.03, 0.0) - 0.03).abs() < 1e-9, "stopped");
        assert_eq!(held_up_s(0.03, 0.029), 0.0, "busy CPU");
        assert!((held_up_s(0.05, 0.02) - 0.03).abs() < 1e-9, "both");
    }

    #[test]
    fn a_hypervisor_or_a_quota_is_no_stop() {
        assert_eq!(stopped_s(0.032, Some(0.09), None), 0.0);
        assert_eq!(stopped_s(0.032, None, Some(0.04)), 0.0);
        assert!((stopped_s(0.5, Some(0.02), Some(0.08)) - 0.4).abs() < 1e-9);
        assert_eq!(stopped_s(0.5, None, None), 0.5);
    }

    #[test]
    fn it_beats_until_it_is_ended() {
        let heartbeat = Heartbeat::start().unwrap();
        thread::sleep(4 * BEAT);
        assert!(heartbeat.end() < 10.0);
    }
}
