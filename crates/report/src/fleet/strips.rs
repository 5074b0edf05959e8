//! A node's rounds at a figure against its group and the margin, as a small drawing.

use proofmark_model::{FleetNode, NodeState, StripOutcome, Verdict};
use serde::Serialize;

use super::figures::scale;
use super::lookup::{Fleet, Seen};
use super::words::{finite, speed};
use crate::view::{clean, joined, percent};

/// Strips that a page has.
const MOST: usize = 64;
/// Of a node where there are many.
const EACH: usize = 4;
/// Size of a drawing in its own units, and the room at each side of a dot.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 64.0;
const EDGE: f64 = 7.0;
/// Places between the two passes, and the widest that a place is.
const GAP: usize = 2;
const STEP: f64 = 18.0;
/// The scale shows at least so much on both sides of 1.
const LEAST: f64 = 0.02;

/// The strips of all nodes that are slow, or slow and not confirmed, and how many more there are.
#[derive(Debug, Serialize)]
pub struct Strips {
    pub all: Vec<Strip>,
    pub more: usize,
}

#[derive(Debug, Serialize)]
pub struct Strip {
    node: String,
    figure: String,
    ratio: String,
    outcome: &'static str,
    color: Verdict,
    /// `8 of 8 rounds below the margin of 3.0 %; 36.2 GB/s, the group's median is 41.2 GB/s`
    about: String,
    drawing: Drawing,
}

/// Places from the left and from the top as text.
#[derive(Debug, Serialize)]
struct Drawing {
    label: String,
    dots: Vec<Dot>,
    /// Rounds without a ratio.
    missing: Vec<String>,
    /// Where the ratio is 1.
    one: String,
    /// Between both margins.
    band: Option<[String; 2]>,
    /// Where the second pass begins; empty without one.
    again: String,
}

#[derive(Debug, Serialize)]
struct Dot {
    x: String,
    y: String,
    below: bool,
}

/// Confirmed ones first, worst nodes first; of many nodes the worst figures of each.
pub fn strips(fleet: &Fleet) -> Strips {
    let nodes = || fleet.report.nodes.iter().filter(|n| !n.figures.is_empty());
    let each = (MOST / nodes().count().max(1)).max(EACH);
    let of = |confirmed: bool| {
        nodes().flat_map(move |n| {
            let seen = n.figures.iter().filter(move |f| f.confirmed == confirmed);
            seen.take(each).filter_map(move |f| Some((n, fleet.strip(n, f.figure)?)))
        })
    };
    let all = of(true).chain(of(false)).take(MOST);
    let all: Vec<Strip> = all.map(|(node, seen)| Strip::new(node, &seen)).collect();
    let count: usize = nodes().map(|n| n.figures.len()).sum();
    Strips { more: count - all.len(), all }
}

impl Strip {
    fn new(node: &FleetNode, seen: &Seen) -> Self {
        let Seen { figure, title, strip } = *seen;
        let label = |value: Option<f64>| value.and_then(|v| scale(figure).with_label(v));
        let margin = figure.margin.and_then(percent).map(|m| format!(" of {m} %"));
        let below = format!("{} of {} rounds below the margin", strip.below, strip.usable);
        let slow = strip.outcome == StripOutcome::Slow && node.state == NodeState::Slow;
        let value = label(strip.value).zip(label(figure.median));
        let value = value.map(|(own, all)| format!("; {own}, group {all}"));
        Self {
            node: clean(&node.name),
            figure: title.to_owned(),
            ratio: finite(strip.ratio).map_or_else(|| "-".to_owned(), speed),
            outcome: strip.outcome.as_str(),
            color: if slow { Verdict::Invalid } else { Verdict::Suspect },
            about: below + &margin.unwrap_or_default() + &value.unwrap_or_default(),
            drawing: Drawing::new(&strip.ratios, &strip.again, figure.margin),
        }
    }
}

impl Drawing {
    fn new(first: &[Option<f32>], again: &[Option<f32>], margin: Option<f64>) -> Self {
        let gap = if again.is_empty() { 0 } else { GAP };
        let places = first.len() + gap + again.len();
        let step = ((WIDTH - 2.0 * EDGE) / places.max(1) as f64).min(STEP);
        let x = |at: usize| EDGE + (at as f64 + 0.5) * step;
        let margin = margin.filter(|m| (0.0..1.0).contains(m));
        let ratios = first.iter().chain(again).filter_map(|r| finite(*r));
        let reach = ratios.map(|r| (r - 1.0).abs()).chain(margin).fold(LEAST, f64::max).min(1.0);
        let y = |r: f64| {
            let share = ((1.0 - r) / reach).clamp(-1.0, 1.0);
            HEIGHT / 2.0 + share * (HEIGHT / 2.0 - EDGE)
        };
        let text = |v: f64| format!("{v:.1}");
        let after = again.iter().enumerate().map(|(i, r)| (first.len() + gap + i, *r));
        let mut drawing = Self {
            label: label(first, again),
            dots: Vec::new(),
            missing: Vec::new(),
            one: text(y(1.0)),
            band: margin.map(|m| [text(y(1.0 + m)), text(y(1.0 - m) - y(1.0 + m))]),
            again: if gap > 0 {
                text(EDGE + (first.len() as f64 + 1.0) * step)
            } else {
                String::new()
            },
        };
        for (at, ratio) in first.iter().copied().enumerate().chain(after) {
            match finite(ratio) {
                Some(r) => {
                    let below = margin.is_some_and(|m| r < 1.0 - m);
                    drawing.dots.push(Dot { x: text(x(at)), y: text(y(r)), below });
                }
                None => drawing.missing.push(text(x(at))),
            }
        }
        drawing
    }
}

/// `rounds 0.921, 0.918, no result; second pass 0.920`
fn label(first: &[Option<f32>], again: &[Option<f32>]) -> String {
    let word = |r: &Option<f32>| finite(*r).map_or_else(|| "no result".to_owned(), speed);
    let list = |all: &[Option<f32>]| joined(all.iter().map(word), ", ");
    let again =
        if again.is_empty() { String::new() } else { format!("; second pass {}", list(again)) };
    format!("rounds {}{again}", list(first))
}
