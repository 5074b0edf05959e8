//! How the taking of trials ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LimitReached;

/// How the taking of trials ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum Ending {
    /// The target interval was reached, or the fixed number of trials taken.
    Complete,
    /// The time or the number of trials allowed was spent before the target interval was reached.
    Budget,
    /// Still being measured when this was written.
    Unfinished,
    /// The run was stopped.
    Interrupted {
        /// The signal's name.
        by: String,
    },
    /// The workload checked its own result and found it wrong.
    Unverified {
        /// What was expected and what came out.
        reason: String,
    },
    /// The worker process died.
    Crashed {
        /// The signal's name, such as `SIGKILL`, where a signal ended it.
        signal: Option<String>,
        /// Exit status or the last words on its standard error.
        detail: String,
    },
    /// The workload cannot run here as asked.
    Refused {
        /// Why.
        reason: String,
    },
    /// A limit of the system ended the worker, or kept it from starting.
    Limited {
        /// Which one.
        limit: LimitReached,
        /// The error, or how the worker died.
        detail: String,
    },
}

impl Ending {
    /// How the worker ended, if it did before its work was done: `the worker was killed by SIGILL`.
    pub fn crash(&self) -> Option<String> {
        match self {
            Self::Crashed { signal: Some(signal), .. } => {
                Some(format!("the worker was killed by {signal}"))
            }
            Self::Crashed { signal: None, .. } => Some("the worker died".to_owned()),
            _ => None,
        }
    }

    /// Why there is no trial, or no more of them, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Crashed { detail, .. } => {
                format!("{}: {detail}", self.crash().unwrap_or_default())
            }
            Self::Refused { reason } => format!("cannot run here: {reason}"),
            Self::Limited { limit, detail } => limit.explain(detail),
            Self::Unverified { reason } => format!("verification failed: {reason}"),
            Self::Interrupted { by } => format!("{by} stopped the run"),
            Self::Unfinished => "the measurement had not ended".to_owned(),
            Self::Complete | Self::Budget => "no trial was completed".to_owned(),
        }
    }
}
