//! Limits of a session's tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) struct Allowance {
    most: u64,
    spent: AtomicU64,
    /// Set when a task requests more bytes than are left; then no task gets any.
    used_up: AtomicBool,
}

impl Allowance {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, spent: AtomicU64::new(0), used_up: AtomicBool::new(false) }
    }

    /// Returns the bytes that tasks have counted, up to the limit.
    pub(crate) fn spent(&self) -> u64 {
        if self.used_up() { self.most } else { self.spent.load(Ordering::Relaxed).min(self.most) }
    }

    /// True if a task requested more bytes than were left.
    pub(crate) fn used_up(&self) -> bool {
        self.used_up.load(Ordering::Acquire)
    }
}

/// Limits of one job. They end with the job, and so with its session.
pub struct Bounds {
    allowance: Arc<Allowance>,
    ended: AtomicBool,
}

impl Bounds {
    /// Returns limits without a session, with `bytes` in total, for tests of tasks.
    pub fn without_session(bytes: u64) -> Self {
        Self::within(Arc::new(Allowance::new(bytes)))
    }

    pub(crate) fn within(allowance: Arc<Allowance>) -> Self {
        Self { allowance, ended: AtomicBool::new(false) }
    }

    /// Counts payload before it is sent, or after it is received, over all tasks of the session.
    ///
    /// Returns false if the limit is exceeded or the job has ended: the task must then stop. It may
    /// still report that over its connection, which closes when it returns. All tasks share one
    /// counter, so count small blocks in groups.
    pub fn spend(&self, bytes: u64) -> bool {
        if self.ended() {
            return false;
        }
        let before = self.allowance.spent.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.checked_add(bytes).is_some_and(|spent| spent <= self.allowance.most);
        if !fits {
            self.allowance.used_up.store(true, Ordering::Release);
        }
        fits
    }

    /// True if the job has ended: replaced, its channel or session closed, or its bytes used up.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.allowance.used_up()
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spent_to_the_last_and_no_further() {
        let bounds = Bounds::without_session(10);
        assert!(bounds.spend(4) && bounds.spend(6) && !bounds.ended());
        assert!(!bounds.spend(1) && bounds.ended() && !bounds.spend(0));
        assert_eq!(bounds.allowance.spent(), 10);
    }

    #[test]
    fn no_number_wraps_around() {
        let bounds = Bounds::without_session(u64::MAX);
        assert!(bounds.spend(u64::MAX));
        assert!(!bounds.spend(1) && !bounds.spend(u64::MAX) && bounds.ended());
        assert_eq!(bounds.allowance.spent(), u64::MAX);
    }

    #[test]
    fn what_one_job_uses_up_no_other_has() {
        let allowance = Arc::new(Allowance::new(10));
        let [one, other] = [(); 2].map(|()| Bounds::within(Arc::clone(&allowance)));
        assert!(one.spend(9) && !one.spend(u64::MAX) && allowance.used_up());
        assert!(other.ended() && !other.spend(1));
    }
}
