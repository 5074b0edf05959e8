//! A fleet's report in every format.
//!
//! `view` turns a [`FleetReport`] into a document of blocks, which the terminal and the page lay
//! out. The terminal shows one screen of it, whatever the fleet's size; the page has all figures.
//! OpenMetrics and JUnit serve monitoring and continuous integration. Every text of a report may be
//! untrusted: the view drops control characters, each format escapes the rest.

mod advice;
mod figures;
mod groups;
mod junit;
mod links;
mod lookup;
mod map;
mod nodes;
mod openmetrics;
mod rounds;
mod screen;
mod statements;
mod view;
mod words;

use proofmark_model::FleetReport;

pub use junit::junit;
pub use openmetrics::openmetrics;

use crate::terminal::page::Page;
use crate::view::Document;
use crate::{Format, Options, RenderError};

/// The writer of a fleet's report.
pub type Writer = fn(&FleetReport, &Options) -> Result<String, RenderError>;

/// Every format of a fleet's report, in the order of `--help`.
pub const FORMATS: &[Format<Writer>] = &[
    Format { id: "terminal", write: |report, options| Ok(terminal(report, options)) },
    Format { id: "html", write: |report, _| html(report) },
    Format { id: "json", write: |report, _| json(report) },
    Format { id: "openmetrics", write: |report, _| Ok(openmetrics(report)) },
    Format { id: "junit", write: |report, _| junit(report) },
];

/// The page.
///
/// # Errors
/// If a template fails.
pub fn html(report: &FleetReport) -> Result<String, RenderError> {
    crate::html::document(&view::document(report, Options::default().width, false))
}

/// One screen: the answer, the nodes that are not healthy with their causes, the groups, the main
/// figures, and the next steps.
pub fn terminal(report: &FleetReport, options: &Options) -> String {
    // Its 24 lines have no room for how the fleet was measured.
    let document = Document { facts: Vec::new(), ..view::document(report, options.width, false) };
    Page::new(options).document(&document)
}

/// The same with whole texts, and every node, link, group and figure.
pub fn whole_terminal(report: &FleetReport, options: &Options) -> String {
    Page::new(options).document(&view::document(report, options.width, true))
}

/// The report for programs: schema `proofmark.fleet-report/1`.
///
/// # Errors
/// If a number in it is not finite, so that the JSON cannot be read back.
pub fn json(report: &FleetReport) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(report)?;
    serde_json::from_str::<FleetReport>(&text)?;
    text.push('\n');
    Ok(text)
}
