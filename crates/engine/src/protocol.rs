//! What a run and its workers say to each other: one JSON value a line, jobs and
//! requests on the worker's standard input, replies on its standard output.

use std::path::PathBuf;

use proofmark_model::{
    Conditions, DeviceTraffic, FileState, Latency, NetworkTraffic, Point, Solution, Timestamp,
};
use serde::{Deserialize, Serialize};

/// What a worker is to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What to measure.
    pub point: Point,
    /// CPUs to pin threads to, in order; thread i takes number i modulo their count.
    pub cpus: Vec<u32>,
    /// cpu.stat files that tell of throttling.
    pub cpu_stat: Vec<PathBuf>,
    /// Block devices at the bottom of the disk, by the names of /proc/diskstats.
    pub devices: Vec<String>,
    /// Least duration of a trial in seconds.
    pub trial_s: f64,
}

/// A line to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Set this up, in place of what was set up before.
    Begin(Job),
    /// Take a sample of it.
    Sample(Request),
}

/// Which sample to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Take a trial that does not count, and size the work by it.
    Warm,
    /// Take a trial.
    Trial,
    /// Take a sample of a series: slices, one right after the other, for so long.
    Span {
        /// How long a slice should take, in microseconds.
        slice_us: u64,
        /// How long all of them, in microseconds. One slice is taken in any case.
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
    Sample(Box<Sample>),
    /// The point cannot run here.
    Refused(String),
    /// The workload found its own result wrong.
    Unverified(String),
}

/// One trial as the worker saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When it began.
    pub started: Timestamp,
    /// First start to last end, in seconds.
    pub seconds: f64,
    /// Units of work that were asked for, over all threads.
    pub claimed: f64,
    /// Units of work that the verified results prove.
    pub counted: f64,
    /// Bytes that the hardware must carry for the work.
    pub moved: Option<f64>,
    /// Bytes a second that threads without a share of the work moved meanwhile.
    pub background: Option<f64>,
    /// What the system did meanwhile.
    pub conditions: Conditions,
    /// What the block devices did meanwhile.
    pub device: Option<DeviceTraffic>,
    /// The state of the workload's file.
    pub file: Option<FileState>,
    /// What both ends of a network say.
    pub network: Option<NetworkTraffic>,
    /// What the workload says of the solution that it found.
    pub solution: Option<Solution>,
    /// Times of single operations, over all trials of the point so far.
    pub latency: Option<Latency>,
}
