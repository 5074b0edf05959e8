//! Each chart of a run's page as a picture of its own: an SVG file with its title, legend and notes
//! inside, for a report or a blog.
//!
//! A page's style sheet gives the colours of its charts by variables. Many programs that draw SVG
//! know no variables, so a file has a style sheet with the colours of the light scheme.

use std::collections::BTreeSet;

use proofmark_model::Run;

use crate::html::chart::{self, Figure, escape};
use crate::view::{Block, Content, Drawing, Medium, View, joined, plain_spaces};

/// One chart as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartFile {
    /// Name of the file: `03-memory-latency-by-working-set.svg`.
    pub name: String,
    /// Title of the chart.
    pub title: String,
    /// The complete SVG document, which ends in a line break.
    pub svg: String,
}

/// Distance of the content from the edge.
const EDGE: f64 = 16.0;
/// Heights of a line of the title, the legend and the notes.
const TITLE: f64 = 22.0;
const LEGEND: f64 = 22.0;
const NOTE: f64 = 18.0;
/// Approximate widths of a letter in these.
const TITLE_LETTER: f64 = 9.8;
const LETTER: f64 = 7.2;
/// Width of a sign of the legend with the gap after it, and the gap between two names.
const SIGN: f64 = 32.0;
const APART: f64 = 20.0;
/// Distance of the chart from the texts.
const GAP: f64 = 8.0;
/// Maximum length of a name without number and ending.
const LONGEST: usize = 80;

/// Returns every chart of a run's page, in its order. The small form of a chart that the page also
/// has in full is left out.
pub fn all(run: &Run) -> Vec<ChartFile> {
    let document = View::from_run(run).document;
    let blocks = document.blocks.iter().flat_map(|block| block.shown(Medium::Page));
    let figures: Vec<Figure> = blocks.flat_map(figures).collect();
    let digits = figures.len().to_string().len().max(2);
    let file = |(at, figure): (usize, &Figure)| ChartFile {
        name: format!("{:0digits$}-{}.svg", at + 1, slug(&figure.title)),
        title: figure.title.clone(),
        svg: document_of(figure),
    };
    let files: Vec<ChartFile> = figures.iter().enumerate().map(file).collect();
    debug_assert_eq!(files.iter().map(|f| &f.name).collect::<BTreeSet<_>>().len(), files.len());
    files
}

/// The charts of one block.
fn figures(block: &Block) -> Vec<Figure> {
    let one = |drawing: &Drawing| match drawing {
        Drawing::NoiseInBrief(_) => None,
        other => Some(chart::of_drawing(other, "chart")),
    };
    match &block.content {
        Content::Drawings(drawings) => {
            // A page explains the signs of neighbouring charts once.
            let with_key = |figure: Figure| Figure {
                key: joined([&*figure.key, &*drawings.key], " "),
                ..figure
            };
            drawings.all.iter().filter_map(one).map(with_key).collect()
        }
        Content::Results(results) => {
            results.pictures.iter().map(|picture| chart::columns(picture, "chart")).collect()
        }
        _ => Vec::new(),
    }
}

/// The title as a part of a file's name: lower-case letters, digits and hyphens.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c),
            // The spaces of a number.
            '\u{202f}' => {}
            _ if out.is_empty() || out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.truncate(LONGEST);
    out.trim_end_matches('-').to_owned()
}

/// The style sheet: signs and texts in the colours of the light scheme, and fonts that every system
/// has one of.
const STYLE: &str = include_str!("html/page/chart-file.css");

/// A figure as a document: its title above, its legend and notes below.
fn document_of(figure: &Figure) -> String {
    let mut sheet = Sheet { width: figure.size[0], y: EDGE, content: String::new() };
    sheet.lines("title", &figure.title, TITLE_LETTER, TITLE);
    sheet.y += GAP;
    sheet.chart(figure);
    sheet.legend(figure);
    for note in [&figure.key, &figure.left_out].into_iter().filter(|note| !note.is_empty()) {
        sheet.lines("note", note, LETTER, NOTE);
    }
    sheet.finish(&figure.title)
}

/// A document that grows downwards.
struct Sheet {
    /// Width of the content.
    width: f64,
    /// Place of the next part, from the top.
    y: f64,
    content: String,
}

impl Sheet {
    /// Adds a text in lines of that height, of letters of that width.
    fn lines(&mut self, class: &str, text: &str, letter: f64, height: f64) {
        let most = (self.width / letter) as usize;
        for line in textwrap::wrap(text, most.max(1)) {
            self.text(class, (0.0, height / 2.0), &line);
            self.y += height;
        }
    }

    /// Adds a line of text at a place, from the left edge and from the next part.
    fn text(&mut self, class: &str, (x, below): (f64, f64), text: &str) {
        let (x, y, text) = (EDGE + x, self.y + below, escape(&plain_spaces(text)));
        self.content += &format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>\n");
    }

    fn chart(&mut self, figure: &Figure) {
        let ([width, height], y) = (figure.size, self.y);
        let at = format!("<svg x=\"{EDGE}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" ");
        self.content += &figure.svg.replacen("<svg ", &at, 1);
        self.y += height + GAP;
    }

    fn legend(&mut self, figure: &Figure) {
        let mut x = 0.0;
        for key in &figure.legend {
            let wide = SIGN + LETTER * key.name.chars().count() as f64;
            if x > 0.0 && x + wide > self.width {
                (x, self.y) = (0.0, self.y + LEGEND);
            }
            let at = format!("<svg x=\"{}\" y=\"{}\" ", EDGE + x, self.y + (LEGEND - 14.0) / 2.0);
            self.content += &key.sign.replacen("<svg ", &at, 1);
            self.text("name", (x + SIGN, LEGEND / 2.0), &key.name);
            x += wide + APART;
        }
        self.y += if figure.legend.is_empty() { 0.0 } else { LEGEND + 4.0 };
    }

    /// The whole file.
    fn finish(self, title: &str) -> String {
        let (whole, y, title) = (self.width + 2.0 * EDGE, self.y + EDGE, escape(title));
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole} {y}\" width=\"{whole}\" \
             height=\"{y}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             <rect width=\"{whole}\" height=\"{y}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            portable(&self.content)
        );
        // XML has no form for these.
        svg.replace(['\u{fffe}', '\u{ffff}'], "")
    }
}

/// Replaces what only browsers draw: the middle of a text by an offset, mixed colours by the result.
fn portable(svg: &str) -> String {
    const MIXED: &str = "style=\"--c:color-mix(in srgb,var(--s0) ";
    let mut parts = svg.split(MIXED);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (percent, rest) = part.split_once('%').unwrap_or(("0", part));
        let rest = rest.split_once('"').map_or(rest, |(_, rest)| rest);
        out += &format!("style=\"fill:{}\"{rest}", mixed(percent.parse().unwrap_or(0.0) / 100.0));
    }
    out.replace("<text ", "<text dy=\"0.35em\" ")
}

/// A mixture of the first series' colour with white.
fn mixed(share: f64) -> String {
    let [r, g, b] = [0x00, 0x72, 0xb2].map(|c| (255.0 - (255.0 - f64::from(c)) * share) as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for (title, name) in [
            ("LINPACK: rate by n (2 CPUs, avx512)", "linpack-rate-by-n-2-cpus-avx512"),
            ("p50 < p99 / n 20\u{202f}000", "p50-p99-n-20000"),
            ("../../etc/passwd\0", "etc-passwd"),
            ("é", ""),
        ] {
            assert_eq!(slug(title), name);
        }
        assert!(slug(&"long ".repeat(100)).len() <= LONGEST);
    }

    #[test]
    fn a_mixed_colour_is_its_result() {
        let svg =
            "<polygon style=\"--c:color-mix(in srgb,var(--s0) 50%,var(--page))\" class=\"\" a/>";
        assert_eq!(portable(svg), "<polygon style=\"fill:#7fb8d8\" class=\"\" a/>");
    }
}
