//! For programs: what the store holds, as it is.

use std::borrow::Cow;

use proofmark_model::{PastPoint, PastRun};
use serde::Serialize;

use crate::RenderError;

/// Version of the shape.
pub const HISTORY_SCHEMA: &str = "proofmark.history/1";

/// What is printed. Of the two lists, the one that was asked for is there.
#[derive(Serialize)]
struct History<'a> {
    schema: Cow<'static, str>,
    /// Workload id.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<&'a str>,
    /// Runs, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<&'a [PastRun]>,
    /// Numbers, point by point, each oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<&'a [PastPoint]>,
}

pub fn runs(runs: &[PastRun]) -> Result<String, RenderError> {
    text(&History { schema: HISTORY_SCHEMA.into(), workload: None, runs: Some(runs), points: None })
}

pub fn points(workload: &str, points: &[PastPoint]) -> Result<String, RenderError> {
    let schema = HISTORY_SCHEMA.into();
    text(&History { schema, workload: Some(workload), runs: None, points: Some(points) })
}

fn text(history: &History) -> Result<String, RenderError> {
    Ok(format!("{}\n", serde_json::to_string_pretty(history)?))
}
