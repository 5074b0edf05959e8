//! Which datagrams came, each counted once.

/// Datagrams back from the newest that can be distinguished: those that came from those that
/// did not.
const REACH: u64 = 1 << 16;

/// What came of the datagrams with the numbers from `first` on, `count` of them.
#[derive(Debug, Default)]
pub(super) struct Window {
    first: u64,
    count: u64,
    /// The number after the newest that came, from 0.
    next: u64,
    /// Which of the [`REACH`] numbers before `next` arrived; number n at bit n modulo `REACH`.
    came: Vec<u64>,
    /// Datagrams that came, each once.
    pub(super) received: u64,
    /// Those that arrived after a newer one.
    pub(super) reordered: u64,
    /// Those that came once more; also those too old to know, which are not counted again.
    pub(super) duplicated: u64,
    jitter: Jitter,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { came: vec![0; (REACH / 64) as usize], ..Self::default() }
    }

    /// Forgets all, for other numbers.
    pub(super) fn begin(&mut self, first: u64, count: u64) {
        let mut came = std::mem::take(&mut self.came);
        came.fill(0);
        *self = Self { first, count, came, ..Self::default() };
    }

    /// A datagram with that number came; when it was sent and when it came, in
    /// nanoseconds, each by its own end's clock. One of another request does not count.
    pub(super) fn take(&mut self, number: u64, sent_ns: u64, came_ns: u64) {
        let Some(n) = number.checked_sub(self.first).filter(|n| *n < self.count) else { return };
        if n >= self.next {
            self.clear(n);
            self.next = n + 1;
        } else if self.next - n > REACH || self.bit(n) {
            self.duplicated += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.came[place(n)] |= mask(n);
        self.received += 1;
        self.jitter.add(sent_ns, came_ns);
    }

    /// A datagram without a number came. More than were sent cannot come.
    pub(super) fn take_any(&mut self) {
        self.received = self.count.min(self.received + 1);
    }

    /// Interarrival jitter in nanoseconds.
    pub(super) fn jitter_ns(&self) -> f64 {
        self.jitter.mean_ns
    }

    fn bit(&self, n: u64) -> bool {
        self.came[place(n)] & mask(n) != 0
    }

    /// Makes room: the numbers from `next` to before `n` have not come.
    fn clear(&mut self, n: u64) {
        if n - self.next >= REACH {
            self.came.fill(0);
        } else {
            (self.next..n).for_each(|n| self.came[place(n)] &= !mask(n));
        }
        self.came[place(n)] &= !mask(n);
    }
}

fn place(n: u64) -> usize {
    (n % REACH / 64) as usize
}

fn mask(n: u64) -> u64 {
    1 << (n % 64)
}

/// Interarrival jitter, RFC 3550, 6.4.1: a running mean over some 16 datagrams of how much
/// the time under way differs between one and the next that comes.
#[derive(Debug, Default)]
struct Jitter {
    last_ns: Option<i64>,
    mean_ns: f64,
}

impl Jitter {
    fn add(&mut self, sent_ns: u64, came_ns: u64) {
        // The clocks of two machines differ by anything; differences of the difference stay.
        let transit = came_ns.wrapping_sub(sent_ns) as i64;
        if let Some(last) = self.last_ns.replace(transit) {
            let d = transit.wrapping_sub(last).unsigned_abs() as f64;
            self.mean_ns += (d - self.mean_ns) / 16.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn window(count: u64) -> Window {
        let mut w = Window::new();
        w.begin(1000, count);
        w
    }

    fn counts(w: &Window) -> (u64, u64, u64) {
        (w.received, w.reordered, w.duplicated)
    }

    #[test]
    fn what_is_too_old_to_tell_does_not_count_again() {
        let mut w = window(1 << 20);
        w.take(1000, 0, 0);
        w.take(1000 + REACH, 0, 0);
        w.take(1001, 0, 0); // Just within reach, and new.
        w.take(1000, 0, 0);
        assert_eq!(counts(&w), (3, 1, 1));
        w.begin(1000, 1 << 20);
        assert_eq!(counts(&w), (0, 0, 0));
    }

    #[test]
    fn jitter_is_that_of_the_rfc() {
        let mut w = window(10);
        // Transits of 5, 21, 5: differences of 16 and 16.
        w.take(1000, 100, 105);
        w.take(1001, 200, 221);
        assert_eq!(w.jitter_ns(), 1.0);
        w.take(1002, 300, 305);
        assert_eq!(w.jitter_ns(), 1.0 + 15.0 / 16.0);
        w.take(1003, u64::MAX, 4); // A transit of 5, past the end of one clock.
        assert!(w.jitter_ns() < 1.0 + 15.0 / 16.0);
    }

    proptest! {
        #[test]
        fn against_a_set(numbers in prop::collection::vec(0_u64..300, 0..600)) {
            let mut w = window(200);
            let (mut seen, mut reordered, mut duplicated) = (BTreeSet::new(), 0, 0);
            for n in numbers {
                w.take(1000 + n, 0, 0);
                if n < 200 {
                    let newest = seen.last().is_none_or(|last| n > *last);
                    if !seen.insert(n) {
                        duplicated += 1;
                    } else if !newest {
                        reordered += 1;
                    }
                }
            }
            prop_assert_eq!(counts(&w), (seen.len() as u64, reordered, duplicated));
        }

        #[test]
        fn far_jumps(steps in prop::collection::vec(1_u64..3 * REACH, 1..50)) {
            let mut w = window(u64::MAX / 2);
            let mut n = 1000;
            for step in &steps {
                n += step;
                w.take(n, 0, 0);
                w.take(n, 0, 0);
            }
            prop_assert_eq!(counts(&w), (steps.len() as u64, 0, steps.len() as u64));
        }
    }
}
