//! Threads that sleep, wait for each other and report the calls they got.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use proofmark_testing::wait_until;

use super::*;
use crate::clock::raw_seconds;
use crate::fake::{Call, Fake, count};
use crate::workload::Amount;

fn sleep_ms(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

/// Each thread sleeps one millisecond per iteration. Thread 1 starts late, and thread 8 is refused.
fn sleepers() -> Fake {
    Fake::new(Amount::Calibrated, |index, call| match call {
        Call::Thread if index == 7 => Err("no place for an eighth".to_owned()),
        Call::Run(iterations) => {
            sleep_ms(iterations + if index == 1 { 30 } else { 0 });
            Ok(iterations)
        }
        other => count(other),
    })
}

#[test]
fn time_runs_from_the_first_start_to_the_last_end() {
    let start = raw_seconds();
    let trial = sleepers().team(2, &[]).unwrap().trial(&[20, 40], 0).unwrap();
    let all_s = raw_seconds() - start;
    // Thread 1 takes 30 ms in addition to its 40.
    assert!((0.070..all_s).contains(&trial.known.seconds), "{} of {all_s}", trial.known.seconds);
    assert_eq!(trial.counted, 60);
}

/// Most machines have none of these CPUs, so the threads run unpinned.
#[test]
fn teams_of_512_threads_on_cpus_of_any_number() {
    let cpus: Vec<u32> = (1536..2048).collect();
    let team = Fake::counting(Amount::Calibrated).team(512, &cpus).unwrap();
    let trial = team.trial(&[3; 512], 1).unwrap();
    assert_eq!(trial.counted, 3 * 512);
    assert!(trial.known.seconds > 0.0 && !team.oversubscribed);
}

#[test]
fn what_is_done_ahead_is_not_timed_and_sleeping_is_no_cpu_time() {
    let start = raw_seconds();
    let trial = sleepers().team(1, &[]).unwrap().trial(&[200], 1000).unwrap();
    // The thread sleeps for a second ahead.
    let rest_s = raw_seconds() - start - 1.0;
    assert!((0.2..rest_s).contains(&trial.known.seconds), "{} of {rest_s}", trial.known.seconds);
    assert_eq!((trial.counted, trial.known.conditions.major_faults), (200, Some(0)));
    assert!(trial.known.conditions.own_cpu_s.is_none_or(|own| own < 0.1), "{trial:?}");
}

#[test]
fn a_thread_that_refuses_refuses_the_team() {
    let refused = sleepers().team(8, &[]).err();
    assert_eq!(refused, Some(Reply::Refused("no place for an eighth".to_owned())));
}

/// Sleep of a worker per iteration, and of a disturber after the last one.
const WORK: Duration = Duration::from_millis(10);
const AFTER: Duration = Duration::from_millis(600);
const BYTES_PER_S: f64 = 1e6;

/// Number of a thread, a call to it, and the call's argument.
type Asked = (usize, &'static str, u64);

#[derive(Default)]
struct Diary(Arc<Mutex<Vec<Asked>>>);

impl Diary {
    fn of_thread(&self, index: usize) -> Vec<(&'static str, u64)> {
        let calls = self.0.lock().unwrap();
        calls.iter().filter(|c| c.0 == index).map(|c| (c.1, c.2)).collect()
    }

    /// Threads that record their calls. One without a share continues for a while after the request
    /// to stop, and moves a million bytes per second.
    fn team(&self, threads: usize) -> CpuTeam {
        let (calls, working) = (Arc::clone(&self.0), AtomicUsize::new(0));
        let act = move |index, call: Call| {
            let note = |call, number| calls.lock().unwrap().push((index, call, number));
            match call {
                Call::Prepare(iterations) => note("prepare", iterations),
                Call::Verify => note("verify", 0),
                Call::Run(iterations) => {
                    working.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(WORK * u32::try_from(iterations).unwrap());
                    note("run", iterations);
                    working.fetch_sub(1, Ordering::SeqCst);
                    return Ok(iterations);
                }
                Call::Disturb(..) => {
                    let start = Instant::now();
                    let _ = count(call);
                    // Number of threads that still work.
                    note("stopped", working.load(Ordering::SeqCst) as u64);
                    thread::sleep(AFTER);
                    return Ok((start.elapsed().as_secs_f64() * BYTES_PER_S) as u64);
                }
                _ => {}
            }
            Ok(0)
        };
        Fake::new(Amount::Calibrated, act).team(threads, &[]).unwrap()
    }
}

fn write(threads: usize, shares: &[u64], ahead: u64) -> (ExecutorTrial, Diary) {
    let diary = Diary::default();
    (diary.team(threads).trial(shares, ahead).unwrap(), diary)
}

#[test]
fn all_iterations_are_prepared_before_the_first_is_run() {
    let (trial, diary) = write(2, &[3, 4], 2);
    assert_eq!(diary.of_thread(0), [("prepare", 5), ("run", 2), ("run", 3), ("verify", 0)]);
    assert_eq!(diary.of_thread(1), [("prepare", 6), ("run", 2), ("run", 4), ("verify", 0)]);
    assert_eq!((trial.counted, trial.known.background), (7, None), "no thread was without a share");
}

#[test]
fn a_thread_without_a_share_disturbs_until_the_workers_are_done() {
    let (trial, diary) = write(3, &[5], 1);
    assert_eq!(diary.of_thread(0), [("prepare", 6), ("run", 1), ("run", 5), ("verify", 0)]);
    for index in [1, 2] {
        assert_eq!(
            diary.of_thread(index),
            [("stopped", 0)],
            "no worker was at work when it stopped"
        );
    }
    assert_eq!(trial.counted, 5);
    let (_, diary) = write(3, &[1, 20], 0);
    assert_eq!(diary.of_thread(2), [("stopped", 0)], "the last of two workers counts");
}

#[test]
fn the_time_of_a_thread_without_a_share_does_not_count_but_its_bytes_do() {
    let (trial, _) = write(3, &[2, 2], 0);
    assert!(
        trial.known.seconds >= 0.02 && trial.known.seconds < AFTER.as_secs_f64(),
        "{}",
        trial.known.seconds
    );
    // Two workers, and one that disturbs, whose rate is over its own time.
    let rate = trial.known.background.unwrap() / BYTES_PER_S;
    assert!(rate > 0.8 && rate <= 1.0, "{rate}");
    let (trial, _) = write(3, &[2], 0);
    let rate = trial.known.background.unwrap() / BYTES_PER_S;
    assert!(rate > 1.6 && rate <= 2.0, "{rate}: two that disturb");
}

#[test]
fn a_second_trial_stops_those_without_a_share_again() {
    let diary = Diary::default();
    let team = diary.team(2);
    for shares in [&[3][..], &[1, 1], &[2]] {
        team.trial(shares, 0).unwrap();
    }
    let second: Vec<_> = diary.of_thread(1).iter().map(|c| c.0).collect();
    assert_eq!(second, ["stopped", "prepare", "run", "run", "verify", "stopped"]);
    assert!(diary.of_thread(1).iter().all(|c| c.0 != "stopped" || c.1 == 0));
}

#[test]
fn a_load_that_waits_for_a_device_is_not_stopped_while_it_sleeps_though_it_is_pinned() {
    let stopped_s = |fake: Fake| {
        let team = fake.team(1, &usable_cpus(None).unwrap()[..1]).unwrap();
        team.trial(&[300], 0).unwrap().known.conditions.stopped_s.unwrap()
    };
    // Without a device: threads that compute either work or wait for a CPU.
    assert!(stopped_s(sleepers()) > 0.2);
    // The machine itself may stop the process.
    wait_until("a device's load that nothing stopped", || {
        let stopped_s = stopped_s(sleepers().of_a_device());
        if stopped_s < 0.1 { Ok(()) } else { Err(format!("{stopped_s} s")) }
    });
}

#[test]
fn one_thread_that_waits_for_another_is_not_a_stopped_process() {
    let one_computes = |index: usize, call: Call| match call {
        Call::Run(ms) if index == 0 => {
            let begin = std::time::Instant::now();
            while begin.elapsed().as_millis() < u128::from(ms) {}
            Ok(1)
        }
        Call::Run(ms) => {
            sleep_ms(ms);
            Ok(1)
        }
        other => count(other),
    };
    let team = Fake::new(Amount::Calibrated, one_computes).team(2, &[]).unwrap();
    wait_until("a process that nothing stopped", || {
        let stopped_s = team.trial(&[300, 300], 0).unwrap().known.conditions.stopped_s.unwrap();
        if stopped_s < 0.1 { Ok(()) } else { Err(format!("{stopped_s} s")) }
    });
}

#[test]
fn time_that_a_load_only_waited_at_its_end_does_not_count() {
    let sleeps = |_, call: Call| match call {
        Call::Run(iterations) => {
            sleep_ms(iterations);
            Ok(1)
        }
        other => count(other),
    };
    let team = Fake { idles: true, ..Fake::new(Amount::Calibrated, sleeps) }.team(2, &[]).unwrap();
    wait_until("the sleep without the wait, with which it would be 0.8 s at least", || {
        let seconds = team.trial(&[10, 400], 5).unwrap().known.seconds;
        assert!(seconds >= 0.39, "{seconds}");
        if seconds < 0.8 { Ok(()) } else { Err(format!("{seconds} s")) }
    });
}

#[test]
fn the_clock_of_a_trial_is_what_its_load_read() {
    // A clock may step, and other work may slow the plain chain.
    wait_until("a trial at the clock that its load read", || {
        let plain = crate::chain::read_clock(200e-6, 50).hz();
        let clock = |share: f64| {
            let team = Fake { clock_hz: Some(share * plain), ..sleepers() }.team(2, &[]).unwrap();
            team.trial(&[1, 1], 0).unwrap().known.conditions.clock_hz.unwrap() / plain
        };
        // A clock that no core has is rejected.
        let (read, not_believed) = (clock(0.8), clock(0.1));
        let is_so = (read - 0.8).abs() < 1e-9 && not_believed > 0.5;
        if is_so { Ok(()) } else { Err(format!("{read} and {not_believed} of {plain}")) }
    });
}
