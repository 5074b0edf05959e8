//! The run file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Host, Measurement, Plan, Timestamp, Verdict, WorkloadSpec};

/// Version of the run file's shape.
pub const SCHEMA: &str = "proofmark.run/2";

/// The program that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of proofmark.
    pub version: String,
    /// Commit that it was built from; null for a build outside a checkout.
    pub commit: Option<String>,
    /// Compiler, target and profile.
    pub build: String,
}

/// One run: host, plan and measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Always [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The program that made it.
    pub tool: Tool,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; null while it goes on, and for ever if it was killed.
    pub ended: Option<Timestamp>,
    /// Signal that stopped it before the plan was done.
    pub interrupted: Option<String>,
    /// The tool whose output this is, with its version, where proofmark measured nothing itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// The machine.
    pub host: Host,
    /// What was to be measured.
    pub plan: Plan,
    /// Declarations of the workloads in the plan, by id, so that a reader of this
    /// file needs nothing else to explain it.
    pub workloads: BTreeMap<String, WorkloadSpec>,
    /// What was measured, in the order of the plan.
    pub measurements: Vec<Measurement>,
    /// Findings about the run as a whole.
    pub findings: Vec<Finding>,
}

impl Run {
    /// The worst verdict of all measurements; `None` without one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.measurements.iter().map(|m| m.verdict).max()
    }
}

/// Why a run file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON, or not of the schema's shape.
    #[error("not a proofmark run: {0}")]
    Shape(#[from] serde_json::Error),
    /// It is of another version.
    #[error("schema is {found}, this proofmark reads {SCHEMA}")]
    Schema {
        /// The version that the file names.
        found: String,
    },
}

/// Reads a run file's text. A [`ReadError::Shape`] has the line and column of what is wrong.
pub fn read_run(text: &str) -> Result<Run, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<serde_json::Value>,
    }
    let head: Head = serde_json::from_str(text)?;
    match head.schema {
        Some(serde_json::Value::String(s)) if s == SCHEMA => Ok(serde_json::from_str(text)?),
        Some(serde_json::Value::String(found)) => Err(ReadError::Schema { found }),
        Some(other) => Err(ReadError::Schema { found: other.to_string() }),
        None => Err(ReadError::Schema { found: "missing".to_owned() }),
    }
}

/// The JSON schema of a run file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Run)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_run_of_this_version_is_refused() {
        let message = |text: &str| read_run(text).unwrap_err().to_string();
        assert_eq!(
            message(r#"{"schema": "proofmark.run/0"}"#),
            "schema is proofmark.run/0, this proofmark reads proofmark.run/2"
        );
        assert!(message("{}").contains("schema is missing"));
        assert!(message(r#"{"schema": 1}"#).contains("schema is 1"));
        assert!(message(r#"{"schema": "proofmark.run/2"}"#).contains("missing field"));
        assert!(message("{\n\"schema\": ").contains("line 2"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[\]{}":,a-z0-9. /-]{0,80}"#) {
            let _ = read_run(&text);
            let _ = read_run(&format!(r#"{{"schema": "proofmark.run/2", {text}}}"#));
        }
    }
}
