//! Blocks as HTML. Each kind of block has a template, which gets the blocks within it already laid
//! out.

use std::cell::Cell;

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::chart::{self, Figure, escape};
use super::results::{pictures, strips};
use crate::RenderError;
use crate::view::{
    Block, Content, Drawing, Drawings, Item, Medium, Results, Rich, Section, Tone, shown,
};

/// The level of a section's heading at the top of a page.
const TOP: usize = 2;

/// Lays out the blocks of one page.
pub struct Layout<'e> {
    env: &'e Environment<'static>,
    /// Number of charts so far: each has its own ids.
    charts: Cell<usize>,
}

impl<'e> Layout<'e> {
    /// A layout that uses these templates.
    pub fn new(env: &'e Environment<'static>) -> Self {
        Self { env, charts: Cell::new(0) }
    }

    /// Blocks at the top of the page.
    pub fn top(&self, blocks: &[Block]) -> Result<String, RenderError> {
        self.blocks(blocks, TOP)
    }

    /// Blocks whose headings start at that level.
    fn blocks(&self, blocks: &[Block], level: usize) -> Result<String, RenderError> {
        shown(blocks, Medium::Page).map(|block| self.block(&block.content, level)).collect()
    }

    fn block(&self, content: &Content, level: usize) -> Result<String, RenderError> {
        match content {
            Content::Section(section) => self.section(section, level),
            Content::Details(details) => {
                let inner = self.inner(&details.blocks, level)?;
                self.lay_out("details", context! { inner, ..Serde(details) })
            }
            Content::Grid(blocks) => {
                let cells = shown(blocks, Medium::Page)
                    .map(|block| Ok(safe(self.block(&block.content, level)?)))
                    .collect::<Result<Vec<Value>, RenderError>>()?;
                self.lay_out("grid", context! { cells })
            }
            Content::Text(text) => {
                let paragraphs: Vec<Value> = text.paragraphs.iter().map(rich).collect();
                self.lay_out("text", context! { paragraphs, style => Serde(text.style) })
            }
            Content::List(items) => self.lay_out(
                "list",
                context! { items => items.iter().map(item).collect::<Vec<Value>>() },
            ),
            Content::Table(table) => {
                let table = table.seen_by(Medium::Page);
                self.lay_out("table", context! { table => Serde(table) })
            }
            Content::Facts(table) => self.lay_out("facts", context! { table => Serde(table) }),
            Content::Drawings(drawings) => self.drawings(drawings),
            Content::Results(results) => self.results(results),
            Content::Findings(all) => self.lay_out("findings", context! { ..Serde(all) }),
        }
    }

    fn inner(&self, blocks: &[Block], level: usize) -> Result<Value, RenderError> {
        self.blocks(blocks, level).map(safe)
    }

    fn section(&self, section: &Section, level: usize) -> Result<String, RenderError> {
        let inner = self.inner(&section.blocks, level + 1)?;
        let figure = section.figure.as_ref();
        let value = figure.map(|f| f.value_with_unit());
        self.lay_out("section", context! { inner, level, value, ..Serde(section) })
    }

    fn drawings(&self, drawings: &Drawings) -> Result<String, RenderError> {
        let figures: Vec<Figure> = drawings.all.iter().map(|d| self.draw(d)).collect();
        let context = context! {
            figures => Serde(figures),
            wide => drawings.wide,
            brief => drawings.all.iter().any(|d| matches!(d, Drawing::NoiseInBrief(_))),
            key => &drawings.key,
        };
        self.lay_out("drawings", context)
    }

    /// The id of the next chart.
    fn next_id(&self) -> String {
        let number = self.charts.get();
        self.charts.set(number + 1);
        format!("chart-{number}")
    }

    fn draw(&self, drawing: &Drawing) -> Figure {
        chart::of_drawing(drawing, &self.next_id())
    }

    fn results(&self, results: &Results) -> Result<String, RenderError> {
        let pictures = pictures(results, |picture| chart::columns(picture, &self.next_id()));
        let context = context! {
            parts => Serde(&results.parts),
            strips => Serde(strips(results)),
            pictures => Serde(pictures),
        };
        self.lay_out("results", context)
    }

    fn lay_out(&self, kind: &str, context: Value) -> Result<String, RenderError> {
        Ok(self.env.get_template(&format!("{kind}.html"))?.render(context)?)
    }
}

fn safe(html: String) -> Value {
    Value::from_safe_string(html)
}

/// A text with an element for each tone.
fn rich(text: &Rich) -> Value {
    let piece = |(tone, text): &(Tone, String)| {
        let text = escape(text);
        match tone {
            Tone::Plain => text,
            Tone::Strong => format!("<strong>{text}</strong>"),
            Tone::Quiet => format!("<span class=\"why\">{text}</span>"),
            Tone::Code => format!("<code>{text}</code>"),
            Tone::Verdict(v) => format!("<span class=\"badge {v}\">{text}</span>"),
        }
    };
    safe(text.0.iter().map(piece).collect())
}

fn item(item: &Item) -> Value {
    let texts: Vec<Value> = item.texts.iter().map(rich).collect();
    context! { term => item.term.as_str(), texts }
}

/// A section in a list of contents.
#[derive(Debug, Serialize)]
pub struct Entry {
    anchor: String,
    title: String,
    below: Vec<Entry>,
}

/// Sections that have an anchor, for a list of contents.
pub fn contents(blocks: &[Block]) -> Vec<Entry> {
    let entry = |block: &Block| match &block.content {
        Content::Section(s) if !s.anchor.is_empty() => Some(Entry {
            anchor: s.anchor.clone(),
            title: if s.short.is_empty() { s.title.clone() } else { s.short.clone() },
            below: contents(&s.blocks),
        }),
        _ => None,
    };
    shown(blocks, Medium::Page).filter_map(entry).collect()
}
