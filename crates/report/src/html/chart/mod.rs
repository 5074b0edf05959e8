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

pub use self::bars::bars;
use self::canvas::Canvas;
pub use self::columns::{columns, strip};
pub use self::heat_map::heat_map;
pub use self::noise::{Layout, noise};
pub use self::plot::figure;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// The whole `svg` element.
    pub svg: String,
    /// For the caption.
    pub title: String,
    /// Empty where the chart names its own parts.
    pub legend: Vec<Key>,
    /// What its signs are; empty where the page says it of all charts.
    pub key: String,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Key {
    /// The sign as an `svg` element.
    pub sign: String,
    pub name: String,
}

impl Figure {
    /// What `draw` draws and how high it is, in an `svg` element that is named and described for those
    /// who do not see it.
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

/// Text that HTML shows as it is.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The sign of a value that is not valid.
fn doubt(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid | Verdict::NotRun => "",
        Verdict::Coarse | Verdict::NoInterval => "~",
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
