//! A worker that is stopped again and again while it calibrates: neither its results nor its memory
//! depend on that.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::Duration;

use proofmark_model::Trial;
use proofmark_testing::{join, skip, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::lab::{proofmark, shared};

/// A worker that the test drives as a run does.
struct Worker {
    child: Child,
    orders: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a worker and sets up this workload.
    fn begun(workload: &str, params: &Value, trial_s: f64) -> Self {
        let mut command = proofmark();
        command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let mut worker = Self { child, orders, replies };
        let point = json!({ "workload": workload, "params": params });
        let none: [&str; 0] = [];
        worker.orders(&[json!({ "begin": [0, {
            "point": point, "cpus": [], "cpu_stat": none, "devices": none,
            "trial_s": trial_s, "least_rounds": null, "quota_periods": 2,
        }] })]);
        assert_eq!(worker.reply(), json!("ready"));
        worker
    }

    fn orders(&mut self, orders: &[Value]) {
        orders.iter().for_each(|order| writeln!(self.orders, "{order}").unwrap());
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Runs this many trials; the process is mostly stopped while the first is calibrated.
    fn stopped_trials(&mut self, count: usize) -> Vec<Trial> {
        self.orders(&vec![json!({ "take": [0, "trial"] }); count]);
        for _ in 0..30 {
            self.signal(Signal::STOP);
            sleep(Duration::from_millis(40));
            self.signal(Signal::CONT);
            sleep(Duration::from_millis(4));
        }
        let reply = |_| serde_json::from_value(self.reply()["taken"]["trial"].clone()).unwrap();
        (0..count).map(reply).collect()
    }

    /// Returns a number of /proc/PID/status, in bytes.
    fn bytes(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
    }

    fn end(self) {
        let Self { mut child, orders, .. } = self;
        drop(orders);
        assert!(wait("a worker whose input ended", &mut child).success());
    }
}

#[test]
fn logs_of_99_threads_take_no_more_memory_because_a_worker_is_stopped() {
    let _turn = shared();
    let params = json!({
        "threads": 99, "type": "i64", "isa": "scalar", "mix": "add16", "iterations": 1_000_000,
    });
    let mut worker = Worker::begun("cpu.mix.int", &params, 0.02);
    for trial in worker.stopped_trials(3) {
        assert_eq!(trial.work, 16e6);
    }
    let adjusted = fs::read_to_string(format!("/proc/{}/oom_score_adj", worker.child.id()));
    if let Ok(adjusted) = adjusted {
        assert_eq!(adjusted.trim(), "1000", "a worker is the first to go");
    }
    let Some(most) = worker.bytes("VmHWM") else { return skip("no /proc/PID/status") };
    // The 64 MiB of the logs, their results, and the threads.
    assert!(most < 256 << 20, "{} MiB", most >> 20);
    worker.end();
}

#[test]
fn random_blocks_do_not_come_again_because_a_worker_is_stopped() {
    let _turn = shared();
    const DATA: u64 = 64 << 20;
    let takes = std::thread::spawn(|| {
        let params = json!({ "threads": 1, "block_size": 8, "data_size": DATA, "pages": "small" });
        let mut worker = Worker::begun("memory.rand_read", &params, 0.1);
        let trials = worker.stopped_trials(4);
        worker.end();
        trials
    });
    for trial in join("four trials", takes) {
        let touched = trial.touched.unwrap();
        assert!(touched.reuse_bytes.is_none_or(|bytes| bytes > DATA / 10 * 9), "{touched:?}");
        // Four million blocks are read before one repeats.
        let again = touched.most_visits > 1;
        assert!(!again || touched.places == DATA / 16, "{touched:?}");
    }
}
