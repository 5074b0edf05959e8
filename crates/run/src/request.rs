//! The request of a user as plain values: all inputs of a plan except the machine.

use std::path::PathBuf;
use std::time::Duration;

use proofmark_peer::{Address, Key};

/// The profile of a run that names none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// Longest run.
pub const LONGEST_RUN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Longest trial.
pub(crate) const LONGEST_TRIAL: Duration = Duration::from_secs(3600);

/// The request of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// Subsystems and ids of workloads; empty: all.
    pub names: Vec<String>,
    /// Name of a built-in profile, or path of a profile's file.
    pub profile: String,
    /// Longest time for the run; `None`: the profile's.
    pub budget: Option<Duration>,
    /// Number of trials; `None`: as many as the interval needs.
    pub trials: Option<u32>,
    /// Values of parameters that replace those of the profile.
    pub parameters: TypedParameters,
    /// The reference tools to run.
    pub tools: ToolChoice,
    /// Settings of the machine.
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

/// Typed values of parameters. The plan parses each by the kind of its parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypedParameters {
    /// Thread counts, such as `1,2,all`.
    pub threads: Option<String>,
    /// Block sizes, such as `4KB,1MB`.
    pub block_size: Option<String>,
    /// `WORKLOAD.NAME=VALUE,...`; for one workload also `NAME=VALUE,...`.
    pub set: Vec<String>,
}

/// The request of an endurance measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct EndureRequest {
    /// Id of the workload.
    pub workload: String,
    /// Total time.
    pub length: Duration,
    /// Time from the start of one sample to the start of the next.
    pub every: Duration,
    /// Values of parameters; threads default to the maximum of a run.
    pub parameters: TypedParameters,
    /// Settings of the machine.
    pub machine: MachineRequest,
}

impl EndureRequest {
    /// A workload on this machine, for 10 minutes, one sample per second.
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

/// Settings of the measured machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineRequest {
    /// Directory whose disk is measured; `None`: the current one.
    pub disk_path: Option<PathBuf>,
    /// Limits declared by the provider, in base units, by the names of [`proofmark_model::Limit`].
    pub limits: Vec<(String, f64)>,
    /// Server of the network workloads; `None`: this machine.
    pub peer: Option<PeerRequest>,
}

/// A server on another machine.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerRequest {
    /// The address on which it listens.
    pub address: Address,
    /// The key of the server.
    pub key: PeerKey,
}

/// The source of a server's key.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerKey {
    /// This file; `None`: the user's default file.
    File(Option<PathBuf>),
    /// The key itself.
    Known(Key),
}

/// The reference tools of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// At each configuration that the profile marks, the first installed tool.
    #[default]
    Marked,
    /// None.
    None,
    /// These, by id; `all` alone means all.
    Named(Vec<String>),
}
