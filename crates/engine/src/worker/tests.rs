//! A worker spoken to line by line, in this process.

use crate::workload::Placement;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proofmark_model::{Account, Params, WorkloadSpec};

use super::*;
use crate::null::{NULL, WRONG};
use crate::workload::{Load, Refusal};

mod disk;
mod network;
mod over_time;
mod whole;

fn find(id: &str) -> Option<&'static dyn Workload> {
    match id {
        "test.null" => Some(&NULL),
        "test.wrong" => Some(&WRONG),
        "test.mover" => Some(&Mover),
        "test.solver" => Some(&whole::Solver),
        "test.steady" => Some(over_time::STEADY),
        _ => None,
    }
}

/// A point of 1001 iterations.
fn begin(workload: &str, threads: u64) -> Order {
    let point = Point {
        workload: workload.to_owned(),
        params: Params::default().with("threads", threads).with("iterations", 1001),
    };
    let (cpus, cpu_stat, devices) = (vec![], vec![], vec![]);
    Order::Begin(Job { point, cpus, cpu_stat, devices, trial_s: 1e-3 })
}

fn converse(orders: &[Order]) -> Vec<Reply> {
    let lines: Vec<_> = orders.iter().map(|o| serde_json::to_string(o).unwrap()).collect();
    let mut output = Vec::new();
    serve(&find, lines.join("\n").as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn talk(workload: &str, threads: u64, requests: &[Request]) -> Vec<Reply> {
    let orders: Vec<_> = std::iter::once(begin(workload, threads))
        .chain(requests.iter().map(|r| Order::Take(*r)))
        .collect();
    converse(&orders)
}

fn trial(reply: &Reply) -> &Trial {
    let Reply::Taken(taken) = reply else { panic!("{reply:?}") };
    &taken.trial
}

/// Work claimed and work that the results prove.
fn account(reply: &Reply) -> (f64, f64) {
    let Account { claimed, counted } = trial(reply).verified.unwrap();
    (claimed, counted)
}

/// Moves 3 bytes an iteration, with one thread less than it has where it has several;
/// that one moves bytes of its own. Refuses to be set up twice at a time.
struct Mover;

struct Moving(u64);

struct Mark {
    done: u64,
}

/// Threads of the mover that are set up.
static SET_UP: AtomicUsize = AtomicUsize::new(0);

impl Workload for Mover {
    fn spec(&self) -> &'static WorkloadSpec {
        NULL.spec()
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        match SET_UP.load(Ordering::SeqCst) {
            0 => Ok(Box::new(Moving(params.int("iterations").unwrap_or(1)))),
            n => Err(Refusal(format!("{n} threads of the point before are still there"))),
        }
    }
}

impl Setup for Moving {
    fn amount(&self) -> Amount {
        Amount::Total(self.0)
    }
    fn work_per_iteration(&self) -> f64 {
        2.0
    }
    fn moved_per_iteration(&self) -> Option<f64> {
        Some(3.0)
    }
    fn workers(&self, threads: u64) -> u64 {
        (threads - 1).max(1)
    }
    fn placement(&self) -> Placement {
        Placement { huge: Some(0.5), misplaced: Some(0.25) }
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        SET_UP.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Mark { done: 0 }))
    }
}

impl Load for Mark {
    fn run(&mut self, iterations: u64) {
        self.done = std::hint::black_box(iterations);
    }
    fn disturb(&mut self, stop: &AtomicBool) -> f64 {
        while !stop.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        1e6
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.done)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        SET_UP.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The tests that use the mover, of which there may be one at a time.
static MOVER: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn work_that_is_held_up_once_is_not_taken_for_a_trial() {
    for held_up in 0..20 {
        let mut call = 0;
        let fills = filling(0.1, |iterations| {
            call += 1;
            let late = if call == held_up { 0.05 } else { 0.0 };
            Ok::<_, ()>(iterations as f64 * 1e-6 + late)
        });
        let seconds = fills.unwrap() as f64 * 1e-6;
        assert!((0.1..0.2).contains(&seconds), "{seconds} s, call {held_up} held up");
    }
}

#[test]
fn a_job_is_answered_line_by_line() {
    for threads in [1, 3] {
        let replies = talk("test.null", threads, &[Request::Warm, Request::Trial, Request::Trial]);
        assert_eq!(replies.len(), 4, "{replies:?}");
        assert_eq!(replies[0], Reply::Ready);
        for reply in &replies[2..] {
            let t = trial(reply);
            // The null workload counts 2 units an iteration, 1001 iterations in all.
            assert_eq!((t.work, account(reply)), (2002.0, (2002.0, 2002.0)));
            assert!(t.seconds > 0.0 && t.value == t.work / t.seconds, "{t:?}");
            assert_eq!((t.moved, t.background), (None, None));
        }
    }
}

#[test]
fn a_wrong_result_is_told() {
    let replies = talk("test.wrong", 2, &[Request::Trial]);
    assert!(matches!(replies.last(), Some(Reply::Unverified(_))), "{replies:?}");
}

#[test]
fn what_cannot_run_is_refused() {
    assert!(
        matches!(talk("test.none", 1, &[]).as_slice(), [Reply::Refused(r)] if r.contains("test.none"))
    );
}

#[test]
fn no_trial_is_taken_before_it_is_set_up() {
    let take = Order::Take(Request::Trial);
    let replies = converse(&[take.clone(), begin("test.null", 1), take]);
    assert!(matches!(&replies[0], Reply::Refused(r) if r == "nothing is set up"), "{replies:?}");
    assert_eq!((&replies[1], trial(&replies[2]).work), (&Reply::Ready, 2002.0));
}

#[test]
fn the_next_point_replaces_the_one_before() {
    let _one = MOVER.lock();
    let take = Order::Take(Request::Trial);
    let orders = [
        begin("test.mover", 3),
        take.clone(),
        begin("test.mover", 1),
        take.clone(),
        begin("test.null", 1),
        take.clone(),
    ];
    let replies = converse(&orders);
    for ready in [0, 2, 4] {
        assert_eq!(replies[ready], Reply::Ready, "the threads before have ended");
    }
    assert_eq!(trial(&replies[1]).moved, Some(3003.0));
    assert!(trial(&replies[1]).background.is_some());
    assert_eq!(trial(&replies[3]).background, None);
    assert_eq!(trial(&replies[5]).moved, None, "a workload that moves nothing");

    let replies = converse(&[begin("test.mover", 1), begin("test.none", 1), take]);
    assert!(matches!(&replies[1], Reply::Refused(r) if r.contains("test.none")), "{replies:?}");
    assert!(matches!(&replies[2], Reply::Refused(_)), "the first is gone: {replies:?}");
    assert_eq!(SET_UP.load(Ordering::SeqCst), 0);
}

#[test]
fn what_was_moved_where_it_lies_and_what_went_on_beside_is_told() {
    let _one = MOVER.lock();
    for threads in [1, 2, 3] {
        let replies = talk("test.mover", threads, &[Request::Trial]);
        let t = trial(&replies[1]);
        // 1001 iterations, however many threads share them.
        assert_eq!((account(&replies[1]), t.moved), ((2002.0, 2002.0), Some(3003.0)));
        assert_eq!(t.background.is_some_and(|rate| rate > 0.0), threads > 1, "{t:?}");
        let lies = (t.conditions.huge_pages, t.conditions.misplaced_pages);
        assert_eq!(lies, (Some(0.5), Some(0.25)));
    }
}

#[test]
fn noise_on_the_pipe_is_an_error_not_a_panic() {
    let mut out = Vec::new();
    assert!(serve(&find, "{\"point\":".as_bytes(), &mut out).is_err());
    assert!(serve(&find, "".as_bytes(), &mut out).is_ok());
}

#[test]
fn shares_are_even_and_whole() {
    assert_eq!(shares(10, 4), [3, 3, 2, 2]);
    assert_eq!(shares(1, 2), [1, 0]);
    assert_eq!(shares(1_000_000_000, 8).iter().sum::<u64>(), 1_000_000_000);
}
