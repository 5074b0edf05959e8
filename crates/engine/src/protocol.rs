//! The protocol of a run and its workers: one JSON value per line. Jobs and requests go to the
//! worker's standard input, replies come on its standard output.

use std::io::{self, Write};
use std::path::PathBuf;

use proofmark_model::{Latency, Point, Trial};
use serde::{Deserialize, Serialize};

/// Sends one value as a line.
pub(crate) fn send(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// A configuration for a worker, and how to measure it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The configuration.
    pub point: Point,
    /// CPUs to pin threads to, in order. Thread i gets number i modulo their count.
    pub cpus: Vec<u32>,
    /// cpu.stat files that report throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Block devices at the bottom of the disk, by the names of /proc/diskstats.
    pub devices: Vec<String>,
    /// Minimum duration of a trial in seconds.
    pub trial_s: f64,
    /// Minimum rounds of a trial that is cut; `None`: a trial is one round, however long it is.
    pub least_rounds: Option<u32>,
    /// Minimum of whole periods in a round, if a CPU quota limits the threads.
    pub quota_periods: u32,
}

/// A line to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Set this up in that slot, in addition to other slots.
    Begin(u32, Job),
    /// Take a trial of the configuration in that slot.
    Take(u32, Request),
    /// Take down the configuration in that slot.
    End(u32),
}

/// The kind of trial to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Take a trial that does not count, to size the work by it.
    Warm,
    /// Take a trial.
    Trial,
    /// Take a sample of a series: a trial made of consecutive parts.
    Span {
        /// Target duration of a part, in microseconds.
        part_us: u64,
        /// Target duration of the sample, in microseconds. It has at least one part.
        span_us: u64,
    },
}

/// A line from a worker, one per order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// The order is done; the worker waits for the next.
    Ready,
    /// The requested trial.
    Taken(Box<Taken>),
    /// The configuration cannot run here.
    Refused(String),
    /// The workload found its own result wrong.
    Unverified(String),
}

/// A trial, and a summary of all trials of the configuration so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The trial, as the run file holds it.
    pub trial: Trial,
    /// Times of single operations, over all trials of the configuration so far.
    pub latency: Option<Latency>,
}
