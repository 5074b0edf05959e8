//! Formats a [`Run`] for people and for programs.
//!
//! One module per format, one entry per format in [`ALL`]. What is said is decided once,
//! in [`view`]: it turns a run into neutral tables, series, findings and sentences,
//! which the terminal, the Markdown and the HTML only lay out. So they cannot
//! contradict each other. The JSON and the CSV are taken from the run itself.
//!
//! Everything in a run file is untrusted input. The view drops
//! control characters; each format escapes what is left in its own way.

pub mod check;
pub mod comparison;
pub mod csv;
pub mod fleet;
pub mod history;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod markdown;
pub mod openmetrics;
pub mod spark;
pub mod summary;
pub mod terminal;
pub mod view;

use proofmark_model::Run;

/// How a report is laid out. Formats ignore what does not concern them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; less than 20 counts as 20.
    pub width: usize,
    /// Whether the terminal shows colours. They never carry meaning alone.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 80, color: false }
    }
}

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The page's template failed.
    #[error("the HTML page cannot be made: {0}")]
    Template(#[from] minijinja::Error),
    /// A CSV record could not be written.
    #[error("the CSV table cannot be made: {0}")]
    Csv(String),
    /// A report for continuous integration could not be written.
    #[error("the JUnit XML cannot be written: {0}")]
    Xml(#[from] quick_xml::SeError),
    /// It does not fit into JSON.
    #[error("the JSON cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// What was written would not be read again: a number in the run is not finite.
    #[error("the JSON of this run could not be read again: {0}")]
    Unreadable(#[from] proofmark_model::ReadError),
}

/// One form of a report.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The word after `--format`.
    pub id: &'static str,
    /// Name of the file that a run's folder gets in this form; `None` for a form that
    /// is made on request only.
    pub file: Option<&'static str>,
    /// One sentence: what it is good for.
    pub about: &'static str,
    write: fn(&Run, &Options) -> Result<String, RenderError>,
}

impl Format {
    /// The report's text, which ends in a line break.
    ///
    /// # Errors
    /// If the run cannot be expressed in this form.
    pub fn render(&self, run: &Run, options: &Options) -> Result<String, RenderError> {
        (self.write)(run, options)
    }
}

/// Every format, in the order of `--help`.
pub const ALL: &[Format] = &[
    Format {
        id: "terminal",
        file: None,
        about: "Summary, tables and findings, for reading in a terminal.",
        write: terminal::render,
    },
    Format {
        id: "html",
        file: Some("report.html"),
        about: "One page with charts, tables, derivations and every trial, for a browser.",
        write: html::render,
    },
    Format {
        id: "markdown",
        file: Some("report.md"),
        about: "Summary, tables and findings, for an issue or a document.",
        write: markdown::render,
    },
    Format {
        id: "summary",
        file: None,
        about: "A short summary, for a ticket or a chat.",
        write: summary::render,
    },
    Format {
        id: "csv",
        file: Some("report.csv"),
        about: "One row per trial, for spreadsheets and statistics programs.",
        write: csv::render,
    },
    Format {
        id: "json",
        file: None,
        about: "The whole run, for programs; schema proofmark.run/2.",
        write: json::render,
    },
    Format {
        id: "jsonl",
        file: None,
        about: "One JSON object per line and metric, for log shippers and jq.",
        write: jsonl::render,
    },
    Format {
        id: "openmetrics",
        file: None,
        about: "Gauges as OpenMetrics text, for node_exporter's textfile collector (write proofmark.prom).",
        write: openmetrics::render,
    },
    Format {
        id: "junit",
        file: None,
        about: "JUnit XML for continuous integration: a case per configuration; invalid results fail.",
        write: junit::render,
    },
];

/// The format of that id.
pub fn find(id: &str) -> Option<&'static Format> {
    ALL.iter().find(|f| f.id == id)
}
