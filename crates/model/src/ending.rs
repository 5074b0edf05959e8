//! The end of a measurement: why no more trials were taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LimitReached, format_seconds};

/// The reason why no more trials were taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum Ending {
    /// The target interval was reached, or the fixed number of trials taken.
    Complete,
    /// The allowed time or number of trials ran out before the target interval was reached.
    Budget,
    /// The time limit of the run left no time for the minimum number of trials.
    #[serde(rename = "left_out")]
    LeftOut {
        /// Estimated seconds for the minimum, at the pace of the run so far.
        needs_s: f64,
    },
    /// The measurement was still running when the file was written.
    Unfinished,
    /// The run was stopped.
    Interrupted {
        /// Name of the signal.
        by: String,
    },
    /// The workload checked its own result and found it wrong.
    Unverified {
        /// The expected and the actual result.
        reason: String,
    },
    /// The worker process died.
    Crashed {
        /// Name of the signal, such as `SIGKILL`, if a signal ended it.
        signal: Option<String>,
        /// Exit status, or the end of its standard error.
        detail: String,
    },
    /// The workload cannot run here as requested.
    Refused {
        /// The reason.
        reason: String,
    },
    /// A limit of the system ended the worker, or prevented its start.
    Limited {
        /// The limit.
        limit: LimitReached,
        /// The error, or how the worker died.
        detail: String,
    },
}

impl Ending {
    /// Describes how the worker ended, if it ended early: `the worker was killed by SIGILL`.
    pub fn crash(&self) -> Option<String> {
        match self {
            Self::Crashed { signal: Some(signal), .. } => {
                Some(format!("the worker was killed by {signal}"))
            }
            Self::Crashed { signal: None, .. } => Some("the worker died".to_owned()),
            _ => None,
        }
    }

    /// Describes why there is no trial, or why there are no more.
    pub fn words(&self) -> String {
        match self {
            Self::Crashed { detail, .. } => {
                format!("{}: {detail}", self.crash().unwrap_or_default())
            }
            Self::Refused { reason } => format!("cannot run here: {reason}"),
            Self::Limited { limit, detail } => limit.explain(detail),
            Self::Unverified { reason } => format!("verification failed: {reason}"),
            Self::Interrupted { by } => format!("{by} stopped the run"),
            Self::LeftOut { needs_s } => {
                format!("left out for the time limit; needs about {}", format_seconds(*needs_s))
            }
            Self::Unfinished => "the measurement had not ended".to_owned(),
            Self::Complete | Self::Budget => "no trial was completed".to_owned(),
        }
    }
}
