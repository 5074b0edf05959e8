//! What every report is made of: an ordered list of blocks.
//!
//! The view decides what is said, in which order, and who sees it. Terminal, Markdown and page lay out
//! blocks, and know nothing of what they are about.

mod builder;
mod text;

use serde::Serialize;

pub use self::builder::Blocks;
pub use self::text::{Item, Rich, Style, Text, Tone};
use super::audience::{Audience, Medium};
use super::chart::{BarChart, Chart};
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
    /// What it is about, in a word: names it in tests and snapshots.
    pub topic: &'static str,
    /// The formats that show it.
    pub audience: Audience,
    /// What it shows.
    pub content: Content,
}

/// What a block shows.
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
    /// What the checks found.
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
    /// Whether the heading is for assistive technology only.
    pub unseen: bool,
    /// What is below the heading.
    pub blocks: Vec<Block>,
}

/// A part that the page folds; other formats show what is in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Details {
    /// The line that stays.
    pub summary: String,
    /// An id that belongs to it; empty for none.
    pub code: String,
    /// Whether it is open at first.
    pub open: bool,
    /// Whether paper shows it.
    pub on_paper: bool,
    /// What is folded.
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
    /// What `fill` adds, folded on a screen and left out on paper.
    pub fn new(summary: &str, fill: impl FnOnce(&mut Blocks)) -> Self {
        let mut blocks = Blocks::default();
        fill(&mut blocks);
        Self { summary: summary.to_owned(), blocks: blocks.0, ..Self::default() }
    }

    /// Shows it on paper.
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
    /// How far CPUs are from each other.
    Map(HeatMap),
    /// What took time: in a terminal a line of signs for each cause.
    Noise(NoiseChart),
    /// The same, small.
    NoiseInBrief(NoiseChart),
}

/// Charts and other pictures.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Drawings {
    /// The pictures.
    pub all: Vec<Drawing>,
    /// Whether each takes the width of the page.
    pub wide: bool,
    /// What their signs mean; empty where each says it itself.
    pub key: String,
}

impl Drawings {
    /// Pictures next to each other.
    pub fn new<T>(draw: fn(T) -> Drawing, all: impl IntoIterator<Item = T>) -> Self {
        Self { all: all.into_iter().map(draw).collect(), ..Self::default() }
    }

    /// Gives each the width of the page.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Explains the signs, after what every chart with an interval or a verdict has.
    pub fn explained(self, more: &[&str]) -> Self {
        let whiskers =
            self.all.iter().any(Drawing::has_interval).then_some("Whiskers: 95 % interval.");
        let all = whiskers.into_iter().chain(more.iter().copied()).chain(["! suspect, ✗ invalid."]);
        let key = if self.all.is_empty() { String::new() } else { super::joined(all, " ") };
        Self { key, ..self }
    }
}

impl Drawing {
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
    /// The results, a subsystem each.
    pub parts: Vec<ScreenPart>,
    /// Small pictures that belong to them.
    pub pictures: Vec<Picture>,
}

/// What the checks found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// One a cause, worst first.
    pub groups: Vec<FindingGroup>,
    /// How many others there are.
    pub more: usize,
    /// Where a terminal finds these.
    pub elsewhere: &'static str,
    /// Whether each is shown with its evidence.
    pub in_full: bool,
}

impl Content {
    /// Whether a format has anything to show of it.
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
    /// Whether a format shows it.
    pub fn is_shown(&self, medium: Medium) -> bool {
        self.audience.includes(medium) && self.content.is_shown(medium)
    }

    /// The table that it shows, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.content {
            Content::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The blocks in it.
    pub fn children(&self) -> &[Block] {
        self.content.children()
    }

    /// It and all blocks in it that a format shows.
    pub fn shown(&self, medium: Medium) -> Vec<&Self> {
        if !self.is_shown(medium) {
            return Vec::new();
        }
        let below = self.children().iter().flat_map(|b| b.shown(medium));
        std::iter::once(self).chain(below).collect()
    }
}

/// The blocks of these that a format shows.
pub fn shown(blocks: &[Block], medium: Medium) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(move |b| b.is_shown(medium))
}
