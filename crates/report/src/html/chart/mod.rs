//! Charts as SVG that scales with the page and follows its colours.
//!
//! Every series has a colour and a shape of its own, and a verdict other than valid
//! a sign, so that no meaning hangs on colour. The colours begin with those of Okabe and
//! Ito ("Color Universal Design", 2008); the others keep any two apart for readers without one
//! of the three cones, by the matrices of Machado, Oliveira and Fernandes (2009).

mod bars;
mod canvas;
mod columns;
mod heat_map;
mod noise;
mod plot;

use proofmark_model::Verdict;
use serde::Serialize;

use self::canvas::Canvas;
pub use self::columns::strip;
pub use self::noise::Layout;
use crate::view::{BarChart, Chart, HeatMap, NoiseChart, Picture};

/// What the gap in a bar is.
const CUT: &str = "A bar with a gap is invalid and extends beyond the axis.";

/// A chart on the page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// The whole `svg` element.
    pub svg: String,
    /// Title, for the caption.
    pub title: String,
    /// Lines' signs and names; empty where the chart names its own parts.
    pub legend: Vec<Key>,
    /// What its signs are; empty where the page says it of all charts.
    pub key: String,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// One line of a legend.
#[derive(Debug, Clone, Serialize)]
pub struct Key {
    /// The sign as an `svg` element.
    pub sign: String,
    /// The line's name.
    pub name: String,
}

/// A chart over two axes.
pub fn figure(chart: &Chart, id: &str) -> Figure {
    let names = [id, &chart.title, &chart.description];
    let (legend, key) = (plot::legend(chart), chart.key.clone());
    let left_out = chart.left_out.clone();
    Figure { legend, key, left_out, ..Figure::new(&plot::draw(chart), plot::size(chart), names) }
}

/// Bars against their ceilings.
pub fn bars(chart: &BarChart, id: &str) -> Figure {
    let names = [id, &chart.title, &chart.description];
    let key = if bars::cut(chart) { CUT.to_owned() } else { String::new() };
    let left_out = chart.left_out.clone();
    Figure { key, left_out, ..Figure::new(&bars::draw(chart), bars::size(chart), names) }
}

/// Round trips between CPUs.
pub fn heat_map(chart: &HeatMap, id: &str) -> Figure {
    let names = [id, &chart.title, &chart.description];
    let figure = Figure::new(&heat_map::draw(chart), heat_map::size(chart), names);
    Figure { key: "Frames: SMT siblings.".to_owned(), ..figure }
}

/// Columns, for the first screen.
pub fn columns(chart: &Picture, id: &str) -> Figure {
    let names = [id, &chart.title, &chart.description];
    Figure::new(&columns::draw(chart), columns::SIZE, names)
}

/// A run's noise over time.
pub fn noise(chart: &NoiseChart, id: &str, layout: Layout) -> Figure {
    let names = [id, &chart.title, &chart.description];
    Figure::new(&noise::draw(chart, layout), noise::size(chart, layout), names)
}

impl Figure {
    /// What was drawn, in an `svg` element that is named and described for those who do not see it.
    fn new(inside: &str, (width, height): (u32, u32), [id, title, description]: [&str; 3]) -> Self {
        let svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\"><title id=\"{id}-t\">{}</title>\
             <desc id=\"{id}-d\">{}</desc>{inside}</svg>",
            escape(title),
            escape(description)
        );
        Self { svg, title: title.to_owned(), ..Self::default() }
    }
}

/// A line of a legend, whose sign is drawn on 26 x 14.
fn key(name: &str, draw: impl FnOnce(&Canvas)) -> Key {
    let sign = format!(
        "<svg class=\"key-sign\" viewBox=\"0 0 26 14\" width=\"26\" height=\"14\" aria-hidden=\"true\">{}</svg>",
        Canvas::draw(draw)
    );
    Key { sign, name: name.to_owned() }
}

/// Text inside an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The sign of a value that is not valid.
fn doubt(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "",
        Verdict::Suspect => "!",
        Verdict::Invalid => "✗",
    }
}

/// A name that fits above a bar.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}
