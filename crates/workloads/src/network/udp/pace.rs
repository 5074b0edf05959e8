//! When datagrams of a rate are due: number i after i intervals. So n of them take n intervals, the
//! last one's included; without it a rate would read n / (n - 1) of itself.

/// Datagrams of one connection at an even rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// From one datagram to the next.
    interval_ns: f64,
}

/// What a sender may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Send this many, at least one.
    Send(u64),
    /// Wait until then, in nanoseconds since the first.
    Wait(u64),
}

impl Pace {
    /// Datagrams of `block` bytes at `rate` bits per second.
    pub(super) fn new(block: usize, rate: f64) -> Self {
        Self { interval_ns: block as f64 * 8e9 / rate }
    }

    /// When the datagram of that number is due, in nanoseconds since the first; of the number after
    /// the last, when the work ends.
    pub(super) fn due_ns(self, number: u64) -> u64 {
        (number as f64 * self.interval_ns).round() as u64
    }

    /// What is to be done `now_ns` after the first, when so many were sent. Who is late catches up.
    pub(super) fn next(self, sent: u64, now_ns: u64) -> Next {
        let at = self.due_ns(sent);
        if now_ns < at {
            return Next::Wait(at);
        }
        let due = (now_ns as f64 / self.interval_ns) as u64 + 1;
        Next::Send(due.saturating_sub(sent).max(1))
    }

    /// How long it took to send `count`, the last of them `last_ns` after the first. Who wakes late
    /// from the last interval took no longer; who sent later than the rate did.
    pub(super) fn took_ns(self, count: u64, last_ns: u64) -> u64 {
        last_ns.max(self.due_ns(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender on a clock of its own: each sleep ends `late_ns` after its time, and each datagram
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
                    // Of trials of 20 ms to 1 s, which hold one datagram at least.
                    for seconds in [0.02, 0.1, 1.0] {
                        let count = (seconds * 1e9 / pace.interval_ns).ceil().clamp(1.0, 1e5);
                        let read = f64::from(streams) * simulate(pace, block, count as u64, [0, 0]);
                        let off = (read / rate - 1.0).abs();
                        // A nanosecond is the clock's step.
                        let step = 2.0 / (count * pace.interval_ns);
                        assert!(off <= step + 1e-9, "{rate} {block} {streams} {count}: {read}");
                    }
                }
            }
        }
    }

    #[test]
    fn who_wakes_late_catches_up_and_who_cannot_keep_the_rate_reads_less() {
        let pace = Pace::new(1470, 10e6);
        for count in [1, 2, 14, 1000] {
            let read = simulate(pace, 1470, count, [60_000, 3000]);
            assert!((read / 10e6 - 1.0).abs() < 1e-6, "{count}: {read}");
        }
        // Each takes twice its interval.
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
