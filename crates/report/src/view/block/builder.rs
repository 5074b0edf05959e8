//! Builds lists of blocks.

use super::{Block, Content, Details, Drawings, Findings, Item, Results, Section, Style, Text};
use crate::view::audience::{Audience, Medium};
use crate::view::facts::FactTable;
use crate::view::table::Table;

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

    /// Adds a block for all formats.
    pub fn add(&mut self, topic: &'static str, content: impl Into<Content>) {
        self.add_for(Audience::Everyone, topic, content);
    }

    /// Adds a block for some formats.
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

    /// Adds tables, each as a block.
    pub fn add_tables(
        &mut self,
        audience: Audience,
        topic: &'static str,
        tables: impl IntoIterator<Item = Table>,
    ) {
        tables.into_iter().for_each(|table| self.add_for(audience, topic, table));
    }
}

/// Content of each kind from what it holds.
macro_rules! content {
    ($($kind:ident($part:ty)),+) => {
        $(impl From<$part> for Content {
            fn from(part: $part) -> Self {
                Self::$kind(part)
            }
        })+
    };
}

content!(
    Section(Section),
    Details(Details),
    Text(Text),
    List(Vec<Item>),
    Table(Table),
    Facts(FactTable),
    Drawings(Drawings),
    Results(Results),
    Findings(Findings)
);

impl From<Blocks> for Content {
    fn from(blocks: Blocks) -> Self {
        Self::Grid(blocks.0)
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
