//! Several runs of one plan in every format: each result over all runs, and what changed between them.

mod view;

use proofmark_model::RunGroup;

use crate::terminal::page::Page;
use crate::{Format, Options, RenderError, html, markdown};

/// Options of a group's texts.
#[derive(Debug, Clone, Copy)]
pub struct GroupOptions {
    /// Layout of a text for a terminal.
    pub layout: Options,
    /// True for every result; else a text has those of the first screen.
    pub all: bool,
}

/// Writes a group.
pub type Writer = fn(&RunGroup, &GroupOptions) -> Result<String, RenderError>;

/// Every format of a group.
pub const FORMATS: &[Format<Writer>] = &[
    Format {
        id: "terminal",
        write: |group, options| {
            Ok(Page::new(&options.layout).document(&view::document(group, options.all)))
        },
    },
    Format {
        id: "markdown",
        write: |group, options| Ok(markdown::document(&view::document(group, options.all))),
    },
    Format { id: "html", write: |group, _| html::document(&view::document(group, true)) },
    Format { id: "json", write: |group, _| Ok(serde_json::to_string_pretty(group)? + "\n") },
];
