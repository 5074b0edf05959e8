//! A fleet's report in every form, laid out from one view of a [`FleetReport`].
//!
//! What is said is decided once, in `view`: the answer, the nodes with their causes, the groups, their
//! figures and what to do next. The terminal shows one screen of it, whatever the fleet's size; the
//! page has all figures; OpenMetrics and JUnit are for what watches a fleet. Every text of a report
//! may be untrusted: the view drops control characters, each form escapes the rest.

mod advice;
mod figures;
mod html;
mod junit;
mod links;
mod lookup;
mod map;
mod openmetrics;
mod strips;
mod terminal;
mod view;
mod words;

use proofmark_model::FleetReport;

pub use html::html;
pub use junit::junit;
pub use openmetrics::openmetrics;
pub use terminal::terminal;

use crate::RenderError;

/// The report for programs: schema `proofmark.fleet-report/1`.
///
/// # Errors
/// If a number in it is not finite, so that it could not be read again.
pub fn json(report: &FleetReport) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(report)?;
    serde_json::from_str::<FleetReport>(&text)?;
    text.push('\n');
    Ok(text)
}
