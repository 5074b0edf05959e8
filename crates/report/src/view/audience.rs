//! Which formats show a part of a report.

use serde::Serialize;

/// A format that lays out blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Plain text of a given width.
    Terminal,
    /// GitHub-flavoured Markdown.
    Markdown,
    /// The HTML page.
    Page,
}

/// The formats that show a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Audience {
    /// All formats.
    Everyone,
    /// The terminal alone: what stands for something longer elsewhere.
    Terminal,
    /// Terminal and Markdown: what a chart shows on the page.
    Text,
    /// Markdown and page: what is too long for a terminal.
    Document,
    /// The page alone.
    Page,
}

impl Audience {
    /// Whether a format shows it.
    pub fn includes(self, medium: Medium) -> bool {
        match self {
            Self::Everyone => true,
            Self::Terminal => medium == Medium::Terminal,
            Self::Text => medium != Medium::Page,
            Self::Document => medium != Medium::Terminal,
            Self::Page => medium == Medium::Page,
        }
    }
}
