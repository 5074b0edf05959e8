//! What a run and its workers say to each other: one JSON value a line, jobs and
//! requests on the worker's standard input, replies on its standard output.

use std::io::{self, Write};
use std::path::PathBuf;

use proofmark_model::{Latency, Point, Trial};
use serde::{Deserialize, Serialize};

/// Says one thing: a line.
pub(crate) fn send(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// What a worker is to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What to measure.
    pub point: Point,
    /// CPUs to pin threads to, in order; thread i takes number i modulo their count.
    pub cpus: Vec<u32>,
    /// cpu.stat files that report throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Block devices at the bottom of the disk, by the names of /proc/diskstats.
    pub devices: Vec<String>,
    /// Least duration of a trial in seconds.
    pub trial_s: f64,
    /// Rounds of a trial that is cut, at least; `None`: a trial is one round, however long it is.
    pub least_rounds: Option<u32>,
    /// Whole periods of a round, at least, where a CPU quota limits the threads.
    pub quota_periods: u32,
}

/// A line to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Set this up in that slot, besides what is set up in others.
    Begin(u32, Job),
    /// Take a trial of what is set up there.
    Take(u32, Request),
    /// Take down what is set up there.
    End(u32),
}

/// Which trial to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Take a trial that does not count, and size the work by it.
    Warm,
    /// Take a trial.
    Trial,
    /// Take a sample of a series, a trial made of parts, one right after the other, for so long.
    Span {
        /// How long a part should take, in microseconds.
        part_us: u64,
        /// How long all of them, in microseconds. One part is taken in any case.
        span_us: u64,
    },
}

/// A line from a worker, one for each order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// Set up and waiting.
    Ready,
    /// What was asked for.
    Taken(Box<Taken>),
    /// The point cannot run here.
    Refused(String),
    /// The workload found its own result wrong.
    Unverified(String),
}

/// A trial, and what is known of all trials of the point so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The trial, as the run file holds it.
    pub trial: Trial,
    /// Times of single operations, over all trials of the point so far.
    pub latency: Option<Latency>,
}
