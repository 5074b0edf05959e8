//! What a worker tells of a workload that works on a disk: times of single operations,
//! device counters, the state of its file, and failures of the system.

use super::*;
use crate::latency::Latencies;
use crate::workload::{Load, Setup};
use proofmark_model::FileState;

/// Each iteration takes a microsecond by its own account; from `fails` iterations in
/// one call on, the system refuses.
struct Writer;

struct Writing {
    fails: Option<u64>,
    /// Of so many iterations one is left out.
    leaves_out: Option<u64>,
}

struct WritingThread {
    fails: Option<u64>,
    leaves_out: Option<u64>,
    done: u64,
    failure: Option<String>,
}

impl Workload for Writer {
    fn spec(&self) -> &'static WorkloadSpec {
        NULL.spec()
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Writing { fails: params.int("fails"), leaves_out: params.int("leaves_out") }))
    }
}

impl Setup for Writing {
    fn amount(&self) -> Amount {
        Amount::Total(100)
    }
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn on_disk(&self) -> bool {
        true
    }
    fn file(&self) -> Option<FileState> {
        Some(FileState { size_bytes: 4096, ..FileState::default() })
    }
    fn ahead_s(&self, _: f64) -> f64 {
        0.0
    }
    fn pinned(&self) -> bool {
        false
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let Self { fails, leaves_out } = *self;
        Ok(Box::new(WritingThread { fails, leaves_out, done: 0, failure: None }))
    }
}

impl Load for WritingThread {
    fn run(&mut self, iterations: u64) {
        self.done = iterations - self.leaves_out.map_or(0, |n| iterations / n);
        std::thread::sleep(std::time::Duration::from_micros(20 * iterations));
        if self.fails.is_some_and(|n| iterations >= n) {
            self.failure = Some("write at 4096: No space left on device".to_owned());
        }
    }
    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }
    fn latencies(&mut self, all: &mut Latencies) {
        (0..self.done).for_each(|_| all.record(1000));
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.done)
    }
}

fn find_writer(_: &str) -> Option<&'static dyn Workload> {
    Some(&Writer)
}

fn talk(params: Params, devices: &[&str], requests: &[Request]) -> Vec<Reply> {
    let job = Job {
        point: Point { workload: "test.writer".to_owned(), params },
        cpus: vec![],
        cpu_stat: vec![],
        devices: devices.iter().map(|d| (*d).to_owned()).collect(),
        trial_s: 1e-3,
    };
    let orders = [Order::Begin(job)].into_iter().chain(requests.iter().map(|r| Order::Take(*r)));
    let lines: Vec<_> = orders.map(|o| serde_json::to_string(&o).unwrap()).collect();
    let mut output = Vec::new();
    serve(&find_writer, lines.join("\n").as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn single_operations_add_up_over_threads_and_trials_without_the_warm_up() {
    let params = Params::default().with("threads", 2);
    let replies = talk(params, &[], &[Request::Warm, Request::Trial, Request::Trial]);
    let latency = |reply: &Reply| match reply {
        Reply::Taken(taken) => taken.latency.clone(),
        other => panic!("{other:?}"),
    };
    let count = |reply: &Reply| latency(reply).map(|l| l.count);
    assert_eq!(count(&replies[2]), Some(100), "100 iterations, divided among two threads");
    assert_eq!(count(&replies[3]), Some(200));
    let latency = latency(&replies[3]).unwrap();
    assert!((latency.p50 / 1e-6 - 1.0).abs() < 0.01, "{latency:?}");
}

#[test]
fn what_the_system_refuses_ends_the_point_with_its_words() {
    let replies = talk(Params::default().with("fails", 100), &[], &[Request::Trial]);
    let Reply::Refused(reason) = &replies[1] else { panic!("{:?}", replies[1]) };
    assert!(reason.contains("No space left"), "{reason}");
}

#[test]
fn work_that_was_not_done_is_no_rate() {
    let replies = talk(Params::default().with("leaves_out", 2), &[], &[Request::Trial]);
    let Reply::Unverified(reason) = &replies[1] else { panic!("{:?}", replies[1]) };
    assert!(reason.contains("of 100"), "{reason}");
}

#[test]
fn the_file_and_the_devices_are_told() {
    let replies = talk(Params::default(), &[], &[Request::Trial]);
    let t = trial(&replies[1]);
    assert_eq!(t.file.as_ref().map(|f| f.size_bytes), Some(4096));
    assert_eq!(t.device, None, "no device was named");
    assert_eq!(t.conditions.migrations, None, "the scheduler may move its threads");
    let stats = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let Some(name) = stats.lines().next().and_then(|l| l.split_whitespace().nth(2)) else { return };
    let replies = talk(Params::default(), &[name], &[Request::Trial]);
    assert!(trial(&replies[1]).device.is_some(), "{name}");
    let replies = talk(Params::default(), &["no_such_disk"], &[Request::Trial]);
    assert_eq!(trial(&replies[1]).device, None);
}
