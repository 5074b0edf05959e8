//! Past runs as a list, and the results of a workload over time.
//!
//! `view` turns them into documents of blocks, which the terminal and the page lay out. A line over
//! time is one configuration on one machine, measured one way. Two machines are two lines, and so
//! are trials and samples over time. Two labels of one machine are rows of one line. Texts come from a database that others may have written, and
//! are cleaned like those of a run.

mod csv;
mod line;
mod table;
mod view;

use proofmark_model::{HISTORY_SCHEMA, History, LevelChange, PastPoint, PastRun, WorkloadSpec};

use crate::terminal::page::Page;
use crate::view::Document;
use crate::{Format, Options, RenderError, html};

/// The results of one workload, configuration by configuration, each oldest first.
#[derive(Debug, Clone, Copy)]
pub struct OverTime<'a> {
    /// The workload's id.
    pub workload: &'a str,
    /// The declaration, if this version has one.
    pub spec: Option<&'a WorkloadSpec>,
    /// The results.
    pub points: &'a [PastPoint],
    /// The changes of their levels.
    pub changes: &'a [LevelChange],
}

/// The writers of a list of runs and of results over time.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Writes a list of runs, in the order in which they come.
    pub runs: fn(&[PastRun], &Options) -> Result<String, RenderError>,
    /// Writes the results of a workload.
    pub over_time: fn(&OverTime, &Options) -> Result<String, RenderError>,
}

/// Every format of a history, in the order of `--help`.
pub const FORMATS: &[Format<Writer>] = &[
    Format {
        id: "terminal",
        write: Writer {
            runs: |runs, options| Ok(terminal(&view::runs(runs), options)),
            over_time: |all, options| Ok(terminal(&all.document(), options)),
        },
    },
    Format {
        id: "json",
        write: Writer {
            runs: |runs, _| {
                let (workload, points, changes) = (None, None, None);
                let runs = Some(runs);
                json(History { schema: HISTORY_SCHEMA, workload, runs, points, changes })
            },
            over_time: |all, _| {
                let (workload, points) = (Some(all.workload), Some(all.points));
                let (runs, changes) = (None, Some(all.changes));
                json(History { schema: HISTORY_SCHEMA, workload, runs, points, changes })
            },
        },
    },
    Format {
        id: "csv",
        write: Writer {
            runs: |runs, _| csv::runs(runs),
            over_time: |all, _| csv::points(all.points),
        },
    },
    Format {
        id: "html",
        write: Writer {
            runs: |runs, _| html::document(&view::runs(runs)),
            over_time: |all, _| html::document(&all.document()),
        },
    },
];

fn terminal(document: &Document, options: &Options) -> String {
    Page::new(options).document(document)
}

impl OverTime<'_> {
    fn document(&self) -> Document {
        let shared = line::shared(self.points, self.spec);
        view::points(self.workload, &shared, &line::lines(self.points, self.changes, self.spec))
    }
}

fn json(history: History) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(&history)? + "\n")
}
