//! What a user asks for, as plain values: all that a plan is made from, except the machine.

use std::path::PathBuf;
use std::time::Duration;

use proofmark_peer::{Address, Key};

/// The profile of a run that names none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// Longest run that can be asked for.
pub const LONGEST_RUN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Longest trial that can be asked for.
pub(crate) const LONGEST_TRIAL: Duration = Duration::from_secs(3600);

/// A run to be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// Subsystems and ids of workloads; none: all.
    pub names: Vec<String>,
    /// Name of a built-in profile, or of a file that holds one.
    pub profile: String,
    /// Longest time for the run; `None`: the profile's.
    pub budget: Option<Duration>,
    /// Number of trials; `None`: as many as the interval needs.
    pub trials: Option<u32>,
    /// Values of parameters; those of the profile hold where there is none.
    pub parameters: TypedParameters,
    /// Which tools repeat which points.
    pub tools: ToolChoice,
    /// The machine.
    pub machine: MachineRequest,
}

impl Default for PlanRequest {
    /// The profile `default` on this machine.
    fn default() -> Self {
        Self {
            names: Vec::new(),
            profile: DEFAULT_PROFILE.to_owned(),
            budget: None,
            trials: None,
            parameters: TypedParameters::default(),
            tools: ToolChoice::default(),
            machine: MachineRequest::default(),
        }
    }
}

/// Values of parameters as they are typed. The plan parses each by the kind of its parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypedParameters {
    /// Thread counts, such as `1,2,all`.
    pub threads: Option<String>,
    /// Block sizes, such as `4KB,1MB`.
    pub block_size: Option<String>,
    /// `WORKLOAD.NAME=VALUE,...`; for one workload also `NAME=VALUE,...`.
    pub set: Vec<String>,
}

/// One workload to be sampled over time.
#[derive(Debug, Clone, PartialEq)]
pub struct EndureRequest {
    /// Id of the workload.
    pub workload: String,
    /// How long in all.
    pub length: Duration,
    /// From the start of one sample to that of the next.
    pub every: Duration,
    /// Values of parameters; without one, threads are the most of a run.
    pub parameters: TypedParameters,
    /// The machine.
    pub machine: MachineRequest,
}

impl EndureRequest {
    /// A workload on this machine, for 10 minutes, a sample a second.
    pub fn new(workload: impl Into<String>) -> Self {
        Self {
            workload: workload.into(),
            length: Duration::from_secs(600),
            every: Duration::from_secs(1),
            parameters: TypedParameters::default(),
            machine: MachineRequest::default(),
        }
    }
}

/// Where to measure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineRequest {
    /// Folder whose disk is measured; `None`: the current one.
    pub disk_path: Option<PathBuf>,
    /// Limits that the provider declares, in base units, by the names of [`proofmark_model::Limit`].
    pub limits: Vec<(String, f64)>,
    /// Server of the network workloads; `None`: this machine.
    pub peer: Option<PeerRequest>,
}

/// A server on another machine.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerRequest {
    /// Where it listens.
    pub address: Address,
    /// The key that it has.
    pub key: PeerKey,
}

/// Where the key of a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerKey {
    /// In this file; `None`: in the user's usual one.
    File(Option<PathBuf>),
    /// Here.
    Known(Key),
}

/// Which reference tools run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// At each point that the profile marks, the first tool that is installed.
    #[default]
    Marked,
    /// None.
    None,
    /// These, by id; `all` alone is all of them.
    Named(Vec<String>),
}
