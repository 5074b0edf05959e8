//! A report as text: the blocks for which a terminal has room.
//!
//! A table that is too wide loses its spacing, then its spare columns, such as the ceiling (which
//! the share of it implies); names are wrapped. If it still does not fit, its columns are shown in
//! blocks, each with the names, or its rows are stacked. Long axes show only the
//! headline figures; the files hold the rest. Colours only repeat what a word and a sign state.

mod blocks;
mod machine;
mod noise;
pub(crate) mod page;
mod paint;
mod short;
mod tables;

use proofmark_model::Run;

pub use self::machine::host;
use self::page::Page;
pub(crate) use self::short::short;
use crate::view::{Document, View};
use crate::{More, Options, RenderError};

pub(crate) fn render(run: &Run, options: &Options) -> Result<String, RenderError> {
    Ok(Page::new(options).document(&View::from_run(run).document))
}

/// Lines of the text at the end of a run, without one for further findings and two for the report's
/// path.
const SCREEN: usize = 27;

/// The text printed at the end of a run: what was measured, the verdicts, the main results and the
/// causes. The full report has more.
pub fn brief(run: &Run, options: &Options, more: &More) -> String {
    let page = Page { lines: Some(SCREEN), ..Page::new(options) };
    page.document(&View::at_end(run, more.command).document)
}

/// The report on noise on one screen: what takes CPU time from the threads, how the vCPUs are
/// placed, and findings.
pub fn noise(run: &Run, options: &Options) -> String {
    let page = Page { lines: Some(SCREEN), ..Page::new(options) };
    page.document(&View::noise_report(run, false).document)
}

/// The report on noise with every cause and finding.
pub fn noise_in_full(run: &Run, options: &Options) -> String {
    Page::new(options).document(&View::noise_report(run, true).document)
}

impl Page {
    /// The whole text.
    pub(crate) fn document(mut self, document: &Document) -> String {
        self.title(&document.title);
        let facts = document.facts.iter().map(|f| format!("{} {}", f.name, f.value));
        let facts = facts.collect::<Vec<_>>().join("; ");
        if !facts.is_empty() {
            self.wrap("", 0, &facts);
        }
        self.previous = page::Previous::Title;
        self.blocks(&document.blocks);
        self.out
    }
}

/// The options to break a text into lines: between words, and not at the hyphens of dates, options
/// and addresses.
fn wrapping(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .break_words(true)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Columns that a text takes.
fn columns_of(text: &str) -> usize {
    textwrap::core::display_width(text)
}
