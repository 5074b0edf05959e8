//! A worker spoken to line by line, in this process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proofmark_model::{Account, FileState, NetworkTraffic, Params, Solution, key};
use proofmark_testing::wait_until;

use super::*;
use crate::clock::raw_seconds;
use crate::fake::{Call, Fake, count};
use crate::workload::Amount;

mod held_back;
mod rounds;

const FIXED: Amount = Amount::Total(1001);

fn begin(workload: &str, threads: u64, devices: &[&str]) -> Order {
    begin_at(0, workload, threads, devices)
}

fn job(point: Point, least_rounds: Option<u32>) -> Job {
    let (cpus, cpu_stat, devices) = (Vec::new(), Vec::new(), Vec::new());
    Job { point, cpus, cpu_stat, devices, trial_s: 0.4, least_rounds, quota_periods: 2 }
}

fn begin_at(slot: u32, workload: &str, threads: u64, devices: &[&str]) -> Order {
    let params = Params::default().with(key::THREADS, threads);
    let point = Point { workload: workload.to_owned(), params };
    let devices = devices.iter().map(|d| (*d).to_owned()).collect();
    Order::Begin(slot, Job { trial_s: 1e-3, devices, ..job(point, None) })
}

fn converse(find: Find, orders: &[Order]) -> Vec<Reply> {
    let lines: Vec<_> = orders.iter().map(|o| serde_json::to_string(o).unwrap()).collect();
    let mut output = Vec::new();
    serve(find, lines.join("\n").as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// The replies to these requests of a point on these devices, without that to its beginning.
fn talk_on(devices: &[&str], fake: Fake, threads: u64, requests: &[Request]) -> Vec<Reply> {
    let fake = fake.leak();
    let first = begin("test.fake", threads, devices);
    let orders: Vec<_> =
        [first].into_iter().chain(requests.iter().map(|r| Order::Take(0, *r))).collect();
    let mut replies = converse(&|_| Some(fake), &orders);
    assert_eq!(replies.len(), orders.len(), "{replies:?}");
    assert_eq!(replies.remove(0), Reply::Ready);
    replies
}

fn talk(fake: Fake, threads: u64, requests: &[Request]) -> Vec<Reply> {
    talk_on(&[], fake, threads, requests)
}

fn taken(reply: &Reply) -> &Taken {
    let Reply::Taken(taken) = reply else { panic!("{reply:?}") };
    taken
}

fn trial(reply: &Reply) -> &Trial {
    &taken(reply).trial
}

/// Work claimed and work that the results prove.
fn account(reply: &Reply) -> (f64, f64) {
    let Account { claimed, counted } = trial(reply).verified.unwrap();
    (claimed, counted)
}

fn wrong() -> Fake {
    Fake::new(FIXED, |_, call| match call {
        Call::Verify => Err("expected 1, found 2".to_owned()),
        other => count(other),
    })
}

#[test]
fn pauses_in_the_warm_up_make_no_trial_short() {
    let (mut rates, mut filling) = (vec![1e6; 4], 100_000);
    for _ in 0..4 {
        let part = filling as f64 / 4.0;
        rates.push(part / (part * 1e-6 + 0.1));
        filling = filling_at(&rates, 0.1);
        assert!(filling >= 50_000, "{filling} of 100000");
    }
}

#[test]
fn work_that_is_held_up_once_is_not_taken_for_a_trial() {
    for held_up in 0..20 {
        let mut call = 0;
        let fills = filling(0.1, |iterations| {
            call += 1;
            let late = if call == held_up { 0.05 } else { 0.0 };
            Ok(iterations as f64 * 1e-6 + late)
        });
        let seconds = fills.unwrap() as f64 * 1e-6;
        assert!((0.1..0.2).contains(&seconds), "{seconds} s, call {held_up} held up");
    }
}

/// 1001 iterations of 2 units, however many threads share them; of several one may only disturb.
#[test]
fn a_job_is_answered_line_by_line() {
    for (moved, disturbers) in [(None, 0), (Some(3.0), 1)] {
        for threads in [1, 2, 3] {
            let fake = Fake { moved, disturbers, ..Fake::counting(FIXED) };
            let requests = [Request::Warm, Request::Trial, Request::Trial];
            for reply in &talk(fake, threads, &requests)[1..] {
                let t = trial(reply);
                assert_eq!((t.work, account(reply)), (2002.0, (2002.0, 2002.0)));
                assert!(t.seconds > 0.0 && t.value == t.work / t.seconds, "{t:?}");
                assert_eq!((t.moved, t.solution.as_ref()), (moved.map(|m| 1001.0 * m), None));
                let disturbs = disturbers > 0 && threads > 1;
                assert_eq!(t.background.map(|rate| rate > 0.0), disturbs.then_some(true), "{t:?}");
                let pages = (t.conditions.huge_pages, t.conditions.misplaced_pages);
                assert_eq!(pages, (Some(0.5), Some(0.25)));
            }
        }
    }
}

#[test]
fn a_wrong_result_is_reported() {
    let replies = talk(wrong(), 2, &[Request::Trial]);
    assert!(matches!(replies[..], [Reply::Unverified(_)]), "{replies:?}");
}

#[test]
fn the_next_point_replaces_the_one_before() {
    static SET_UP: AtomicUsize = AtomicUsize::new(0);
    let act = |_, call: Call| match call {
        Call::Make if SET_UP.load(Ordering::SeqCst) > 0 => Err("threads are still there".into()),
        Call::Thread => Ok(SET_UP.fetch_add(1, Ordering::SeqCst) as u64),
        Call::Drop => Ok(SET_UP.fetch_sub(1, Ordering::SeqCst) as u64),
        other => count(other),
    };
    let mover = Fake { moved: Some(3.0), disturbers: 1, ..Fake::new(FIXED, act) }.leak();
    let null = Fake::counting(FIXED).leak();
    let find = |id: &str| match id {
        "test.mover" => Some(mover),
        "test.null" => Some(null),
        _ => None,
    };
    let begin = |id, threads| begin(id, threads, &[]);
    let take = || Order::Take(0, Request::Trial);
    let (nothing, mover, null) = ("nothing is set up", "moved Some(3003.0)", "moved None");
    let (orders, expected): (Vec<_>, Vec<_>) = [
        (take(), nothing),
        (begin("test.mover", 3), "ready"),
        (take(), mover),
        (begin("test.mover", 1), "ready"),
        (take(), mover),
        (begin("test.null", 1), "ready"),
        (take(), null),
        (begin("test.mover", 1), "ready"),
        (begin("test.none", 1), "no workload test.none"),
        (take(), nothing),
    ]
    .into_iter()
    .unzip();
    let replies: Vec<_> = converse(&find, &orders).iter().map(describe).collect();
    assert_eq!(replies, expected);
    assert_eq!(SET_UP.load(Ordering::SeqCst), 0);
}

/// Each slot has a workload that a reply identifies by the bytes moved.
#[test]
fn points_in_several_slots_take_turns_and_are_taken_down_one_by_one() {
    static ALIVE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let mover = |which: usize| {
        let act = move |_, call: Call| match call {
            // The threads of the one that it replaces are gone.
            Call::Make if ALIVE[which].load(Ordering::SeqCst) > 0 => Err("still there".to_owned()),
            Call::Thread => Ok(ALIVE[which].fetch_add(1, Ordering::SeqCst) as u64),
            Call::Drop => Ok(ALIVE[which].fetch_sub(1, Ordering::SeqCst) as u64),
            // Who else lives meanwhile.
            Call::Verify => match ALIVE[1 - which].load(Ordering::SeqCst) {
                0 => Err("alone".to_owned()),
                _ => Ok(0),
            },
            other => count(other),
        };
        Fake { moved: Some(3.0 + which as f64), ..Fake::new(FIXED, act) }.leak()
    };
    let both = [mover(0), mover(1)];
    let find = |id: &str| match id {
        "test.a" => Some(both[0]),
        "test.b" => Some(both[1]),
        _ => None,
    };
    let take = |slot| Order::Take(slot, Request::Trial);
    let at = |slot, id, threads| begin_at(slot, id, threads, &[]);
    let (a, b, nothing) = ("moved Some(3003.0)", "moved Some(4004.0)", "nothing is set up");
    let (orders, expected): (Vec<_>, Vec<_>) = [
        (at(7, "test.a", 2), "ready"),
        (at(2, "test.b", 1), "ready"),
        (take(7), a),
        (take(2), b),
        (take(7), a),
        (take(3), nothing),
        // In its own slot it is replaced, with another number of threads; in another it is not.
        (at(7, "test.a", 1), "ready"),
        (at(8, "test.a", 1), "still there"),
        (take(7), a),
        (take(2), b),
        (Order::End(3), "ready"),
        (take(7), a),
        (Order::End(7), "ready"),
        (take(7), nothing),
        (take(2), "alone"),
        (at(7, "test.none", 1), "no workload test.none"),
        (at(9, "test.a", 3), "ready"),
        (take(2), b),
    ]
    .into_iter()
    .unzip();
    let replies: Vec<_> = converse(&find, &orders).iter().map(describe).collect();
    assert_eq!(replies, expected);
    assert!(ALIVE.iter().all(|alive| alive.load(Ordering::SeqCst) == 0));
}

/// A reply in a few words.
fn describe(reply: &Reply) -> String {
    match reply {
        Reply::Ready => "ready".to_owned(),
        Reply::Taken(taken) => format!("moved {:?}", taken.trial.moved),
        Reply::Refused(reason) | Reply::Unverified(reason) => reason.clone(),
    }
}

#[test]
fn noise_on_the_pipe_is_an_error_not_a_panic() {
    let mut out = Vec::new();
    assert!(serve(&|_| None, "{\"point\":".as_bytes(), &mut out).is_err());
    assert!(serve(&|_| None, "".as_bytes(), &mut out).is_ok());
}

#[test]
fn shares_are_even_and_whole() {
    assert_eq!(shares(10, 4), [3, 3, 2, 2]);
    assert_eq!(shares(1, 2), [1, 0]);
    assert_eq!(shares(1_000_000_000, 8).iter().sum::<u64>(), 1_000_000_000);
}

/// 100 writes to a disk of 20 microseconds each. From `fails` of them in one call on the system
/// refuses; of `leaves_out` of them one is not done.
fn writer(fails: u64, leaves_out: u64) -> Fake {
    let act = move |_, call: Call| match call {
        Call::Run(n) if n >= fails => Err("write at 4096: No space left on device".to_owned()),
        Call::Run(n) => {
            std::thread::sleep(Duration::from_micros(20 * n));
            Ok(n - n / leaves_out)
        }
        other => count(other),
    };
    let file = Some(FileState { size_bytes: 4096, ..FileState::default() });
    Fake { file, ..Fake::new(Amount::Total(100), act).of_a_device() }
}

const WELL: u64 = u64::MAX;

#[test]
fn single_operations_add_up_over_threads_and_trials_without_the_warm_up() {
    let replies = talk(writer(WELL, WELL), 2, &[Request::Warm, Request::Trial, Request::Trial]);
    let counts = replies[1..].iter().map(|r| taken(r).latency.as_ref().map(|l| l.count));
    let expected = [Some(100), Some(200)];
    assert_eq!(counts.collect::<Vec<_>>(), expected, "100 iterations, divided among two threads");
    let latency = taken(&replies[2]).latency.as_ref().unwrap();
    assert!((latency.p50 / 1e-6 - 1.0).abs() < 0.01, "{latency:?}");
}

#[test]
fn work_that_the_system_refuses_or_that_was_not_done_is_no_rate() {
    let replies = talk(writer(100, WELL), 1, &[Request::Trial]);
    assert!(matches!(&replies[0], Reply::Refused(r) if r.contains("No space left")), "{replies:?}");
    let replies = talk(writer(WELL, 2), 1, &[Request::Trial]);
    assert!(matches!(&replies[0], Reply::Unverified(r) if r.contains("of 100")), "{replies:?}");
}

#[test]
fn the_file_and_the_devices_are_reported() {
    let on = |devices: &[&str]| {
        let replies = talk_on(devices, writer(WELL, WELL), 1, &[Request::Trial]);
        trial(&replies[0]).clone()
    };
    let t = on(&[]);
    assert_eq!(t.file.map(|f| f.size_bytes), Some(4096));
    assert_eq!(t.device, None, "no device was named");
    assert_eq!(t.conditions.migrations, None, "the scheduler may move its threads");
    assert_eq!(on(&["no_such_disk"]).device, None);
    let stats = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let Some(name) = stats.lines().next().and_then(|l| l.split_whitespace().nth(2)) else { return };
    assert!(on(&[name]).device.is_some(), "{name}");
}

/// Some of 100 messages arrive. Messages that a network loses are no work.
#[test]
fn what_was_received_is_the_work_and_the_interfaces_verify_it() {
    let sender = |arrive| {
        let act = move |_, call: Call| match call {
            Call::Run(_) => Ok(arrive),
            other => count(other),
        };
        let network = Some(NetworkTraffic { received_bytes: 7, ..NetworkTraffic::default() });
        Fake { network, ..Fake::new(Amount::Total(100), act).of_a_device() }
    };
    let one_trial = |fake| talk(fake, 1, &[Request::Trial]).remove(0);
    let reply = one_trial(sender(50));
    assert_eq!((trial(&reply).work, account(&reply)), (100.0, (7.0, 0.0)));
    assert_eq!(trial(&one_trial(sender(0))).value, 0.0, "a rate");
    let none = one_trial(sender(0).timing());
    assert!(matches!(none, Reply::Unverified(_)), "no work has no time: {none:?}");
}

fn span(span_us: u64) -> Request {
    Request::Span { part_us: 2000, span_us }
}

/// Loads whose iterations take a microsecond.
fn steady(amount: Amount) -> Fake {
    Fake::new(amount, |_, call| {
        if let Call::Run(iterations) = call {
            let end = raw_seconds() + iterations as f64 * 1e-6;
            while raw_seconds() < end {
                std::hint::spin_loop();
            }
        }
        count(call)
    })
}

#[test]
fn a_sample_is_made_of_parts_that_fill_its_time() {
    let begun = raw_seconds();
    let replies =
        talk(steady(Amount::Calibrated), 1, &[Request::Warm, span(500_000), span(500_000)]);
    let took = raw_seconds() - begun;
    for reply in &replies[1..] {
        let s = trial(reply);
        assert_eq!(account(reply), (s.work, s.work));
        assert_eq!(s.value, s.work / s.seconds, "of all parts, and of what held them up");
        // Two million units a second, however much lay between the parts. A busy machine
        // may run few of the 250.
        assert!(s.work > 20_000.0 && s.work <= s.seconds * 2e6 * 1.001, "{s:?}");
        assert!(s.seconds > 0.01, "{s:?}");
        assert!(s.conditions.own_cpu_s.is_none_or(|own| own <= took));
    }
    assert!(took >= 0.99, "both took their time: {took}");
}

#[test]
fn what_is_fixed_is_taken_whole_and_once_at_least() {
    let all = |span_us| {
        let replies = talk(Fake::counting(FIXED), 1, &[Request::Warm, span(span_us)]);
        trial(&replies[1]).work
    };
    assert_eq!(all(0), 2002.0, "one part in any case");
    // Other work may hold up the first part for as long.
    wait_until("several parts", || {
        let many = all(20_000);
        assert!(many >= 2002.0 && many % 2002.0 == 0.0, "{many}");
        if many > 2002.0 { Ok(()) } else { Err(format!("{many}")) }
    });
    assert!(matches!(talk(wrong(), 1, &[span(1000)])[0], Reply::Unverified(_)));
}

#[test]
fn a_whole_problem_is_one_iteration_a_thread_and_its_solution_is_reported() {
    use Request::{Trial, Warm};
    let found = Solution {
        n: 9,
        leading_dimension: 16,
        alignment: 64,
        residual: 0.25,
        normalised_residual: 0.5,
    };
    for threads in [1, 2, 3] {
        for requests in [&[Warm][..], &[Trial], &[Warm, Warm, Trial], &[Warm, Warm, Trial, Trial]] {
            // Trials begun, runs of any work, and the most iterations of one.
            let calls: Arc<[AtomicUsize; 3]> = Arc::default();
            let noted = Arc::clone(&calls);
            let act = move |_, call: Call| {
                let most = if let Call::Run(n) = call { n as usize } else { 0 };
                let begun = usize::from(matches!(call, Call::Begin));
                noted[0].fetch_add(begun, Ordering::SeqCst);
                noted[1].fetch_add(most.min(1), Ordering::SeqCst);
                noted[2].fetch_max(most, Ordering::SeqCst);
                count(call)
            };
            let solution = Some(found.clone());
            let solver = Fake { solution, ..Fake::new(Amount::Whole, act) };
            let replies = talk(solver, threads, requests);
            let (trials, each) = (requests.len(), usize::try_from(threads).unwrap());
            let calls = [0, 1, 2].map(|i| calls[i].load(Ordering::SeqCst));
            assert_eq!(calls, [trials, trials * each, 1], "{requests:?} of {threads}");
            let work = 2.0 * threads as f64;
            for reply in &replies {
                assert_eq!((trial(reply).work, account(reply)), (work, (work, work)));
                assert_eq!(trial(reply).solution.as_ref(), Some(&found));
            }
        }
    }
}
