//! Rounds from fake logs: a tick is a nanosecond.

use proofmark_model::Cut;

use super::*;

const SCALE: Scale = Scale { tick_s: 1e-9 };
/// Tick at which the timed part begins.
const BEGIN: u64 = 1_000_000_000;
/// Ticks and iterations of a slice at the full rate.
const SLICE: u64 = 20_000;
const ITERATIONS: u64 = 100;
/// Iterations per second at the full rate.
const RATE: f64 = 5e6;
const SLICE_S: f64 = 20e-6;
/// Ticks that a reading of the time takes, and cycles of a reading of the clock.
const OVERHEAD: u64 = 20;
const CYCLES: u64 = 24_000;
/// Instructions per cycle of a core that runs one thread.
const WIDTH: f64 = 6.0;

/// A log that grows as a thread would make it.
struct Thread(Log);

impl Thread {
    fn begins(at: u64) -> Self {
        Self(Log { from: at, slice: ITERATIONS, last: ITERATIONS, ..Log::default() })
    }

    fn now(&self) -> u64 {
        let ended = self.0.ends.last().copied().unwrap_or(self.0.from);
        self.0.readings.last().map_or(ended, |r| r.to.max(ended))
    }

    /// Adds slices of this many ticks until `until`.
    fn works(mut self, each: u64, until: u64) -> Self {
        while self.now() < until {
            let end = self.now() + each;
            self.0.ends.push(end);
        }
        self
    }

    /// Reads the clock of a core that has its full width, interrupted for this many ticks.
    fn reads(self, hz: f64, held: u64) -> Self {
        self.reads_width(hz, held, WIDTH)
    }

    /// Reads the clock of a core that issues this many instructions per cycle.
    fn reads_width(mut self, hz: f64, held: u64, width: f64) -> Self {
        let (after, cycles, instructions) = (self.now(), CYCLES, CYCLES);
        let from = after + 200;
        let took = |cycles: f64| (cycles / hz * 1e9).round() as u64 + OVERHEAD;
        let chained = from + took(cycles as f64) + held;
        let to = chained + took(instructions as f64 / width);
        let chain = Chain::BOTH[self.0.readings.len() % 2];
        self.0.readings.push(Reading { chain, after, from, chained, cycles, instructions, to });
        self
    }

    /// Adds slices, with a reading of the clock every millisecond.
    fn works_and_reads(mut self, each: u64, hz: f64, until: u64) -> Self {
        while self.now() < until {
            let next = until.min(self.now() + 1_000_000);
            self = self.works(each, next).reads(hz, 0);
        }
        self
    }

    fn on(self, number: u32) -> (Cpu, Log) {
        (Cpu { number, core: number }, self.0)
    }
}

/// The cutting of a trial of this many seconds, or of one round.
fn cutting(seconds: f64, least_rounds: Option<u32>) -> Cutting {
    Cutting::new((Cut::Core, least_rounds), seconds, (ITERATIONS, SLICE_S))
}

fn recorded(logs: &[(Cpu, Log)], seconds: f64, cutting: Cutting) -> Recorded<'_> {
    let (scale, overhead, from, cpus) = (SCALE, OVERHEAD, BEGIN, logs.len());
    Recorded { logs, scale, overhead, from, seconds, cutting, cpus, away: &[] }
}

/// The cutting for a fixed number of trials.
fn in_unit(logs: &[(Cpu, Log)], seconds: f64, unit: Unit) -> Rounds {
    let cutting = Cutting { slice: ITERATIONS, slice_s: SLICE_S, ..cutting(seconds, Some(1)) };
    recorded(logs, seconds, cutting).rounds(unit, 2.0)
}

/// Rounds with 2 operations per iteration.
fn rounds(logs: &[(Cpu, Log)], seconds: f64) -> Rounds {
    in_unit(logs, seconds, Unit::OpPerSecond)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() <= within, "{found}, not {expected}");
}

/// Tick at this many milliseconds of the timed part.
fn after_ms(ms: u64) -> u64 {
    BEGIN + ms * 1_000_000
}

fn even(ms: u64) -> Thread {
    Thread::begins(BEGIN).works(SLICE, after_ms(ms))
}

#[test]
fn figures_are_in_the_unit() {
    let logs = [even(100).on(0)];
    for (unit, expected) in [(Unit::OpPerSecond, 2.0 * RATE), (Unit::Second, 0.5 / RATE)] {
        let Rounds { all, iterations, clocks, worked_s, .. } = in_unit(&logs, 0.1, unit);
        let [round] = &all[..] else { panic!("{all:?}") };
        near(round.delivered, expected, 1e-9);
        near(round.typical.unwrap(), expected, 1e-9);
        near(round.attainable.unwrap(), expected, 1e-9);
        near(round.clean_s, 0.1, 1e-9);
        assert_eq!((round.at_s, round.seconds, round.clock_hz), (0.0, 0.1, None));
        near(iterations, 0.1 * RATE, 1e-9);
        assert_eq!(clocks, [None], "the clock was not read");
        near(worked_s[0], 0.1, 1e-9);
    }
}

#[test]
fn a_thread_works_as_long_as_its_slices_without_gaps_and_our_readings() {
    // It lost 20 ms, and ten readings of the clock took 7 us each.
    let thread = even(30).works(SLICE + 20_000_000, after_ms(31)).works(SLICE, after_ms(80));
    let mut thread = thread;
    for ms in 81..=90 {
        thread = thread.works(SLICE, after_ms(ms)).reads(3.7e9, 0);
    }
    let logs = [thread.works(SLICE, after_ms(100)).on(0), even(100).on(1)];
    let Rounds { worked_s, .. } = rounds(&logs, 0.1);
    near(worked_s[0], 0.08, 1e-3);
    near(worked_s[1], 0.1, 1e-9);
}

#[test]
fn a_long_trial_is_cut_into_rounds_of_which_each_has_its_own_figures() {
    let slower = |thread: Thread| thread.works(SLICE * 5 / 4, after_ms(300));
    let logs = [slower(even(200)).works(SLICE, after_ms(500)).on(0)];
    let Rounds { all, iterations, .. } = rounds(&logs, 0.5);
    assert_eq!(all.len(), 5);
    for (i, round) in all.iter().enumerate() {
        let rate = 2.0 * RATE * if i == 2 { 0.8 } else { 1.0 };
        near(round.at_s + 1.0, 1.0 + 0.1 * i as f64, 1e-9);
        near(round.seconds, 0.1, 1e-9);
        near(round.delivered, rate, 1e-3);
        near(round.attainable.unwrap(), rate, 1e-3);
    }
    near(iterations, RATE * 0.48, 1e-3);
}

#[test]
fn a_trial_is_one_round_however_long_unless_their_number_is_fixed() {
    for (ms, fixed) in [(100, 1), (400, 4), (1000, 10), (20_000, 100)] {
        let seconds = ms as f64 * 1e-3;
        let rounds = |least| {
            let cutting = cutting(seconds, least);
            let each = SLICE * cutting.slice / ITERATIONS;
            let mut thread = Thread::begins(BEGIN).works(each, after_ms(ms));
            (thread.0.slice, thread.0.last) = (cutting.slice, cutting.slice);
            recorded(&[thread.on(0)], seconds, cutting).rounds(Unit::OpPerSecond, 2.0)
        };
        let (one, cut) = (rounds(None), rounds(Some(1)));
        assert_eq!((one.all.len(), cut.all.len()), (1, fixed), "{ms} ms");
        for rounds in [one, cut] {
            let windows: u32 = rounds.all.iter().flat_map(|r| &r.histogram).sum();
            assert!((400..=25_600).contains(&windows), "{ms} ms: {windows} windows");
            let digits: usize = rounds.all.iter().map(|r| r.strip.len()).sum();
            assert!((100..=25_600).contains(&digits), "{ms} ms: {digits} digits");
            for round in &rounds.all {
                near(round.seconds, seconds / rounds.all.len() as f64, 1e-9);
                near(round.attainable.unwrap(), 2.0 * RATE, 1e-3);
                near(round.typical.unwrap(), 2.0 * RATE, 1e-3);
                near(round.delivered, 2.0 * RATE, 1e-3);
            }
        }
    }
}

#[test]
fn a_round_is_no_longer_than_its_trial() {
    for (ms, count) in [(1, 1), (50, 1), (149, 1), (151, 2), (260, 3)] {
        let all = rounds(&[even(ms).on(0)], ms as f64 * 1e-3).all;
        assert_eq!(all.len(), count, "{ms} ms");
        near(all.iter().map(|r| r.seconds).sum(), ms as f64 * 1e-3, 1e-9);
        assert!(all.iter().all(|r| r.attainable.is_some()), "{ms} ms");
    }
}

#[test]
fn work_at_the_edges_counts_in_part() {
    // Half of the first slice is before the timed part, and three quarters of the last one after
    // it.
    let thread = Thread::begins(BEGIN - SLICE / 2).works(SLICE, after_ms(1));
    let seconds = 1e-3 - 5e-6;
    let Rounds { all, iterations, .. } = rounds(&[thread.on(0)], seconds);
    near(iterations, RATE * seconds, 1e-9);
    near(all[0].delivered, 2.0 * RATE, 1e-9);
    // Slices that ended before or began later do not count.
    let thread = Thread::begins(after_ms(0) - 10 * SLICE).works(SLICE, after_ms(30));
    near(rounds(&[thread.on(0)], 0.02).iterations, RATE * 0.02, 1e-9);
    // The last slice of a fixed amount has fewer iterations.
    let mut short = even(1);
    short.0.last = 40;
    near(rounds(&[short.on(0)], 1e-3).iterations, RATE * 1e-3 - 60.0, 1e-9);
}

#[test]
fn threads_are_added_up_and_the_least_seen_core_is_reported() {
    let held = even(40).works(SLICE + 30_000_000, after_ms(70)).works(SLICE, after_ms(100));
    let all = rounds(&[even(100).on(0), held.on(1)], 0.1).all;
    near(all[0].attainable.unwrap(), 4.0 * RATE, 1e-6);
    near(all[0].typical.unwrap(), 4.0 * RATE, 1e-6);
    near(all[0].delivered, 2.0 * RATE * 1.7, 1e-3);
    near(all[0].clean_s, 0.07, 0.01);
}

#[test]
fn the_clock_is_that_of_the_attainable_rate() {
    // For most of the time a lower clock, and no gap.
    let thread = Thread::begins(BEGIN).works_and_reads(SLICE, 3.0e9, after_ms(40)).works_and_reads(
        SLICE * 5 / 4,
        2.4e9,
        after_ms(100),
    );
    let Rounds { all, clocks, .. } = rounds(&[thread.on(0)], 0.1);
    let (hz, spread) = clocks[0].unwrap();
    near(hz, 3.0e9, 1e-4);
    near(all[0].clock_hz.unwrap(), 3.0e9, 1e-4);
    assert!(spread < 1e-3, "{spread}");
    // The change is too small to show in the rate.
    let dithers = (0..100).fold(Thread::begins(BEGIN), |thread, ms| {
        let (slice, hz) = if ms % 4 == 0 { (SLICE, 3.0e9) } else { (SLICE * 101 / 100, 2.97e9) };
        thread.works_and_reads(slice, hz, after_ms(ms + 1))
    });
    near(rounds(&[dithers.on(0)], 0.1).clocks[0].unwrap().0, 3.0e9, 1e-3);
    // Nor do readings that were interrupted.
    let gaps = (0..100).fold(Thread::begins(BEGIN), |thread, ms| {
        let hz = if ms % 5 < 3 { 2.0e9 } else { 3.0e9 };
        let thread = thread.reads(hz, 0);
        let each = if ms % 5 < 3 { 400_000 } else { SLICE };
        thread.works(each, after_ms(ms) + 400_000).works(SLICE, after_ms(ms + 1))
    });
    near(rounds(&[gaps.on(0)], 0.1).clocks[0].unwrap().0, 3.0e9, 1e-4);
}

#[test]
fn the_clock_is_the_middle_of_rounds_and_the_mean_of_threads() {
    let steps = |clocks: [f64; 3]| {
        (0..3).fold(Thread::begins(BEGIN), |thread, i| {
            thread.works_and_reads(SLICE, clocks[i], after_ms(100 * (i as u64 + 1)))
        })
    };
    let logs = [steps([3.0e9, 2.0e9, 2.9e9]).on(0), steps([4.0e9; 3]).on(1)];
    let Rounds { all, clocks, .. } = rounds(&logs, 0.3);
    near(clocks[0].unwrap().0, 2.9e9, 2e-4);
    near(clocks[1].unwrap().0, 4.0e9, 1e-4);
    near(all[1].clock_hz.unwrap(), 3.0e9, 1e-4);
}

#[test]
fn the_faster_chain_is_the_clock_also_where_it_is_fast_for_a_short_time_only() {
    // A busy sibling slows the second chain, and the clock is high for 8 % of the time.
    let mut read = Thread::begins(BEGIN);
    for ms in 1..=100 {
        let hz = if ms <= 8 { 4.0e9 } else { 3.8e9 };
        let slowed = if ms % 2 == 0 { 0.965 } else { 1.0 };
        read = read.works_and_reads(SLICE, hz * slowed, after_ms(ms));
    }
    let Rounds { all, clocks, .. } = rounds(&[read.on(0)], 0.1);
    near(all[0].clock_hz.unwrap(), 4.0e9, 1e-3);
    assert!(clocks[0].unwrap().1 < 1e-3, "{clocks:?}");
}

#[test]
fn a_reading_of_the_clock_costs_nothing_but_its_interruption_does() {
    let read = Thread::begins(BEGIN).works_and_reads(SLICE, 3.0e9, after_ms(100));
    let round = &rounds(&[read.on(0)], 0.1).all[0];
    near(round.typical.unwrap(), 2.0 * RATE, 1e-3);
    near(round.clean_s, 0.1, 1e-2);
    let interrupted = Thread::begins(BEGIN)
        .works_and_reads(SLICE, 3.0e9, after_ms(50))
        .reads(3.0e9, 20_000_000)
        .works_and_reads(SLICE, 3.0e9, after_ms(100));
    let round = &rounds(&[interrupted.on(0)], 0.1).all[0];
    near(round.typical.unwrap(), 2.0 * RATE, 1e-3);
    near(round.clean_s, 0.08, 1e-2);
    near(round.delivered, 2.0 * RATE * 0.8, 1e-2);
    near(round.clock_hz.unwrap(), 3.0e9, 1e-4);
}

#[test]
fn while_one_sibling_is_interrupted_in_its_reading_the_other_is_not_taken_for_both() {
    let held = Thread::begins(BEGIN)
        .works_and_reads(SLICE, 3.0e9, after_ms(50))
        .reads(3.0e9, 20_000_000)
        .works_and_reads(SLICE, 3.0e9, after_ms(100));
    // It has the core to itself meanwhile.
    let faster = even(50).works(SLICE * 10 / 14, after_ms(70)).works(SLICE, after_ms(100));
    let siblings = [held.0, faster.0].into_iter().zip(0..);
    let logs: Vec<_> = siblings.map(|(log, number)| (Cpu { number, core: 0 }, log)).collect();
    let round = &rounds(&logs, 0.1).all[0];
    near(round.typical.unwrap(), 4.0 * RATE, 1e-2);
    near(round.attainable.unwrap(), 4.0 * RATE, 1e-2);
}

#[test]
fn the_strip_and_the_histogram_show_when_and_how_often() {
    // 0.77 of the full rate in the second half.
    let thread = even(50).works(25_974, after_ms(100));
    let round = &rounds(&[thread.on(0)], 0.1).all[0];
    assert_eq!(round.strip.len(), 100, "a digit a millisecond");
    let (first, second) = round.strip.split_at(50);
    assert_eq!(first, "9".repeat(50));
    assert_eq!(second, "7".repeat(50));
    assert_eq!(round.histogram.len(), 20);
    assert_eq!(round.histogram.iter().sum::<u32>(), 400, "windows of a quarter of a millisecond");
    assert!(round.histogram[15] >= 198 && round.histogram[19] >= 199, "{:?}", round.histogram);
    // Lost time is a low rate in both.
    let held = even(50).works(SLICE + 10_000_000, after_ms(60)).works(SLICE, after_ms(100));
    let round = &rounds(&[held.on(0)], 0.1).all[0];
    assert_eq!(&round.strip[51..60], "000000000");
    assert!((39..=42).contains(&round.histogram[0]), "{:?}", round.histogram);
}

#[test]
fn a_round_in_which_no_operation_ended_took_no_less_than_that_long() {
    let held = even(1).reads(3.0e9, 300_000_000).works(SLICE, after_ms(400));
    let logs = [held.on(0)];
    let times = in_unit(&logs, 0.4, Unit::Second).all;
    near(times[1].delivered, 0.1 / 2.0, 0.06);
    assert_eq!((times[1].typical, times[1].attainable), (None, None));
    let rate = rounds(&logs, 0.4).all[1].delivered;
    assert!(rate == 0.0 && rate.is_sign_positive(), "{rate}");
}

#[test]
fn each_round_leaves_out_the_windows_in_which_its_load_was_away() {
    let logs = [even(400).on(0)];
    let cutting = Cutting { slice: ITERATIONS, slice_s: SLICE_S, ..cutting(0.4, Some(1)) };
    let away = [vec![(0.1, 0.2), (0.25, 0.3)]];
    let recorded = Recorded { away: &away, ..recorded(&logs, 0.4, cutting) };
    let clean: Vec<f64> =
        recorded.rounds(Unit::OpPerSecond, 2.0).all.iter().map(|r| r.clean_s).collect();
    assert_eq!(clean.len(), 4);
    for (found, expected) in clean.iter().zip([0.1, 0.0, 0.05, 0.1]) {
        assert!((found - expected).abs() < 3e-3, "{clean:?}");
    }
}

#[test]
fn what_is_too_short_or_empty_has_no_figure_and_no_infinite_one() {
    let empty = Thread::begins(BEGIN).on(0);
    let instant = Thread::begins(BEGIN).works(SLICE, BEGIN + SLICE).on(0);
    // A clock so coarse that every duration is 0.
    let mut coarse = Thread::begins(BEGIN);
    coarse.0.ends = vec![BEGIN + 1; 50];
    for (logs, seconds) in [
        (vec![empty.clone()], 0.1),
        (vec![empty], 0.0),
        (vec![instant], 1e-6),
        (vec![coarse.on(0)], 1e-3),
    ] {
        for unit in [Unit::OpPerSecond, Unit::Second] {
            let Rounds { all, iterations, .. } = in_unit(&logs, seconds, unit);
            assert!(all.len() == 1 && iterations.is_finite(), "{iterations}");
            assert!(all[0].delivered.is_finite() && all[0].clean_s.is_finite(), "{:?}", all[0]);
        }
    }
    let mut coarse = Thread::begins(BEGIN);
    coarse.0.ends = vec![BEGIN + 1; 50];
    assert_eq!(rounds(&[coarse.on(0)], 1e-3).iterations.round(), 50.0 * ITERATIONS as f64);
}

#[test]
fn threads_that_are_not_pinned_share_a_core() {
    let at = |thread| Cpu::for_thread(thread, None);
    assert_eq!(at(3), Cpu { number: 3, core: u32::MAX });
    assert_eq!(at(4).core, at(3).core);
    let none = u32::MAX - 1;
    assert_eq!(Cpu::for_thread(0, Some(none)), Cpu { number: none, core: none });
    let here = Cpu::for_thread(1, Some(0));
    assert_eq!((here.number, here.core), (0, 0), "the first CPU is the first of its core");
}

#[test]
fn a_core_that_is_shared_all_the_time_issues_less() {
    let until = BEGIN + 100_000_000;
    let with = |width: fn(u64) -> f64| {
        let mut thread = Thread::begins(BEGIN);
        for i in 1..=100 {
            thread = thread.works(SLICE, BEGIN + i * 1_000_000).reads_width(3.7e9, 0, width(i));
        }
        thread.works(SLICE, until).on(0)
    };
    let width = |logs: &[(Cpu, Log)]| rounds(logs, 0.1).all[0].issue_width;
    let near = |found: Option<f64>, expected: f64| {
        assert!((found.unwrap() / expected - 1.0).abs() < 0.01, "{found:?}, not {expected}");
    };
    near(width(&[with(|_| WIDTH)]), WIDTH);
    near(width(&[with(|_| 0.5 * WIDTH)]), 0.5 * WIDTH);
    // A tenth of the time shows what the core can do; a reading in a hundred does not.
    near(width(&[with(|i| if i % 10 == 0 { WIDTH } else { 0.6 * WIDTH })]), WIDTH);
    near(width(&[with(|i| if i == 50 { WIDTH } else { 0.6 * WIDTH })]), 0.6 * WIDTH);
    // Of several threads the one whose core is shared counts.
    let (cpu, log) = with(|_| 0.6 * WIDTH);
    near(width(&[with(|_| WIDTH), (Cpu { number: cpu.number + 1, core: 1 }, log)]), 0.6 * WIDTH);
    assert_eq!(width(&[Thread::begins(BEGIN).works(SLICE, until).on(0)]), None, "no reading");
    // An interruption of the chain makes no core wider.
    let held = Thread::begins(BEGIN).works(SLICE, BEGIN + 1_000_000).reads(3.7e9, 0);
    let held = held.works(SLICE, BEGIN + 2_000_000).reads(3.7e9, 50_000).works(SLICE, until);
    near(width(&[held.on(0)]), WIDTH);
}
