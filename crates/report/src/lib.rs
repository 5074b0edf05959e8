//! Formats a [`Run`] for people and for programs.
//!
//! Each format has a module and a row in [`ALL`]. [`view`] turns a run into an ordered list of
//! blocks, such as texts, tables and charts. The terminal, the Markdown and the HTML only lay them
//! out, so that they cannot contradict each other. The JSON and the CSV come from the run itself.
//!
//! Everything in a run file is untrusted input. The view drops control characters; each format
//! escapes what its own syntax needs.

pub mod bmf;
pub mod charts;
pub mod check;
pub mod comparison;
pub mod csv;
pub mod fleet;
pub mod group;
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

/// Layout of a report. Formats ignore options that do not concern them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; less than 20 counts as 20.
    pub width: usize,
    /// True if the terminal shows colours. They never carry meaning alone.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 80, color: false }
    }
}

/// Where the reader of a short report finds the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More<'a> {
    /// The command that reports the same run, such as `proofmark report DIR`.
    pub command: &'a str,
    /// The run's page in a file, if there is one.
    pub page: Option<&'a str>,
}

/// The reasons why a report could not be made.
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
    Xml(#[from] quick_junit::SerializeError),
    /// A value has no form in JSON.
    #[error("the JSON cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The written JSON cannot be read back: a number in the run is not finite.
    #[error("the JSON of this run cannot be read back: {0}")]
    Unreadable(#[from] proofmark_model::ReadError),
}

/// One format of a run's report.
#[derive(Debug, Clone, Copy)]
pub struct RunFormat {
    /// The word after `--format`.
    pub id: &'static str,
    /// Name of its file in a run's directory; `None` if it is written on request only.
    pub file: Option<&'static str>,
    /// The use, in one sentence.
    pub about: &'static str,
    write: fn(&Run, &Options) -> Result<String, RenderError>,
    /// Returns a line on the results that the format leaves out.
    left_out: fn(&Run) -> Option<String>,
    /// Writes the short form; `None` for a format that has only one.
    short: Option<fn(&Run, &Options, &More) -> String>,
}

/// Answer of a format that has every result.
const NOTHING: fn(&Run) -> Option<String> = |_| None;

impl RunFormat {
    /// Returns a line on the results that the format leaves out of this run; `None` if it has all.
    pub fn left_out(&self, run: &Run) -> Option<String> {
        (self.left_out)(run)
    }

    /// Returns the report's text, which ends in a line break.
    ///
    /// # Errors
    /// If the format cannot hold a value of the run.
    pub fn render(&self, run: &Run, options: &Options) -> Result<String, RenderError> {
        (self.write)(run, options)
    }

    /// Returns the short form of the report, which names what it leaves out and where that is; the
    /// whole report of a format that has only one form.
    ///
    /// # Errors
    /// If the format cannot hold a value of the run.
    pub fn render_short(
        &self,
        run: &Run,
        options: &Options,
        more: &More,
    ) -> Result<String, RenderError> {
        match self.short {
            Some(short) => Ok(short(run, options, more)),
            None => self.render(run, options),
        }
    }
}

/// One format of another report, such as a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Format<W> {
    /// The word after `--format`.
    pub id: &'static str,
    /// Writes the report.
    pub write: W,
}

/// Every format of a run's report, in the order of `--help`.
pub const ALL: &[RunFormat] = &[
    RunFormat {
        id: "terminal",
        file: None,
        about: "Main results, problems and conclusions, for reading in a terminal; --all adds every result and finding.",
        write: terminal::render,
        left_out: NOTHING,
        short: Some(terminal::short),
    },
    RunFormat {
        id: "html",
        file: Some("report.html"),
        about: "One page with charts, tables, derivations and every trial, for a browser.",
        write: html::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "markdown",
        file: Some("report.md"),
        about: "One row per result, findings and conclusions, for an issue; --all adds every table, also of single trials, and derivation.",
        write: markdown::render,
        left_out: NOTHING,
        short: Some(markdown::short),
    },
    RunFormat {
        id: "summary",
        file: None,
        about: "A short summary, for a ticket or a chat.",
        write: summary::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "csv",
        file: Some("report.csv"),
        about: "One row per trial, for spreadsheets and statistics programs.",
        write: csv::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "json",
        file: None,
        about: "The whole run, for programs; schema proofmark.run/2.",
        write: json::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "jsonl",
        file: None,
        about: "One JSON object per line and metric, for log shippers and jq.",
        write: jsonl::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "openmetrics",
        file: None,
        about: "Gauges as OpenMetrics text, for node_exporter's textfile collector (write proofmark.prom).",
        write: openmetrics::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "junit",
        file: None,
        about: "JUnit XML for continuous integration: a case per configuration; invalid results fail.",
        write: junit::render,
        left_out: NOTHING,
        short: None,
    },
    RunFormat {
        id: "bmf",
        file: None,
        about: "Bencher Metric Format: JSON with 95 % intervals, for Bencher; without invalid results.",
        write: bmf::render,
        left_out: bmf::left_out,
        short: None,
    },
];

/// Returns the format of that id.
pub fn find(id: &str) -> Option<&'static RunFormat> {
    ALL.iter().find(|f| f.id == id)
}

#[cfg(test)]
mod tests {
    use super::view::{Audience, Blocks, Columns, Details, Document, Item, Section, Table};
    use super::{Options, html, markdown, terminal};

    const AUDIENCES: [(Audience, [bool; 3]); 5] = [
        (Audience::Everyone, [true, true, true]),
        (Audience::Terminal, [true, false, false]),
        (Audience::Text, [true, true, false]),
        (Audience::Document, [false, true, true]),
        (Audience::Page, [false, false, true]),
    ];

    /// Terminal, Markdown and page.
    fn formats(blocks: Blocks) -> [String; 3] {
        let document = Document { title: "title".into(), facts: Vec::new(), blocks: blocks.0 };
        let page = html::document(&document).unwrap();
        let text = terminal::page::Page::new(&Options::default()).document(&document);
        [text, markdown::document(&document), page]
    }

    fn table() -> Table {
        let columns = AUDIENCES.iter().fold(Columns::new("table"), |columns, (audience, _)| {
            columns.column(&format!("column{audience:?}"), |()| "cell").only_for(*audience)
        });
        columns.rows([()])
    }

    /// Only the formats of their audience show blocks, parts of sections and columns.
    #[test]
    fn each_format_shows_what_is_for_it() {
        let mut out = Blocks::default();
        for (audience, _) in AUDIENCES {
            out.add_for(audience, "text", format!("text{audience:?}"));
            let item = Item::from(format!("item{audience:?}"));
            let folded = Details::new("folded", |out| out.add("list", vec![item.clone()]));
            let mut section = Section::new("", &format!("section{audience:?}"), |_| ());
            section.blocks = Blocks::one("part", folded).0;
            section.blocks.iter_mut().for_each(|part| part.audience = audience);
            out.add("section", section);
        }
        out.add("table", table());
        for (text, at) in formats(out).iter().zip(0..) {
            for (audience, shown) in AUDIENCES {
                for part in ["text", "section", "item", "column"] {
                    let word = format!("{part}{audience:?}");
                    assert_eq!(text.contains(&word), shown[at], "{word} in {text}");
                }
            }
        }
    }

    #[test]
    fn an_empty_section_has_no_heading() {
        let mut out = Blocks::default();
        out.add("text", String::new());
        out.add("table", Columns::new("table").column("column", |()| "cell").rows([]));
        out.add(
            "section",
            Section::new("anchor", "heading", |out| out.add("text", Vec::<String>::new())),
        );
        for text in formats(out) {
            let body = text.split("<main>").last().unwrap().split("</main>").next().unwrap();
            assert!(!body.contains("heading") && !body.contains("column"), "{body}");
        }
    }
}
