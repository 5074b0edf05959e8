//! The section that explains the columns of the tables.

use crate::view::audience::{Audience, Medium};
use crate::view::block::{Details, Item, Section};
use crate::view::table::Term;
use crate::view::{Block, Content, result_tables};

/// The section that explains the columns of the tables, for each format those that it shows.
pub fn explained(blocks: &[Block]) -> Section {
    let [terminal, markdown, page] =
        [Medium::Terminal, Medium::Markdown, Medium::Page].map(|medium| terms(blocks, medium));
    let only_page = page.into_iter().filter(|t| !markdown.contains(t)).collect::<Vec<Term>>();
    let items = |terms: Vec<Term>| terms.into_iter().map(Item::from).collect::<Vec<Item>>();
    Section::new("columns", "Columns", |out| {
        let all = Details::new("What the columns mean", |of| {
            of.add_for(Audience::Terminal, "terms", items(terminal));
            of.add_for(Audience::Document, "terms", items(markdown));
            of.add_for(Audience::Page, "terms", items(only_page));
        });
        out.add("terms", all.on_paper());
    })
}

/// The terms of the tables that a format shows, each once.
fn terms(blocks: &[Block], medium: Medium) -> Vec<Term> {
    let tables = |block: &Block| match &block.content {
        Content::Table(table) => vec![table.clone()],
        // The page shows the main results as cards.
        Content::Results(results) if medium != Medium::Page => result_tables(&results.parts),
        _ => Vec::new(),
    };
    let tables = blocks.iter().flat_map(|b| b.shown(medium)).flat_map(tables);
    let mut out: Vec<Term> = Vec::new();
    for term in tables.flat_map(|t| t.columns).filter_map(|c| c.about) {
        if out.iter().all(|known| known.name != term.name) {
            out.push(term);
        }
    }
    out
}
