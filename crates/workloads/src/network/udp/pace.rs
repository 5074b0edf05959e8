//! Due times of paced datagrams: number i is due after i intervals. So n datagrams take n
//! intervals, including that of the last one. Without it the result would be n / (n - 1) of the
//! rate.

/// The even rate of the datagrams of one connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Nanoseconds from one datagram to the next.
    interval_ns: f64,
}

/// The next step of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Send this many datagrams, at least one.
    Send(u64),
    /// Wait until this time, in nanoseconds since the first datagram.
    Wait(u64),
}

impl Pace {
    /// Creates the pace of datagrams of `block` bytes at `rate` bits per second.
    pub(super) fn new(block: usize, rate: f64) -> Self {
        Self { interval_ns: block as f64 * 8e9 / rate }
    }

    /// Returns the due time of a datagram in nanoseconds since the first. For the number after the
    /// last, it is the end of the work.
    pub(super) fn due_ns(self, number: u64) -> u64 {
        (number as f64 * self.interval_ns).round() as u64
    }

    /// Returns the next step at `now_ns` after the first datagram, when `sent` were sent. A late
    /// sender catches up.
    pub(super) fn next(self, sent: u64, now_ns: u64) -> Next {
        let at = self.due_ns(sent);
        if now_ns < at {
            return Next::Wait(at);
        }
        let due = (now_ns as f64 / self.interval_ns) as u64 + 1;
        Next::Send(due.saturating_sub(sent).max(1))
    }

    /// Returns the time of sending `count` datagrams, if the last one was sent `last_ns` after the
    /// first. A sender that wakes late from the last interval took no longer. One that sent later
    /// than the rate did.
    pub(super) fn took_ns(self, count: u64, last_ns: u64) -> u64 {
        last_ns.max(self.due_ns(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a sender with its own clock: each sleep ends `late_ns` too late, and each datagram
    /// costs `cost_ns`. Returns bits per second.
    fn simulate(pace: Pace, block: usize, count: u64, [late_ns, cost_ns]: [u64; 2]) -> f64 {
        let (mut now, mut sent) = (0, 0);
        while sent < count {
            match pace.next(sent, now) {
                Next::Wait(at) => now = at + late_ns,
                Next::Send(due) => {
                    let some = due.min(count - sent).min(64);
                    (sent, now) = (sent + some, now + some * cost_ns);
                }
            }
        }
        let took = pace.took_ns(count, now);
        count as f64 * block as f64 * 8e9 / took as f64
    }

    #[test]
    fn a_rate_is_itself_however_few_datagrams_a_trial_holds() {
        for rate in [500e3, 1e6, 1.05e6, 10e6, 333e6, 1e9, 10e9] {
            for block in [1, 16, 1470, 8192, 65_507] {
                for streams in [1, 2, 7, 256] {
                    let pace = Pace::new(block, rate / f64::from(streams));
                    // Trials of 20 ms to 1 s, with at least one datagram.
                    for seconds in [0.02, 0.1, 1.0] {
                        let count = (seconds * 1e9 / pace.interval_ns).ceil().clamp(1.0, 1e5);
                        let read = f64::from(streams) * simulate(pace, block, count as u64, [0, 0]);
                        let off = (read / rate - 1.0).abs();
                        // The clock's resolution is a nanosecond.
                        let step = 2.0 / (count * pace.interval_ns);
                        assert!(off <= step + 1e-9, "{rate} {block} {streams} {count}: {read}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_late_sender_catches_up_and_an_overloaded_one_has_a_lower_rate() {
        let pace = Pace::new(1470, 10e6);
        for count in [1, 2, 14, 1000] {
            let read = simulate(pace, 1470, count, [60_000, 3000]);
            assert!((read / 10e6 - 1.0).abs() < 1e-6, "{count}: {read}");
        }
        // Each datagram takes twice its interval.
        let overloaded = simulate(pace, 1470, 1000, [0, 2_352_000]);
        assert!((overloaded / 5e6 - 1.0).abs() < 1e-3, "{overloaded}");
    }

    #[test]
    fn one_datagram_takes_one_interval() {
        let pace = Pace::new(65_507, 1e6);
        assert_eq!(pace.next(0, 0), Next::Send(1));
        assert_eq!(pace.next(1, 0), Next::Wait(524_056_000));
        assert_eq!(pace.took_ns(1, 7000), 524_056_000);
    }
}
