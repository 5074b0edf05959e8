//! Counts arrived datagrams, each once.

/// Numbers back from the newest within which arrived datagrams are distinguished from missing ones.
const REACH: u64 = 1 << 16;

/// The arrivals among `count` datagrams with numbers from `first` on.
#[derive(Debug, Default)]
pub(super) struct Window {
    first: u64,
    count: u64,
    /// The number after the newest arrival, counted from 0.
    next: u64,
    /// A bit for each of the [`REACH`] numbers before `next` that arrived: number n at bit n modulo
    /// `REACH`.
    came: Vec<u64>,
    /// Datagrams that arrived, each counted once.
    pub(super) received: u64,
    /// Datagrams that arrived after a newer one.
    pub(super) reordered: u64,
    /// Datagrams that arrived again, and those that are too old to know, which are not counted
    /// again.
    pub(super) duplicated: u64,
    jitter: Jitter,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { came: vec![0; (REACH / 64) as usize], ..Self::default() }
    }

    /// Clears the window, for other numbers.
    pub(super) fn begin(&mut self, first: u64, count: u64) {
        let mut came = std::mem::take(&mut self.came);
        came.fill(0);
        *self = Self { first, count, came, ..Self::default() };
    }

    /// Records the arrival of a datagram. The send and arrival times are in nanoseconds of each
    /// end's own clock. Datagrams of other requests do not count.
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

    /// Records the arrival of a datagram without a number. No more can arrive than were sent.
    pub(super) fn take_any(&mut self) {
        self.received = self.count.min(self.received + 1);
    }

    /// Returns the interarrival jitter in nanoseconds.
    pub(super) fn jitter_ns(&self) -> f64 {
        self.jitter.mean_ns
    }

    fn bit(&self, n: u64) -> bool {
        self.came[place(n)] & mask(n) != 0
    }

    /// Clears the bits of the numbers from `next` to `n`, which have not arrived.
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

/// Interarrival jitter by RFC 3550, 6.4.1: a running mean over about 16 datagrams of the difference
/// between the transit times of successive arrivals.
#[derive(Debug, Default)]
struct Jitter {
    last_ns: Option<i64>,
    mean_ns: f64,
}

impl Jitter {
    fn add(&mut self, sent_ns: u64, came_ns: u64) {
        // The offset between the clocks of two machines is arbitrary, but it cancels in
        // differences.
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
    fn a_number_beyond_reach_does_not_count_again() {
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
