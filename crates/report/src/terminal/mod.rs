//! For reading in a terminal: the blocks of a report that have room on it.
//!
//! A table that does not fit the width loses its spacing, then the columns that a
//! reader can spare, such as its ceiling (which the share of it implies) or its single
//! trials, and at last becomes one paragraph per point. Of a long axis the headline figures are
//! printed; the files hold the rest.
//! Colours only repeat what a word and a sign already say.

mod blocks;
mod machine;
mod noise;
pub(crate) mod page;
mod paint;
mod tables;

use proofmark_model::Run;

pub use self::machine::host;
use self::page::Page;
use crate::view::{Document, View};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, options: &Options) -> Result<String, RenderError> {
    Ok(Page::new(options).document(&View::from_run(run).document))
}

/// Lines of the text that ends a run, without one for further findings and two for the report's path.
const SCREEN: usize = 27;

/// What is printed where a run ends: what was measured, whether to believe it, the results that answer
/// for the machine, and what changed them. The rest is in the report.
pub fn brief(run: &Run, options: &Options) -> String {
    let page = Page { lines: Some(SCREEN), ..Page::new(options) };
    page.document(&View::at_end(run).document)
}

/// What takes CPU time from the threads, and how the vCPUs are placed: as a picture, with what the
/// checks found.
pub fn noise(run: &Run, options: &Options) -> String {
    Page::new(options).document(&View::of_noise(run).document)
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

/// Columns that a text takes.
fn columns_of(text: &str) -> usize {
    textwrap::core::display_width(text)
}
