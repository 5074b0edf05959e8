//! What a task of the far end may still do.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Told when the bytes are used up.
pub(crate) trait Spent: Send + Sync {
    fn used_up(&self);
}

/// The bytes that a session may still carry.
pub(crate) struct Purse {
    most: u64,
    spent: AtomicU64,
    owner: Weak<dyn Spent>,
}

impl Purse {
    pub(crate) fn new(most: u64, owner: Weak<dyn Spent>) -> Self {
        Self { most, spent: AtomicU64::new(0), owner }
    }

    /// Bytes that tasks said they carried, at most as many as were allowed.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed).min(self.most)
    }
}

/// The bounds of one job: they end when the job ends, and with it its session.
pub struct Bounds {
    purse: Arc<Purse>,
    ended: AtomicBool,
}

impl Bounds {
    /// Bounds that belong to no session, for the tests of tasks: `bytes` in all.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        struct Nobody;
        impl Spent for Nobody {
            fn used_up(&self) {}
        }
        Self::within(Arc::new(Purse::new(bytes, Weak::<Nobody>::new())))
    }

    pub(crate) fn within(purse: Arc<Purse>) -> Self {
        Self { purse, ended: AtomicBool::new(false) }
    }

    /// Counts bytes of payload before they are sent, or after they are received, over all
    /// tasks of the session. False if they are more than were agreed, or if the job has
    /// ended: the task stops then. All tasks share one counter, so ask for many blocks at
    /// a time where blocks are small.
    pub fn spend(&self, bytes: u64) -> bool {
        if self.ended() {
            return false;
        }
        let before = self.purse.spent.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.checked_add(bytes).is_some_and(|spent| spent <= self.purse.most);
        if !fits {
            self.end();
            if let Some(owner) = self.purse.owner.upgrade() {
                owner.used_up();
            }
        }
        fits
    }

    /// Whether the job has ended: another was opened in its place, its channel or session
    /// ended, or the bytes are used up.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}

impl std::fmt::Debug for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (spent, most) = (self.purse.spent(), self.purse.most);
        f.debug_struct("Bounds").field("spent", &spent).field("most", &most).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spent_to_the_last_and_no_further() {
        let bounds = Bounds::of(10);
        assert!(bounds.spend(4) && bounds.spend(6) && !bounds.ended());
        assert!(!bounds.spend(1) && bounds.ended() && !bounds.spend(0));
        assert_eq!(bounds.purse.spent(), 10);
    }

    #[test]
    fn no_number_wraps_around() {
        let bounds = Bounds::of(u64::MAX);
        assert!(bounds.spend(u64::MAX));
        assert!(!bounds.spend(1) && !bounds.spend(u64::MAX) && bounds.ended());
    }
}
