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
    /// The terminal only: a shorter form of a block that the other formats show in full.
    Terminal,
    /// Terminal and Markdown: text that replaces a chart of the page.
    Text,
    /// Markdown and page: blocks that are too long for a terminal.
    Document,
    /// The page only.
    Page,
}

impl Audience {
    /// Returns true if a format shows the block.
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
