//! Limit on the processes that start at once. An ssh server randomly refuses more unauthenticated
//! connections (MaxStartups), and all may pass through one server.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use proofmark_model::lock;

/// Maximum number of processes that start at once, until a server refuses one.
pub(super) const STARTS: usize = 10;
/// Minimum number, however often a server refuses one, and the time after which another refusal
/// counts.
const LEAST: usize = 3;
const APART: Duration = Duration::from_secs(3);
/// Maximum time that a silent one counts. A login may take long; later its server has accepted it.
const LONGEST: Duration = Duration::from_secs(60);

/// Maximum number of tries to start a node, and the time after which no further one begins.
const TRIES: u32 = 10;
const PATIENCE: Duration = Duration::from_secs(60);
/// Mean pause before the second try, which doubles for each further one, and its maximum.
const PAUSE_S: f64 = 0.5;
const LONGEST_PAUSE_S: f64 = 8.0;

/// Limit on the processes that start at once.
#[derive(Debug)]
pub(super) struct Starts {
    state: Mutex<State>,
    fewer: Condvar,
    longest: Duration,
    /// Minimum time between two refusals that lower the maximum.
    apart: Duration,
}

#[derive(Debug)]
struct State {
    /// Start of each one.
    now: Vec<Instant>,
    /// Current maximum of them, and the time when a refusal lowered it.
    most: usize,
    lowered: Option<Instant>,
    /// True if no process is to start any more.
    closed: bool,
}

/// A process that counts as starting until this is dropped.
pub(super) struct Start {
    all: Arc<Starts>,
    begun: Instant,
}

impl Starts {
    pub(super) fn new(longest: Duration) -> Self {
        let state = State { now: Vec::new(), most: STARTS, lowered: None, closed: false };
        Self { state: Mutex::new(state), fewer: Condvar::new(), longest, apart: APART }
    }

    /// Waits until fewer processes start than may, and adds one. `None` once it is closed.
    pub(super) fn next(self: &Arc<Self>) -> Option<Start> {
        let mut state = lock(&self.state);
        loop {
            state.now.retain(|begun| begun.elapsed() < self.longest);
            if state.closed {
                return None;
            }
            let oldest = state.now.iter().min().filter(|_| state.now.len() >= state.most);
            let Some(oldest) = oldest else { break };
            let left = self.longest.saturating_sub(oldest.elapsed());
            state = self.fewer.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let begun = Instant::now();
        state.now.push(begun);
        drop(state);
        Some(Start { all: Arc::clone(self), begun })
    }

    /// Starts fewer at a time, since a server refused one.
    pub(super) fn slow_down(&self) {
        let mut state = lock(&self.state);
        // Processes that started at the same time are refused at the same time.
        if state.lowered.is_none_or(|at| at.elapsed() >= self.apart) {
            state.most = (state.most - 1).max(LEAST);
            state.lowered = Some(Instant::now());
        }
    }

    /// Lets no further process start.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.fewer.notify_all();
    }
}

impl Default for Starts {
    fn default() -> Self {
        Self::new(LONGEST)
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        let mut state = lock(&self.all.state);
        // If it is missing, it has counted for the maximum time.
        if let Some(place) = state.now.iter().position(|begun| *begun == self.begun) {
            state.now.remove(place);
        }
        drop(state);
        self.all.fewer.notify_one();
    }
}

/// Tries to start a node.
#[derive(Debug)]
pub(super) struct Tries {
    begun: Instant,
    /// Number of tries so far.
    pub(super) count: u32,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), count: 1 }
    }

    /// Returns the pause before the next try; `None` if there is none. The pause is random, so that
    /// refused nodes do not come back at once together.
    pub(super) fn pause(&mut self) -> Option<Duration> {
        let more = self.count < TRIES && self.begun.elapsed() < PATIENCE;
        let mean = (PAUSE_S * f64::from(self.count - 1).exp2()).min(LONGEST_PAUSE_S);
        self.count += u32::from(more);
        more.then(|| Duration::from_secs_f64(mean * (0.5 + random_share())))
    }
}

/// Returns a random number from 0 to 1.
fn random_share() -> f64 {
    let mut bytes = [0; 4];
    // Without random numbers the pauses are alike, which is slower and no fault.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_nodes_come_again_later_and_not_together() {
        let pauses = || {
            let mut tries = Tries::new();
            std::iter::from_fn(move || tries.pause()).collect::<Vec<_>>()
        };
        let (one, other) = (pauses(), pauses());
        assert_eq!((one.len(), other.len()), (TRIES as usize - 1, TRIES as usize - 1));
        assert_ne!(one, other);
        assert!(one[5] > one[0], "{one:?}");
        assert!(one.iter().all(|pause| pause.as_secs_f64() <= 1.5 * LONGEST_PAUSE_S));
    }

    #[test]
    fn a_server_that_refuses_gets_fewer_at_a_time_but_always_some() {
        let long = Duration::from_secs(3600);
        let starts = Starts::new(long);
        (0..20).for_each(|_| starts.slow_down());
        assert_eq!(lock(&starts.state).most, STARTS - 1, "refused at the same time");
        let starts = Arc::new(Starts { apart: Duration::ZERO, ..Starts::new(long) });
        (0..20).for_each(|_| starts.slow_down());
        let all: Vec<Option<Start>> = (0..LEAST).map(|_| starts.next()).collect();
        assert!(all.iter().all(Option::is_some));
        assert_eq!(lock(&starts.state).most, LEAST);
        starts.close();
        assert!(starts.next().is_none());
    }
}
