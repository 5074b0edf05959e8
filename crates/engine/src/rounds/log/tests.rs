use std::time::Duration;

use super::*;
use crate::clock::raw_seconds;
use crate::cutting::MAX_BYTES;

/// Iterations that spin this long, or take no time, and a clock chain that records its calls.
#[derive(Default)]
struct Spins {
    each: Duration,
    ran: Vec<u64>,
    /// Number of runs before each reading of the clock.
    read: Vec<usize>,
    /// Chain of each reading.
    chains: Vec<Chain>,
    /// Iterations that ran. If the flag is set, nothing else is recorded.
    sum: u64,
    sums: bool,
}

impl Load for Spins {
    fn run(&mut self, iterations: u64) {
        self.sum += iterations;
        if !self.sums {
            self.ran.push(iterations);
        }
        let end = raw_seconds() + iterations as f64 * self.each.as_secs_f64();
        while raw_seconds() < end {
            std::hint::spin_loop();
        }
    }
    fn clock_chain(&mut self, chain: Chain, cycles: u64) -> Option<u64> {
        self.chains.push(chain);
        self.read.push(self.ran.len());
        Some(cycles)
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.ran.iter().sum())
    }
}

fn cutting(slice: u64) -> Cutting {
    Cutting { cut: Cut::Core, least_rounds: None, slice, slice_s: 20e-6, bytes: MAX_BYTES }
}

/// The log of these slices.
fn run(slice: u64, each: Duration, until: impl Fn(Ticks) -> Until) -> (Spins, Log) {
    let (mut load, ticks) = (Spins { each, ..Spins::default() }, Ticks::new());
    let mut log = Log::with_room(cutting(slice), 1e-3);
    log.run(&mut load, ticks, Cut::Core, until(ticks));
    (load, log)
}

#[test]
fn slices_are_of_twenty_microseconds_or_one_iteration() {
    let slice = |seconds, filling| {
        let Cutting { slice, slice_s, .. } = Cutting::new((Cut::Core, None), seconds, filling);
        (slice, (slice_s * 1e9).round())
    };
    assert_eq!(slice(0.1, (1_000_000, 0.1)), (200, 20_000.0));
    assert_eq!(slice(0.001, (1_000_000, 0.1)), (200, 20_000.0));
    // An iteration that is longer than the target of a slice.
    assert_eq!(slice(0.1, (4, 2.0)), (1, 5e8));
    // A long trial has no more slices than logs should hold.
    assert_eq!(slice(64.0, (1 << 20, 1.024)), (262, 255_859.0));
    // Without time or work the trial must still end.
    for filling in [(1, 0.0), (0, 0.0), (u64::MAX, 1e-3)] {
        let cutting = Cutting::new((Cut::Core, None), 0.0, filling);
        assert!(cutting.slice <= 20_000_000 && cutting.slice_s > 1e-6, "{cutting:?}");
        assert!(Log::with_room(cutting, 0.0).ends.capacity() <= USUAL_ROOM);
    }
}

#[test]
fn what_is_made_ready_is_enough_for_all_slices() {
    assert_eq!(cutting(200).iterations_in(0.1), 1_000_000);
    assert_eq!(cutting(200).iterations_in(1e-6), 200, "one slice at least");
    assert_eq!(cutting(200).iterations_in(0.0), 200);
    assert_eq!(cutting(u64::MAX).iterations_in(1.0), u64::MAX);
}

#[test]
fn a_fixed_amount_is_run_whole_and_its_last_slice_is_what_is_left() {
    for (amount, ran) in
        [(0, vec![]), (1, vec![1]), (10, vec![10]), (25, vec![10, 10, 5]), (30, vec![10, 10, 10])]
    {
        let (load, log) = run(10, Duration::ZERO, |_| Until::Iterations(amount));
        assert_eq!(load.ran, ran, "{amount}");
        assert_eq!((log.ends.len(), log.iterations()), (ran.len(), amount));
        assert!(log.ends.is_sorted() && log.ends.first().is_none_or(|end| *end >= log.from));
    }
}

#[test]
fn slices_end_at_the_first_end_that_is_due() {
    let (load, log) =
        run(10, Duration::from_micros(2), |t| Until::Tick(t.now() + t.in_seconds(2e-3)));
    assert!((1..=100).contains(&load.ran.len()), "{}", load.ran.len());
    assert_eq!(log.iterations(), 10 * load.ran.len() as u64);
    let (load, log) = run(10, Duration::ZERO, |_| Until::Tick(0));
    assert_eq!((load.ran, log.iterations()), (vec![10], 10), "one in any case");
    assert_eq!(log.first_end_after(log.ends[0]), None);
    assert_eq!(log.first_end_after(log.from - 1), Some(log.ends[0]));
}

#[test]
fn the_clock_is_read_between_slices_and_not_after_the_last() {
    // Each slice takes longer than the time between two readings.
    let (load, log) = run(1, Duration::from_millis(2), |_| Until::Iterations(5));
    // A chain that warms up, and one that counts.
    assert_eq!(load.read, [1, 1, 2, 2, 3, 3, 4, 4]);
    let in_turn = [Chain::First, Chain::First, Chain::Second, Chain::Second].repeat(2);
    assert_eq!(load.chains, in_turn, "each is run once untimed");
    assert_eq!(log.readings.len(), 4);
    for (reading, pair) in log.readings.iter().zip(log.ends.windows(2)) {
        assert_eq!((reading.after, reading.cycles), (pair[0], CLOCK_CYCLES));
        assert!(
            reading.after <= reading.from && reading.from <= reading.to && reading.to < pair[1]
        );
    }
}

#[test]
fn the_clock_is_read_once_a_millisecond() {
    let (load, log) = run(1, Duration::from_micros(20), |_| Until::Iterations(200));
    assert_eq!(load.ran.len(), 200);
    let every = Ticks::new().in_seconds(1e-3);
    let most = (log.ends[199] - log.from) / every + 1;
    let read = log.readings.len() as u64;
    assert!((3..=most).contains(&read), "{read} of {most}");
}

#[test]
fn a_log_has_room_for_four_times_the_slices_that_are_due() {
    let log = Log::with_room(cutting(10), 0.1);
    assert!((20_000..40_000).contains(&log.ends.capacity()));
    assert!((200..1000).contains(&log.readings.capacity()));
    assert!(log.ends.is_empty() && log.readings.is_empty() && log.slice == 10);
}

/// Slices of one iteration that double with the log, up to a limit.
fn ahead(each: u64, slices: u64) -> Log {
    // One in five has a gap.
    let ends = (1..=slices).map(|i| i * 100 * each + i / 5 * 50_000).collect();
    Log { slice: 100, last: 100, ends, ..Log::default() }
}

/// Iterations of a slice, in a trial of this many seconds or iterations. Ahead of it the load took
/// this many ticks per iteration; a tick is a nanosecond.
fn fitted(like: &Log, slice: u64, amount: (f64, Option<u64>)) -> u64 {
    let mut log = Log::with_room(cutting(slice), amount.0);
    log.fit(like, cutting(slice), 1e9, amount);
    log.slice
}

#[test]
fn slices_are_as_long_as_they_should_be_whatever_was_calibrated() {
    for calibrated in [1, 100, 1_000_000_000] {
        let fitted = |each, slices| fitted(&ahead(each, slices), calibrated, (0.1, None));
        assert_eq!([1, 5, 200].map(|each| fitted(each, 50)), [20_000, 4_000, 100]);
        assert_eq!(fitted(5, 5), calibrated, "too few to tell");
        assert_eq!(fitted(1_000_000, 50), 1, "one iteration at least");
    }
    // A fixed amount counts by its measured duration, not by the estimate.
    for estimated in [1e-3, 0.1, 1e6] {
        let fitted = |iterations| fitted(&ahead(5, 50), 100, (estimated, Some(iterations)));
        assert_eq!([20_000_000, 10_000_000_000].map(fitted), [4_000, 40_000]);
    }
}

#[test]
fn slices_ahead_get_longer_until_they_are_long_enough() {
    let (mut load, ticks) =
        (Spins { each: Duration::from_nanos(200), ..Spins::default() }, Ticks::new());
    let mut log = Log::with_room(cutting(1_000_000_000), 0.02);
    log.run_ahead(&mut load, ticks, Cut::Core, Until::Tick(ticks.now() + ticks.in_seconds(0.01)));
    let longest = *load.ran.iter().max().unwrap();
    assert_eq!(load.ran[..3], [1, 2, 4]);
    assert!((16..=128).contains(&longest), "{longest} of 100 of 20 us");
    assert_eq!(log.iterations(), load.sum);
    assert!(log.slices().map(|(_, iterations)| iterations).eq(load.ran.iter().copied()));
    let each_ns = log.usual_ticks().unwrap() / ticks.in_seconds(1e-9 * 1e6) as f64 * 1e6;
    assert!((195.0..400.0).contains(&each_ns), "{each_ns}");
}

#[test]
fn where_nothing_was_seen_ahead_the_timed_slices_find_their_length() {
    for calibrated in [1, 1_000_000_000] {
        let (mut load, ticks) =
            (Spins { each: Duration::from_nanos(200), ..Spins::default() }, Ticks::new());
        let mut log = Log::with_room(cutting(calibrated), 0.01);
        log.fit(&Log::default(), cutting(calibrated), 1e9, (0.01, None));
        log.run(&mut load, ticks, Cut::Core, Until::Iterations(50_000));
        assert_eq!((log.iterations(), load.sum), (50_000, 50_000));
        let longest = *load.ran.iter().max().unwrap();
        assert!((16..=128).contains(&longest), "{longest} of 100 of 20 us");
        let slice_us = log.slice_ticks().unwrap() / ticks.in_seconds(1e-3) as f64 * 1e3;
        assert!((3.0..60.0).contains(&slice_us), "{slice_us}");
    }
}

/// Plans of a trial and its real durations: absurd times, and any number of threads.
#[test]
fn logs_of_all_threads_take_at_most_64_mib_whatever_is_estimated() {
    for threads in [1_usize, 2, 99, 4096] {
        for seconds in [0.0, 0.1, 300.0, 262_500.0, 1e12, f64::INFINITY] {
            for filling in [(1, 1e6), (1 << 30, 1.0), (u64::MAX, 1e-3)] {
                for cut in [Cut::Core, Cut::Bus] {
                    let cutting = Cutting::new((cut, None), seconds, filling).for_threads(threads);
                    let all_three =
                        [SLICED, SLICED, seconds].map(|s| Log::with_room(cutting, s).bytes());
                    let all = threads * all_three.iter().sum::<usize>();
                    assert!(all <= MAX_BYTES, "{threads} of {seconds} s: {all} B");
                }
            }
        }
    }
}

const SLICED: f64 = 0.02;

#[test]
fn a_log_that_fills_up_goes_on_in_longer_slices_and_takes_no_more_memory() {
    for amount in [1_u64 << 14, 1 << 24, u64::MAX >> 8] {
        let mut log = Log::with_room(cutting(1).for_threads(1 << 20), 1e-3);
        let (room, readings) = (log.ends.capacity(), log.readings.capacity());
        assert_eq!((room, readings), (MIN_ROOM, MIN_ROOM));
        let mut load = Spins { sums: true, ..Spins::default() };
        log.run(&mut load, Ticks::new(), Cut::Core, Until::Iterations(amount));
        assert_eq!((log.ends.capacity(), log.readings.capacity()), (room, readings));
        assert_eq!((log.iterations(), load.sum), (amount, amount));
        assert!(log.ends.is_sorted() && log.ends.len() <= room);
        assert!(log.slices().map(|(_, i)| i).take(log.ends.len() - 1).is_sorted());
    }
    // The same for a trial by time, which ends as planned.
    let (mut load, ticks) = (Spins { sums: true, ..Spins::default() }, Ticks::new());
    let mut log = Log::with_room(cutting(1).for_threads(1 << 20), 1e-3);
    log.run(&mut load, ticks, Cut::Core, Until::Tick(ticks.now() + ticks.in_seconds(0.02)));
    assert_eq!(log.iterations(), load.sum);
    assert!((MIN_ROOM / 2..=MIN_ROOM).contains(&log.ends.len()));
}
