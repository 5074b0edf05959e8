//! Threads that sleep, wait for each other and tell what was asked of them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use proofmark_model::Params;

use super::*;
use crate::clock_samples::ClockSamples;
use crate::null::NULL;
use crate::workload::{Amount, Workload as _};

/// Sleeps as many milliseconds as it has iterations; thread 1 sets off late.
struct Sleepers;

struct Sleeper {
    slept: u64,
    late: bool,
}

impl Setup for Sleepers {
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        match index {
            7 => Err(Refusal("no place for an eighth".to_owned())),
            _ => Ok(Box::new(Sleeper { slept: 0, late: index == 1 })),
        }
    }
}

impl Load for Sleeper {
    fn run(&mut self, iterations: u64) {
        if self.late {
            thread::sleep(Duration::from_millis(30));
        }
        thread::sleep(Duration::from_millis(iterations));
        self.slept = iterations;
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.slept)
    }
}

fn team(threads: usize) -> Result<Team, TeamError> {
    let setup: Arc<dyn Setup> = Arc::new(Sleepers);
    Team::start(&setup, threads, &[], Watched::default())
}

#[test]
fn time_runs_from_the_first_start_to_the_last_end() {
    let trial = team(2).unwrap().trial(&[20, 40], 0).unwrap();
    // Thread 1 takes 30 ms more than its 40.
    assert!(trial.seconds >= 0.070 && trial.seconds < 2.0, "{}", trial.seconds);
    assert_eq!(trial.counted, 60);
}

/// Most machines have none of these CPUs: the threads then run unpinned.
#[test]
fn teams_of_512_threads_on_cpus_of_any_number() {
    let setup: Arc<dyn Setup> = Arc::from(NULL.setup(&Params::default()).unwrap());
    let cpus: Vec<u32> = (1536..2048).collect();
    let team = Team::start(&setup, 512, &cpus, Watched::default()).unwrap();
    let trial = team.trial(&[3; 512], 1).unwrap();
    assert_eq!(trial.counted, 3 * 512);
    assert!(trial.seconds > 0.0 && !team.oversubscribed);
}

#[test]
fn what_is_done_ahead_is_not_timed() {
    let trial = team(1).unwrap().trial(&[5], 1000).unwrap();
    assert!(trial.seconds >= 0.005 && trial.seconds < 1.0, "{}", trial.seconds);
    assert_eq!(trial.counted, 5);
}

#[test]
fn sleeping_is_not_cpu_time_and_nobody_competes() {
    let trial = team(1).unwrap().trial(&[200], 0).unwrap();
    if let Some(own) = trial.conditions.own_cpu_s {
        assert!(own < 0.1, "{own}");
    }
    assert_eq!(trial.conditions.major_faults, Some(0));
}

#[test]
fn a_thread_that_refuses_refuses_the_team() {
    let refused = team(8).err();
    assert_eq!(refused, Some(TeamError::Refused("no place for an eighth".to_owned())));
}

/// Tells what is asked of each of its threads. A thread without a share goes on for a
/// while after it was told to stop, and moves a million bytes a second.
#[derive(Default)]
struct Diary {
    calls: Mutex<Vec<(usize, &'static str, u64)>>,
    working: AtomicUsize,
}

#[derive(Clone, Default)]
struct Writers(Arc<Diary>);

struct Writer {
    diary: Arc<Diary>,
    index: usize,
    done: u64,
}

/// How long a worker takes for each iteration, and a disturber after the last one.
const WORK: Duration = Duration::from_millis(10);
const AFTER: Duration = Duration::from_millis(600);
const BYTES_PER_S: f64 = 1e6;

impl Diary {
    fn note(&self, index: usize, call: &'static str, number: u64) {
        self.calls.lock().unwrap().push((index, call, number));
    }

    /// The calls of one thread.
    fn of(&self, index: usize) -> Vec<(&'static str, u64)> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|c| c.0 == index).map(|c| (c.1, c.2)).collect()
    }
}

impl Setup for Writers {
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Writer { diary: Arc::clone(&self.0), index, done: 0 }))
    }
}

impl Load for Writer {
    fn prepare(&mut self, iterations: u64) {
        self.diary.note(self.index, "prepare", iterations);
    }
    fn run(&mut self, iterations: u64) {
        self.diary.working.fetch_add(1, Ordering::SeqCst);
        thread::sleep(WORK * u32::try_from(iterations).unwrap());
        self.diary.note(self.index, "run", iterations);
        self.done = iterations;
        self.diary.working.fetch_sub(1, Ordering::SeqCst);
    }
    fn disturb(&mut self, stop: &AtomicBool) -> f64 {
        let start = Instant::now();
        while !stop.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        // Nobody works any more: this is what the last argument tells.
        let working = self.diary.working.load(Ordering::SeqCst) as u64;
        self.diary.note(self.index, "stopped", working);
        thread::sleep(AFTER);
        start.elapsed().as_secs_f64() * BYTES_PER_S
    }
    fn verify(&mut self) -> Result<u64, String> {
        self.diary.note(self.index, "verify", 0);
        Ok(self.done)
    }
}

fn write(threads: usize, shares: &[u64], ahead: u64) -> (TeamTrial, Arc<Diary>) {
    let writers = Writers::default();
    let setup: Arc<dyn Setup> = Arc::new(writers.clone());
    let team = Team::start(&setup, threads, &[], Watched::default()).unwrap();
    (team.trial(shares, ahead).unwrap(), writers.0)
}

#[test]
fn all_iterations_are_prepared_before_the_first_is_run() {
    let (trial, diary) = write(2, &[3, 4], 2);
    assert_eq!(diary.of(0), [("prepare", 5), ("run", 2), ("run", 3), ("verify", 0)]);
    assert_eq!(diary.of(1), [("prepare", 6), ("run", 2), ("run", 4), ("verify", 0)]);
    assert_eq!((trial.counted, trial.background), (7, None), "nobody was without a share");
}

#[test]
fn a_thread_without_a_share_disturbs_until_the_workers_are_done() {
    let (trial, diary) = write(3, &[5], 1);
    assert_eq!(diary.of(0), [("prepare", 6), ("run", 1), ("run", 5), ("verify", 0)]);
    for index in [1, 2] {
        assert_eq!(diary.of(index), [("stopped", 0)], "no worker was at work when it was told");
    }
    assert_eq!(trial.counted, 5);
    let (_, diary) = write(3, &[1, 20], 0);
    assert_eq!(diary.of(2), [("stopped", 0)], "the last of two workers counts");
}

#[test]
fn the_time_of_a_thread_without_a_share_does_not_count_but_its_bytes_do() {
    let (trial, _) = write(3, &[2, 2], 0);
    assert!(trial.seconds >= 0.02 && trial.seconds < AFTER.as_secs_f64(), "{}", trial.seconds);
    // Two workers and one that disturbs, over its own time.
    let rate = trial.background.unwrap() / BYTES_PER_S;
    assert!(rate > 0.8 && rate <= 1.0, "{rate}");
    let (trial, _) = write(3, &[2], 0);
    let rate = trial.background.unwrap() / BYTES_PER_S;
    assert!(rate > 1.6 && rate <= 2.0, "{rate}: two that disturb");
}

#[test]
fn a_second_trial_stops_those_without_a_share_again() {
    let writers = Writers::default();
    let setup: Arc<dyn Setup> = Arc::new(writers.clone());
    let team = Team::start(&setup, 2, &[], Watched::default()).unwrap();
    for shares in [&[3][..], &[1, 1], &[2]] {
        team.trial(shares, 0).unwrap();
    }
    let second: Vec<_> = writers.0.of(1).iter().map(|c| c.0).collect();
    assert_eq!(second, ["stopped", "prepare", "run", "run", "verify", "stopped"]);
    assert!(writers.0.of(1).iter().all(|c| c.0 != "stopped" || c.1 == 0));
}

/// Works as many milliseconds as it has iterations, and then waits for as long again.
struct Waiter {
    idled: Duration,
}

impl Load for Waiter {
    fn run(&mut self, iterations: u64) {
        thread::sleep(Duration::from_millis(iterations));
        let waits = Instant::now();
        thread::sleep(Duration::from_millis(iterations));
        self.idled = waits.elapsed();
    }
    fn idled_s(&mut self) -> f64 {
        self.idled.as_secs_f64()
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(1)
    }
}

struct Waiters;

impl Setup for Waiters {
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Waiter { idled: Duration::ZERO }))
    }
}

#[test]
fn time_that_a_load_only_waited_at_its_end_does_not_count() {
    let setup: Arc<dyn Setup> = Arc::new(Waiters);
    let team = Team::start(&setup, 2, &[], Watched::default()).unwrap();
    let seconds = team.trial(&[10, 400], 5).unwrap().seconds;
    // With the wait it would be 0.8 s at least.
    assert!((0.39..0.8).contains(&seconds), "{seconds}");
}

/// Has read the clock itself, at that share of the plain one.
struct Reader(ClockSamples);

impl Load for Reader {
    fn run(&mut self, iterations: u64) {
        thread::sleep(Duration::from_millis(iterations));
    }
    fn clock_samples(&self) -> Option<&ClockSamples> {
        Some(&self.0)
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(1)
    }
}

struct Readers(f64);

impl Setup for Readers {
    fn amount(&self) -> Amount {
        Amount::Calibrated
    }
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Reader(ClockSamples::of(&[self.0; 5]))))
    }
}

#[test]
fn the_clock_of_a_trial_is_what_its_load_read() {
    let Some(plain) = crate::chain::read_clock(200e-6, 50) else {
        eprintln!("skipped: no chains on this architecture");
        return;
    };
    let clock = |share: f64| {
        let setup: Arc<dyn Setup> = Arc::new(Readers(share * plain.by_adds));
        let team = Team::start(&setup, 2, &[], Watched::default()).unwrap();
        team.trial(&[1, 1], 0).unwrap().conditions.clock_hz.unwrap()
    };
    // A clock may step, and other work may slow the plain chain.
    let read = clock(0.8);
    assert!((read / plain.by_adds - 0.8).abs() < 1e-9, "{read}");
    // What no core does is not believed.
    let read = clock(0.1);
    assert!(read > 0.5 * plain.by_adds, "{read}");
}
