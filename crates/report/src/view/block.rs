//! Blocks: every report is an ordered list of them.
//!
//! The view decides the content, its order, and which formats show it. Terminal, Markdown and page
//! lay out blocks without knowledge of their content.

mod builder;
mod text;

use proofmark_model::Verdict;
use serde::Serialize;

pub use self::builder::Blocks;
pub use self::text::{Item, Rich, Style, Text, Tone};
use super::audience::{Audience, Medium};
use super::chart::{BarChart, Chart, Mark};
use super::facts::FactTable;
use super::findings::FindingGroup;
use super::heat_map::HeatMap;
use super::main_results::ScreenPart;
use super::noise::NoiseChart;
use super::pictures::Picture;
use super::table::Table;
use super::timeline::Timeline;
use super::workload_figure::WorkloadFigure;

/// One part of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// A word for the content, which names the block in tests and snapshots.
    pub topic: &'static str,
    /// The formats that show it.
    pub audience: Audience,
    /// The content.
    pub content: Content,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Content {
    /// A heading with what is below it.
    Section(Section),
    /// A part that the page folds.
    Details(Details),
    /// Blocks next to each other where there is room.
    Grid(Vec<Block>),
    /// Paragraphs.
    Text(Text),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
    /// Facts with their sources.
    Facts(FactTable),
    /// Charts and other pictures.
    Drawings(Drawings),
    /// The main results.
    Results(Results),
    /// Findings of the checks.
    Findings(Findings),
}

/// A heading with what is below it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Section {
    /// Id on the page; empty for a heading that no link leads to.
    pub anchor: String,
    /// The heading.
    pub title: String,
    /// An id that belongs to the title; empty for none.
    pub code: String,
    /// Title in a list of contents; empty where it is the heading.
    pub short: String,
    /// The result that is next to the title; the page folds such a section.
    pub figure: Option<Box<WorkloadFigure>>,
    /// True if a section that the page folds is open at first.
    pub open: bool,
    /// True if only assistive technology shows the heading.
    pub unseen: bool,
    /// The blocks below the heading.
    pub blocks: Vec<Block>,
}

/// A part that the page folds; other formats show its blocks.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Details {
    /// The line that remains visible when the part is folded.
    pub summary: String,
    /// An id that belongs to the summary; empty for none.
    pub code: String,
    /// True if the part is open at first.
    pub open: bool,
    /// True if it is printed on paper.
    pub on_paper: bool,
    /// The folded blocks.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A heading that no link leads to, above one block.
    pub fn plain(title: &str, topic: &'static str, content: impl Into<Content>) -> Self {
        Self { title: title.to_owned(), blocks: Blocks::one(topic, content).0, ..Self::default() }
    }

    /// A heading with an anchor, above what `fill` adds.
    pub fn new(anchor: &str, title: &str, fill: impl FnOnce(&mut Blocks)) -> Self {
        let mut blocks = Blocks::default();
        fill(&mut blocks);
        let [anchor, title] = [anchor, title].map(str::to_owned);
        Self { anchor, title, blocks: blocks.0, ..Self::default() }
    }
}

impl Details {
    /// The blocks that `fill` adds, folded on a screen and left out on paper.
    pub fn new(summary: &str, fill: impl FnOnce(&mut Blocks)) -> Self {
        let mut blocks = Blocks::default();
        fill(&mut blocks);
        Self { summary: summary.to_owned(), blocks: blocks.0, ..Self::default() }
    }

    /// Prints the part on paper.
    pub fn on_paper(self) -> Self {
        Self { on_paper: true, ..self }
    }
}

/// A chart or another picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Drawing {
    /// Values on two axes.
    Plot(Chart),
    /// Values side by side.
    Bars(BarChart),
    /// A value over time: in text a line of signs.
    OverTime(Timeline),
    /// Round-trip times between CPUs.
    Map(HeatMap),
    /// The causes that took time: in a terminal a line of signs for each.
    Noise(NoiseChart),
    /// The same noise chart in a small size.
    NoiseInBrief(NoiseChart),
}

/// Charts and other pictures.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Drawings {
    /// The pictures.
    pub all: Vec<Drawing>,
    /// True if each picture takes the width of the page.
    pub wide: bool,
    /// The meaning of the signs; empty where each picture explains its own.
    pub key: String,
}

impl Drawings {
    /// Pictures next to each other.
    pub fn new<T>(draw: fn(T) -> Drawing, all: impl IntoIterator<Item = T>) -> Self {
        Self { all: all.into_iter().map(draw).collect(), ..Self::default() }
    }

    /// Gives each picture the width of the page.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Adds an explanation of the signs, after that of intervals and verdicts.
    pub fn explained(self, more: &[&str]) -> Self {
        let whiskers =
            self.all.iter().any(Drawing::has_interval).then_some("Whiskers: 95 % interval.");
        let marks = match self.all.iter().any(Drawing::is_coarse) {
            true => COARSE_MARKS,
            false => MARKS,
        };
        let all = whiskers.into_iter().chain(more.iter().copied()).chain([marks]);
        let key = if self.all.is_empty() { String::new() } else { super::joined(all, " ") };
        Self { key, ..self }
    }
}

/// The signs of verdicts, and those with the sign of a wide interval or of none.
const MARKS: &str = "! suspect, ✗ invalid.";
const COARSE_MARKS: &str = "~ coarse or no interval, ! suspect, ✗ invalid.";

impl Drawing {
    /// Returns true if a mark has the sign of a wide interval or of none.
    fn is_coarse(&self) -> bool {
        let coarse = |m: &Mark| matches!(m.verdict, Verdict::Coarse | Verdict::NoInterval);
        match self {
            Self::Plot(chart) => {
                chart.series.iter().flat_map(|s| &s.spots).any(|s| coarse(&s.mark))
            }
            Self::Bars(chart) => chart.groups.iter().flat_map(|g| &g.bars).any(|b| coarse(&b.mark)),
            _ => false,
        }
    }

    fn has_interval(&self) -> bool {
        match self {
            Self::Plot(chart) => {
                chart.series.iter().flat_map(|s| &s.spots).any(|s| s.mark.interval.is_some())
            }
            Self::Bars(chart) => {
                chart.groups.iter().flat_map(|g| &g.bars).any(|b| b.mark.interval.is_some())
            }
            _ => false,
        }
    }

    fn is_shown(&self, medium: Medium) -> bool {
        match self {
            Self::OverTime(_) => true,
            Self::Noise(_) => medium != Medium::Markdown,
            _ => medium == Medium::Page,
        }
    }
}

/// The main results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// The results, one part per subsystem.
    pub parts: Vec<ScreenPart>,
    /// Small pictures that belong to the results.
    pub pictures: Vec<Picture>,
    /// The scale of all lines of rounds: its ends are this share above and below each median.
    pub spread: f64,
}

/// Findings of the checks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// One group per cause, worst first.
    pub groups: Vec<FindingGroup>,
    /// The number of further findings.
    pub more: usize,
    /// The place where the further findings are listed, for a terminal.
    pub elsewhere: String,
    /// True if each finding is shown with its evidence.
    pub in_full: bool,
}

impl Content {
    /// Returns true if a format shows any of the content.
    pub fn is_shown(&self, medium: Medium) -> bool {
        let any = |blocks: &[Block]| blocks.iter().any(|b| b.is_shown(medium));
        match self {
            Self::Section(s) => any(&s.blocks),
            Self::Details(d) => any(&d.blocks),
            Self::Grid(blocks) => any(blocks),
            Self::Text(text) => !text.paragraphs.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Table(table) => !table.rows.is_empty(),
            Self::Facts(table) => !table.facts.is_empty(),
            Self::Drawings(d) => d.all.iter().any(|one| one.is_shown(medium)),
            Self::Results(r) => !r.parts.is_empty(),
            Self::Findings(f) => !f.groups.is_empty(),
        }
    }

    fn children(&self) -> &[Block] {
        match self {
            Self::Section(Section { blocks, .. })
            | Self::Details(Details { blocks, .. })
            | Self::Grid(blocks) => blocks,
            _ => &[],
        }
    }
}

impl Block {
    /// Returns true if a format shows the block.
    pub fn is_shown(&self, medium: Medium) -> bool {
        self.audience.includes(medium) && self.content.is_shown(medium)
    }

    /// The table, if the block is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.content {
            Content::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The blocks within the block.
    pub fn children(&self) -> &[Block] {
        self.content.children()
    }

    /// The block and all blocks within it that a format shows.
    pub fn shown(&self, medium: Medium) -> Vec<&Self> {
        if !self.is_shown(medium) {
            return Vec::new();
        }
        let below = self.children().iter().flat_map(|b| b.shown(medium));
        std::iter::once(self).chain(below).collect()
    }
}

/// Selects the blocks that a format shows.
pub fn shown(blocks: &[Block], medium: Medium) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(move |b| b.is_shown(medium))
}
