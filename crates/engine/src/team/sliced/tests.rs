//! Trials in slices of loads that spin. Other work may occupy every CPU meanwhile, so tests that
//! depend on that try several times.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep, spawn};
use std::time::{Duration, Instant};

use proofmark_model::{Cut, TimeAccount, Unit};
use proofmark_testing::{join, skip, wait_until};

use super::*;
use crate::affinity::{pin, usable_cpus};
use crate::chain::{self, Chain};
use crate::conditions::ThreadCounters;
use crate::executor::Executor;
use crate::fake::{Call, Fake, count};
use crate::workload::Amount as Calibrated;

/// Steps of the chain in an iteration: about a microsecond.
const STEPS: u64 = 3000 / chain::PER_STEP;

fn spin(iterations: u64) {
    std::hint::black_box(Chain::Second.run(1, iterations.saturating_mul(STEPS)));
}

/// Threads that spin for their iterations, and otherwise call `also`.
fn spinning(also: impl Fn(usize, &Call) -> Result<(), String> + Send + Sync + 'static) -> Fake {
    Fake::new(Calibrated::Calibrated, move |index, call| {
        also(index, &call)?;
        if let Call::Run(iterations) = call {
            spin(iterations);
        }
        count(call)
    })
}

fn spinners() -> Fake {
    spinning(|_, _| Ok(()))
}

fn cutting(seconds: f64) -> Cutting {
    let took = |_| {
        let begin = Instant::now();
        spin(2000);
        begin.elapsed().as_secs_f64()
    };
    let filling_s = (0..5).map(took).fold(f64::INFINITY, f64::min);
    Cutting::new((Cut::Core, None), seconds, (2000, filling_s))
}

/// A trial in operations, with two operations per iteration.
fn asked(workers: usize, amount: Amount, cutting: Cutting, ahead_s: f64) -> SlicedTrial {
    let (unit, work_per_iteration) = (Unit::OpPerSecond, 2.0);
    SlicedTrial { workers, amount, cutting, ahead_s, unit, work_per_iteration }
}

/// A trial of the first `workers` of these threads, on these CPUs, in operations, with two per
/// iteration. It must end.
fn trial(
    fake: Fake,
    (threads, workers): (usize, usize),
    cpus: &[u32],
    amount: Amount,
) -> Result<ExecutorTrial, Reply> {
    let cpus = cpus.to_vec();
    let takes = spawn(move || {
        let team = fake.team(threads, &cpus)?;
        team.sliced(&asked(workers, amount, cutting(0.05), 0.01))
    });
    join("a trial", takes)
}

fn usable() -> Vec<u32> {
    usable_cpus(None).unwrap_or_default()
}

#[test]
fn as_much_is_done_as_fits_into_the_time() {
    for (threads, workers) in [(1, 1), (2, 2), (3, 2)] {
        wait_until("a time as long as it should be", || {
            let asked = Amount::Seconds(0.05);
            let taken = trial(spinners(), (threads, workers), &usable(), asked).unwrap();
            assert_eq!(taken.claimed, taken.counted, "what ran ahead does not count");
            // The slices at both ends count partly.
            assert!(taken.within > 0.0 && taken.within <= taken.claimed as f64, "{taken:?}");
            let delivered = 2.0 * taken.within / taken.known.seconds;
            let [round] = &taken.known.rounds[..] else {
                return Err(format!("{:?}", taken.known.rounds));
            };
            assert!((round.delivered / delivered - 1.0).abs() < 1e-9, "{round:?}");
            assert_eq!(taken.known.background.is_some(), threads > workers);
            assert!(taken.known.conditions.own_cpu_s.is_none_or(|own| own > 0.0));
            // Longer if all threads were stopped; readings of the clock do not count.
            let off_s = taken.known.seconds - 0.05;
            if (-2e-3..1e-4).contains(&off_s) { Ok(()) } else { Err(format!("{off_s} s more")) }
        });
    }
}

/// Each of the 15 threads that load 16 CPUs used 20 ms of CPU time before the timed part of 100 ms.
/// Counted with it, that would be 1.93 s of the available 1.6 s.
#[test]
fn threads_that_load_the_machine_count_their_cpu_time_of_the_timed_part_alone() {
    let fake = Fake::new(Calibrated::Calibrated, |_, call| match call {
        Call::Run(iterations) => {
            spin(iterations);
            Ok(iterations)
        }
        Call::Disturb(stop, _) => {
            while !stop.load(Ordering::Acquire) {
                spin(1);
            }
            Ok(1_000_000)
        }
        other => count(other),
    });
    let (cpus, ahead_s) = (usable(), 0.3);
    let takes = spawn(move || {
        let asked = asked(1, Amount::Seconds(0.05), cutting(0.05), ahead_s);
        fake.team(2, &cpus).unwrap().sliced(&asked).unwrap()
    });
    let known = join("a trial", takes).known;
    let own_s = known.conditions.own_cpu_s.unwrap();
    assert!(own_s <= 2.02 * known.seconds, "{own_s} s in {} s", known.seconds);
    assert!(known.background.is_some());
}

/// A trial of a thread on a bus that is twice as fast while its load sleeps: for that long, after
/// every 4 ms.
fn beside_a_load(sleeps: Duration) -> Trial {
    let is_away = AtomicBool::new(false);
    let fake = Fake::new(Calibrated::Calibrated, move |_, call| match call {
        Call::Run(iterations) => {
            let steps = if is_away.load(Ordering::Relaxed) { 1 } else { 2 };
            spin(steps * iterations);
            Ok(iterations)
        }
        Call::Disturb(stop, gaps) => {
            let mut back = gaps.read_clock();
            while !stop.load(Ordering::Acquire) {
                spin(1);
                if gaps.read_clock() > back + 4e-3 {
                    is_away.store(true, Ordering::Relaxed);
                    sleep(sleeps);
                    is_away.store(false, Ordering::Relaxed);
                    back = gaps.read_clock();
                }
            }
            Ok(1_000_000)
        }
        other => count(other),
    });
    let cpus = usable();
    let cutting = Cutting { cut: Cut::Bus, ..cutting(0.2) };
    let asked = asked(1, Amount::Seconds(0.2), cutting, 0.01);
    let takes = spawn(move || fake.team(2, &cpus).unwrap().sliced(&asked).unwrap());
    join("a trial", takes).known
}

#[test]
fn the_figure_is_that_of_the_time_with_the_load() {
    wait_until("the rate with the load", || {
        let with = |sleeps| {
            let known = beside_a_load(sleeps);
            let attainable = known.rounds[0].attainable.ok_or("no clean window")?;
            Ok::<_, String>((attainable, known))
        };
        let ((always, _), (sometimes, known)) =
            (with(Duration::ZERO)?, with(Duration::from_millis(8))?);
        let loading = known.loading.unwrap();
        assert!((0.5..=1.0).contains(&loading.in_gaps), "{loading:?}");
        assert!(loading.on_cpu.is_none_or(|on_cpu| on_cpu < 0.5), "{loading:?}");
        assert_eq!(loading.target, None);
        // A million bytes in a third of the time, or less.
        assert!(known.background.unwrap() > 1.6e6 / known.seconds, "{:?}", known.background);
        let share = sometimes / always;
        if (0.8..1.3).contains(&share) { Ok(()) } else { Err(format!("{share} of it")) }
    });
}

#[test]
fn a_fixed_amount_is_done_whole() {
    for (shares, threads) in [
        (vec![1], 1),
        (vec![20_001], 1),
        (vec![5000, 4999], 2),
        (vec![7, 0], 2),
        (vec![9000, 1], 3),
    ] {
        let all = shares.iter().sum();
        let amount = Amount::Iterations(shares.clone(), 0.02);
        let taken = trial(spinners(), (threads, shares.len()), &usable(), amount).unwrap();
        assert_eq!((taken.claimed, taken.counted), (all, all), "{shares:?}");
        assert!((taken.within - all as f64).abs() < 1e-6 * all as f64, "{taken:?}");
        let within: f64 = taken.known.rounds.iter().map(|r| r.delivered * r.seconds / 2.0).sum();
        assert!((within - taken.within).abs() < 1e-6 * within, "{shares:?}: {taken:?}");
        assert!(taken.known.seconds > 0.0 && taken.known.seconds < 20.0);
        assert_eq!(taken.known.background.is_some(), threads > shares.len());
    }
}

#[test]
fn what_is_made_ready_is_about_what_is_run() {
    let asked: Arc<[AtomicU64; 2]> = Arc::default();
    let noted = Arc::clone(&asked);
    let notes = spinning(move |_, call| {
        match call {
            Call::Prepare(iterations) => noted[0].fetch_add(*iterations, Ordering::SeqCst),
            Call::Run(iterations) => noted[1].fetch_add(*iterations, Ordering::SeqCst),
            _ => 0,
        };
        Ok(())
    });
    let taken = trial(notes, (1, 1), &usable(), Amount::Seconds(0.05)).unwrap();
    let [ready, run] = [0, 1].map(|i| asked[i].load(Ordering::SeqCst));
    assert!(run > taken.claimed, "something runs ahead");
    // A clock that was calibrated on a busy machine may be too slow by half.
    assert!(ready > run / 4, "{ready} {run}");
}

#[test]
fn failures_and_wrong_results_are_reported_and_no_thread_waits_for_ever() {
    let fails = |at: usize| {
        spinning(move |index, call| match call {
            Call::Run(_) if index == at => Err("the disk is full".to_owned()),
            _ => Ok(()),
        })
    };
    let wrong = spinning(|index, call| match call {
        Call::Verify if index == 1 => Err("expected 2, found 3".to_owned()),
        _ => Ok(()),
    });
    for amount in [Amount::Seconds(0.01), Amount::Iterations(vec![1000; 2], 1e-3)] {
        for at in [0, 1] {
            let ended = trial(fails(at), (2, 2), &usable(), amount.clone()).map(|_| ());
            assert_eq!(ended, Err(Reply::Refused("the disk is full".to_owned())));
        }
        let ended = trial(wrong.clone(), (2, 2), &usable(), amount).map(|_| ());
        assert_eq!(ended, Err(Reply::Unverified("expected 2, found 3".to_owned())));
    }
}

#[test]
fn what_was_not_done_is_not_counted() {
    let half = Fake::new(Calibrated::Calibrated, |_, call| match call {
        Call::Run(iterations) => {
            spin(iterations);
            Ok(iterations / 2)
        }
        other => count(other),
    });
    let taken = trial(half, (2, 2), &usable(), Amount::Iterations(vec![1000; 2], 1e-3)).unwrap();
    assert_eq!(taken.claimed, 2000);
    assert!(taken.counted <= 1000, "{}", taken.counted);
}

/// A trial of 50 ms whose iterations sleep for 40.
#[test]
fn iterations_that_take_longer_than_what_runs_ahead_fill_the_time() {
    let sleeps = || {
        Fake::new(Calibrated::Calibrated, |_, call| {
            if let Call::Run(iterations) = call {
                (0..iterations).for_each(|_| sleep(Duration::from_millis(40)));
            }
            count(call)
        })
    };
    wait_until("a full time", || {
        let team = sleeps().team(1, &[]).unwrap();
        let cutting = Cutting::new((Cut::Core, None), 0.05, (1, 0.04));
        let taken = team.sliced(&asked(1, Amount::Seconds(0.05), cutting, 0.01)).unwrap();
        assert_eq!(taken.claimed, taken.counted);
        if taken.within > 1.1 { Ok(()) } else { Err(format!("{} of 1.25", taken.within)) }
    });
}

#[test]
fn a_time_in_which_all_were_held_back_ends_with_the_first_slice() {
    let held = spinning(|_, call| {
        if matches!(call, Call::Start) {
            sleep(Duration::from_millis(120));
        }
        Ok(())
    });
    let taken = trial(held, (2, 2), &usable(), Amount::Seconds(0.05)).unwrap();
    assert!(taken.within > 0.0 && taken.claimed == taken.counted, "{taken:?}");
    assert!((0.1..20.0).contains(&taken.known.seconds), "{}", taken.known.seconds);
}

#[test]
fn threads_that_cannot_be_pinned_are_taken_to_share_a_core() {
    let here = usable();
    let absent: Vec<u32> = (3000..3100).filter(|cpu| !here.contains(cpu)).take(2).collect();
    let cores = |cpus: &[u32]| {
        let team = spinners().team(2, cpus).unwrap();
        team.runs_on.iter().map(|cpu| cpu.core).collect::<Vec<_>>()
    };
    assert_eq!(cores(&absent), [u32::MAX; 2]);
    if let Some(first) = here.first() {
        let found = cores(&[*first]);
        assert!(found[0] != u32::MAX && found[0] == found[1], "{found:?}");
    }
}

#[test]
fn many_threads_take_a_trial_together() {
    let taken = trial(spinners(), (256, 256), &usable(), Amount::Seconds(0.02)).unwrap();
    assert_eq!(taken.claimed, taken.counted);
    assert!(taken.within > 0.0 && taken.known.seconds < 30.0, "{taken:?}");
}

/// Attainable and delivered rate of these threads on one CPU.
fn on_one_cpu(cpu: u32, threads: usize) -> (f64, f64) {
    let taken = trial(spinners(), (threads, threads), &[cpu], Amount::Seconds(0.1)).unwrap();
    let round = &taken.known.rounds[0];
    (round.attainable.unwrap_or(0.0), round.delivered)
}

#[test]
fn threads_that_share_a_cpu_attain_what_one_does() {
    let Some(cpu) = usable().first().copied() else { return skip("no CPU is known") };
    wait_until("the rate of one CPU", || {
        let ((one, _), (four, _)) = (on_one_cpu(cpu, 1), on_one_cpu(cpu, 4));
        let share = four / one;
        if (0.9..1.1).contains(&share) { Ok(()) } else { Err(format!("{four} of {one}")) }
    });
}

/// Keeps that CPU busy with a thread until it is dropped.
struct Busy(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);

impl Busy {
    fn on(cpu: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = spawn(move || {
            pin(cpu);
            while !asked.load(Ordering::Relaxed) {
                spin(10);
            }
        });
        Self(stop, Some(thread))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        let _ = self.1.take().map(thread::JoinHandle::join);
    }
}

#[test]
fn a_busy_neighbour_takes_from_what_is_delivered_and_not_from_what_is_attainable() {
    let cpus = usable();
    let [.., cpu] = cpus[..] else { return skip("no CPU is known") };
    if cpus.len() < 2 {
        return skip("one CPU");
    }
    wait_until("only the delivered rate to fall", || {
        let (alone, _) = on_one_cpu(cpu, 1);
        let (attainable, delivered) = {
            let _busy = Busy::on(cpu);
            on_one_cpu(cpu, 1)
        };
        let seen = format!("{attainable} and {delivered} of {alone}");
        let as_before = (attainable / alone - 1.0).abs() < 0.05;
        if as_before && delivered < 0.8 * alone { Ok(()) } else { Err(seen) }
    });
}

#[test]
fn timed_parts_do_not_begin_as_long_after_their_threads_are_ready() {
    let all: Vec<u64> = (0..100).map(|_| spread(20_000, 5_000)).collect();
    let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    assert!((15_000..17_000).contains(least) && (23_000..=25_000).contains(most), "{all:?}");
    assert!((75..=125).contains(&spread(100, 5_000)), "a part of a short time");
    assert_eq!(spread(0, 5_000), 0);
}

/// Seconds that the threads slept, and the account of their time, for a trial whose threads sleep 2
/// ms in every 8.
fn sleeper() -> (f64, TimeAccount) {
    let (slept_us, begun) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (adds, last) = (Arc::clone(&slept_us), Mutex::new(Instant::now()));
    let sleeps = spinning(move |_, call| {
        match call {
            // Counters are read right before.
            Call::Start => begun.store(true, Ordering::SeqCst),
            Call::Run(_) if begun.load(Ordering::SeqCst) => {
                let mut last = last.lock().unwrap();
                if last.elapsed() > Duration::from_millis(8) {
                    *last = Instant::now();
                    let before = ThreadCounters::before();
                    sleep(Duration::from_millis(2));
                    // After the sleep the thread may wait for a CPU, which is another cause.
                    let used = ThreadCounters::before().since(before);
                    let slept_s = used.at_s - used.waiting_s.unwrap_or(0.0);
                    adds.fetch_add((1e6 * slept_s) as u64, Ordering::SeqCst);
                }
            }
            _ => {}
        }
        Ok(())
    });
    let taken = trial(sleeps, (1, 1), &usable(), Amount::Seconds(0.2)).unwrap();
    let time = taken.known.time_account.unwrap();
    (1e-6 * slept_us.load(Ordering::SeqCst) as f64, time)
}

#[test]
fn a_sleep_between_slices_is_time_that_nothing_accounts_for() {
    wait_until("the sleep to be all that is missing", || {
        let (slept_s, time) = sleeper();
        let off = (time.unaccounted_s - slept_s) / time.wall_s;
        let is_so = slept_s > 0.02 && off.abs() < 0.01 && time.stopped_s == 0.0;
        if is_so { Ok(()) } else { Err(format!("{slept_s} s: {time:?}")) }
    });
}

/// The attainable rate of two threads. The second moves to the first one's CPU if it `strays`.
fn of_two(cpus: &[u32], strays: bool) -> (f64, ExecutorTrial) {
    let first = cpus[0];
    let fake = spinning(move |index, call| {
        if strays && index == 1 && matches!(call, Call::Prepare(_)) {
            pin(first);
        }
        Ok(())
    });
    let taken = trial(fake, (2, 2), cpus, Amount::Seconds(0.05)).unwrap();
    (taken.known.rounds[0].attainable.unwrap_or(0.0), taken)
}

#[test]
fn a_thread_that_shares_the_cpu_of_another_is_no_second_core() {
    let cpus = usable();
    let Some(two) = cpus.get(..2) else { return skip("one usable CPU") };
    wait_until("two cores that are twice as fast as one", || {
        let [(both, apart), (shared, away)] = [false, true].map(|strays| of_two(two, strays));
        let [apart, ran_on] = [apart, away.clone()].map(|t| t.known.ran_on.unwrap());
        assert_eq!((apart.strayed.len(), apart.most_on_one), (0, 1), "{apart:?}");
        let stray = ran_on.strayed.iter().find(|s| s.pinned_to == two[1]);
        assert_eq!((stray.map(|s| s.at), ran_on.most_on_one), (Some([two[0]; 2]), 2), "{ran_on:?}");
        let known = &away.known;
        assert!(known.time_account.is_none(), "they took turns");
        assert_eq!(known.conditions.migrations, Some(1));
        if shared < 0.7 * both {
            Ok(())
        } else {
            Err(format!("{shared} on one CPU, {both} on two"))
        }
    });
}

/// A cpu.stat whose group is refilled and throttled while the threads run, and its limit in the
/// same folder.
#[test]
fn under_a_quota_the_timed_part_is_whole_periods_after_the_second_refill() {
    let dir = tempfile::tempdir().unwrap();
    let stat = dir.path().join("cpu.stat");
    let at = stat.clone();
    let counts = move |n: u64| {
        let text = format!("nr_periods {n}\nnr_throttled {n}\nthrottled_usec 5\n");
        std::fs::write(&at, text).unwrap();
    };
    std::fs::write(dir.path().join("cpu.max"), "25000 100000\n").unwrap();
    counts(0);
    let setup: Arc<dyn crate::workload::Setup> = Arc::new(spinners());
    let team = CpuTeam::start(&setup, Cut::Core, 1, &usable(), vec![stat], vec![]).unwrap();
    let timed_s = team.whole_periods_s(0.05, 2).unwrap();
    assert!((timed_s - 0.2).abs() < 1e-9, "{timed_s}");
    let ended = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&ended);
    let refills = spawn(move || {
        let mut periods = 1..;
        while !until.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(15));
            periods.next().into_iter().for_each(&counts);
        }
    });
    let asked = asked(1, Amount::Seconds(timed_s), cutting(timed_s), 0.01);
    let taken = team.sliced(&asked).unwrap();
    ended.store(true, Ordering::Relaxed);
    join("the refills", refills);
    let quota = taken.known.quota.unwrap();
    assert_eq!((quota.before.cpus, quota.cpus), (Some(0.25), 1.0), "{quota:?}");
    assert_eq!(quota.own_cpus, Some(1.0), "{quota:?}");
    assert!(quota.refills_ahead >= 2 && quota.throttled_ahead >= 1, "{quota:?}");
    assert!((quota.window_s / 0.2 - 1.0).abs() < 1e-6 || quota.timed_s > 0.21, "{quota:?}");
    assert!(quota.share().is_some_and(|share| share > 0.0), "{quota:?}");
    assert!(quota.own_cpu_s.is_some_and(|s| s < 1.05 * quota.timed_s), "{quota:?}");
    // Without refills the lead-in ends in time.
    let none = team.sliced(&asked).unwrap();
    let quota = none.known.quota.unwrap();
    assert!(!quota.is_steady() && quota.share().is_none(), "{quota:?}");
}
