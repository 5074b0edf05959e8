//! What every report is made of: an ordered list of blocks.
//!
//! The view decides what is said, in which order, and who sees it. Terminal, Markdown and page lay out
//! blocks, and know nothing of what they are about.

use proofmark_model::Verdict;
use serde::{Serialize, Serializer};

use super::audience::{Audience, Medium};
use super::chart::{BarChart, Chart};
use super::facts::FactTable;
use super::findings::FindingGroup;
use super::heat_map::HeatMap;
use super::main_results::ScreenPart;
use super::noise::NoiseChart;
use super::pictures::Picture;
use super::table::{Table, Term};
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

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Style {
    /// Like most of a report.
    #[default]
    Plain,
    /// Of less weight.
    Quiet,
    /// What a reader must not miss.
    Warning,
    /// The answer, with the id of the verdict whose colour repeats it.
    Verdict(&'static str),
}

/// Paragraphs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Text {
    /// What kind of text it is.
    pub style: Style,
    /// Each on a line of its own.
    pub paragraphs: Vec<Rich>,
}

impl Text {
    /// Paragraphs of that kind; empty ones are left out.
    pub fn new(style: Style, paragraphs: impl IntoIterator<Item = impl Into<Rich>>) -> Self {
        let all = paragraphs.into_iter().map(Into::into);
        Self { style, paragraphs: all.filter(|p: &Rich| !p.0.is_empty()).collect() }
    }
}

/// How a piece of text differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Like most of a report.
    Plain,
    /// Of more weight.
    Strong,
    /// Of less weight.
    Quiet,
    /// An id, a formula, a command line.
    Code,
    /// In the colour of that verdict, which a word or a sign repeats.
    Verdict(Verdict),
}

/// A text whose pieces differ in tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rich(pub Vec<(Tone, String)>);

impl Rich {
    /// Text of that tone.
    pub fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self::default().and(tone, text)
    }

    /// Adds a piece; none of an empty text.
    pub fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        self.0.extend((!text.is_empty()).then_some((tone, text)));
        self
    }

    /// The text alone.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl From<String> for Rich {
    fn from(text: String) -> Self {
        Self::toned(Tone::Plain, text)
    }
}

impl From<&str> for Rich {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Rich {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

/// As the text alone: tones say nothing that it does not.
impl Serialize for Rich {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.plain())
    }
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// What it is about; empty where the list has no terms.
    pub term: String,
    /// What is said.
    pub says: Vec<Rich>,
}

impl From<Rich> for Item {
    fn from(text: Rich) -> Self {
        Self { term: String::new(), says: vec![text] }
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Rich::from(text).into()
    }
}

impl From<Term> for Item {
    fn from(term: Term) -> Self {
        Self { term: term.name, says: vec![term.meaning.into()] }
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

/// Blocks in order; those without content are left out.
#[derive(Debug, Default)]
pub struct Blocks(pub Vec<Block>);

impl Blocks {
    /// One block, if it has content.
    pub fn one(topic: &'static str, content: impl Into<Content>) -> Self {
        let mut blocks = Self::default();
        blocks.add(topic, content);
        blocks
    }

    /// Adds a block for everyone.
    pub fn add(&mut self, topic: &'static str, content: impl Into<Content>) {
        self.add_for(Audience::Everyone, topic, content);
    }

    /// Adds a block for some.
    pub fn add_for(
        &mut self,
        audience: Audience,
        topic: &'static str,
        content: impl Into<Content>,
    ) {
        let content = content.into();
        if [Medium::Terminal, Medium::Page].iter().any(|m| content.is_shown(*m)) {
            self.0.push(Block { topic, audience, content });
        }
    }

    /// Adds tables, each a block.
    pub fn add_tables(
        &mut self,
        audience: Audience,
        topic: &'static str,
        tables: impl IntoIterator<Item = Table>,
    ) {
        tables.into_iter().for_each(|table| self.add_for(audience, topic, table));
    }
}

impl From<Section> for Content {
    fn from(section: Section) -> Self {
        Self::Section(section)
    }
}

impl From<Details> for Content {
    fn from(details: Details) -> Self {
        Self::Details(details)
    }
}

impl From<Blocks> for Content {
    fn from(blocks: Blocks) -> Self {
        Self::Grid(blocks.0)
    }
}

impl From<Text> for Content {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

/// One plain paragraph.
impl From<String> for Content {
    fn from(text: String) -> Self {
        Text::new(Style::Plain, [text]).into()
    }
}

/// Plain paragraphs.
impl From<Vec<String>> for Content {
    fn from(texts: Vec<String>) -> Self {
        Text::new(Style::Plain, texts).into()
    }
}

impl From<Vec<Item>> for Content {
    fn from(items: Vec<Item>) -> Self {
        Self::List(items)
    }
}

impl From<Table> for Content {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<FactTable> for Content {
    fn from(table: FactTable) -> Self {
        Self::Facts(table)
    }
}

impl From<Drawings> for Content {
    fn from(drawings: Drawings) -> Self {
        Self::Drawings(drawings)
    }
}

impl From<Results> for Content {
    fn from(results: Results) -> Self {
        Self::Results(results)
    }
}

impl From<Findings> for Content {
    fn from(findings: Findings) -> Self {
        Self::Findings(findings)
    }
}
