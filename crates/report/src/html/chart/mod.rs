//! Charts as SVG that scales with the page and follows its colours.
//!
//! Every series has its own colour and shape, and every verdict other than valid a sign, so no
//! meaning depends on colour. The first colours are those of Okabe and Ito ("Color Universal
//! Design", 2008). The others keep any two apart for readers without one of the three cones. They
//! were chosen by the matrices of Machado, Oliveira and Fernandes (2009).

mod bars;
mod canvas;
mod columns;
mod heat_map;
mod noise;
mod plot;

use proofmark_model::Verdict;
use serde::Serialize;

use self::bars::bars;
use self::canvas::Canvas;
pub use self::columns::{columns, strip};
use self::heat_map::heat_map;
use self::noise::{Layout, noise};
use self::plot::figure;
use crate::view::Drawing;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// The complete `svg` element.
    pub svg: String,
    /// Width and height of its view box.
    #[serde(skip)]
    pub size: [f64; 2],
    /// The title, for the caption.
    pub title: String,
    /// The legend; empty where the chart names its own parts.
    pub legend: Vec<Key>,
    /// The meaning of the signs; empty where the page explains those of all charts.
    pub key: String,
    /// The note on what is left out and why; empty if nothing is.
    pub left_out: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Key {
    /// The sign as an `svg` element.
    pub sign: String,
    pub name: String,
}

impl Figure {
    /// Makes an `svg` element with title and description for assistive technology. `draw` draws its
    /// content and returns the height.
    fn new(
        [id, title, description]: [&str; 3],
        width: f64,
        draw: impl FnOnce(&Canvas) -> f64,
    ) -> Self {
        let mut height = 0.0;
        let inside = Canvas::draw(|canvas| height = draw(canvas));
        let svg = format!(
            "<svg viewBox=\"0 0 {width} {}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\"><title id=\"{id}-t\">{}</title>\
             <desc id=\"{id}-d\">{}</desc>{inside}</svg>",
            height as u32,
            escape(title),
            escape(description)
        );
        let size = [width, f64::from(height as u32)];
        Self { svg, size, title: title.to_owned(), ..Self::default() }
    }
}

/// Draws a picture with that id.
pub fn of_drawing(drawing: &Drawing, id: &str) -> Figure {
    match drawing {
        Drawing::Plot(plot) => figure(plot, id),
        Drawing::OverTime(timeline) => figure(&timeline.chart, id),
        Drawing::Bars(chart) => bars(chart, id),
        Drawing::Map(map) => heat_map(map, id),
        Drawing::Noise(chart) => noise(chart, id, Layout::FULL),
        Drawing::NoiseInBrief(chart) => noise(chart, id, Layout::BRIEF),
    }
}

/// A line of a legend; `draw` draws the sign on 26 x 14.
fn key(name: &str, draw: impl FnOnce(&Canvas)) -> Key {
    let sign = format!(
        "<svg class=\"key-sign\" viewBox=\"0 0 26 14\" width=\"26\" height=\"14\" \
         aria-hidden=\"true\">{}</svg>",
        Canvas::draw(draw)
    );
    Key { sign, name: name.to_owned() }
}

/// Text with the characters escaped that HTML treats specially.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The sign of a verdict other than valid; empty where there is none.
fn doubt(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid | Verdict::NotRun => "",
        Verdict::Coarse | Verdict::NoInterval => "~",
        Verdict::Suspect => "!",
        Verdict::Invalid => "✗",
    }
}

/// A text cut to a number of characters.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}
