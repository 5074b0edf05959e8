//! One page with both runs side by side, that needs nothing else: no network, no script to be read,
//! light and dark as the reader has it, for wide and narrow screens and for paper.
//!
//! The templates escape every text; the style sheet and the script are those of a run's page.

use minijinja::value::Serde;
use minijinja::{Value, context};
use proofmark_model::{Comparison, format_factor};
use serde::Serialize;

use super::view::{Line, View};
use crate::RenderError;
use crate::html::page;

const STYLE: &str =
    concat!(include_str!("../html/page/style.css"), include_str!("page/points.css"));
/// Width of a whisker's drawing, in its own units.
const WIDTH: f64 = 180.0;
/// Room left and right of the axis, for values beyond it.
const EDGE: f64 = 8.0;
/// The axis goes from 1 / r to r: least and greatest r.
const LEAST: f64 = 1.25;
const MOST: f64 = 8.0;

/// The page.
///
/// # Errors
/// If the template fails.
pub fn html(comparison: &Comparison) -> Result<String, RenderError> {
    let view = View::from_comparison(comparison);
    let reach = reach(view.differing.iter().chain(&view.alike).chain(&view.undecided));
    let context = context! {
        worst => if view.tally.slower + view.tally.gone > 0 { "invalid" } else { "valid" },
        first => Serde(Row::for_lines(&view.first, reach)),
        differing => Serde(Row::for_lines(&view.differing, reach)),
        alike => Serde(Row::for_lines(&view.alike, reach)),
        undecided => Serde(Row::for_lines(&view.undecided, reach)),
        axis => Serde([format_factor(reach.recip()), format_factor(reach)]),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(include_str!("../html/page/sort.js").to_owned()),
        ..Serde(&view)
    };
    page(&[("page.html", include_str!("page/page.html"))], context)
}

/// How far the axis of all drawings goes: the farthest end of an interval, within bounds.
fn reach<'a>(lines: impl Iterator<Item = &'a Line>) -> f64 {
    let ends = lines
        .filter_map(|l| l.drawn)
        .flat_map(|[_, low, high, margin]| [low.recip(), high, (1.0 - margin).recip()]);
    ends.filter(|r| r.is_finite()).fold(LEAST, f64::max).min(MOST)
}

/// A line with its drawing.
#[derive(Debug, Serialize)]
struct Row<'a> {
    line: &'a Line,
    whisker: Option<Whisker>,
}

impl<'a> Row<'a> {
    fn for_lines(lines: &'a [Line], reach: f64) -> Vec<Self> {
        let whisker = |line: &Line| line.drawn.map(|drawn| Whisker::draw(line, drawn, reach));
        lines.iter().map(|line| Self { line, whisker: whisker(line) }).collect()
    }
}

/// A ratio with its interval against 1 and the margin, on a logarithmic axis: places from the
/// left as text.
#[derive(Debug, Serialize)]
struct Whisker {
    label: String,
    at: String,
    low: String,
    high: String,
    band: String,
    band_width: String,
    /// Whether the point itself lies beyond the axis, and is drawn as an arrow to that side.
    beyond: &'static str,
}

impl Whisker {
    fn draw(line: &Line, [ratio, low, high, margin]: [f64; 4], reach: f64) -> Self {
        let place = |r: f64| {
            let share = (r.ln() / reach.ln()).clamp(-1.0, 1.0);
            if share.is_finite() { WIDTH / 2.0 + share * (WIDTH / 2.0 - EDGE) } else { WIDTH / 2.0 }
        };
        let [left, right] = [1.0 - margin, (1.0 - margin).recip()].map(place);
        let text = |v: f64| format!("{v:.1}");
        let parts = [
            Some(format!("ratio {}", format_factor(ratio))),
            line.interval.as_ref().map(|i| format!("95 % interval {}", i.replace('–', " to "))),
            line.margin.as_ref().map(|m| format!("margin {m}")),
        ];
        Self {
            label: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            at: text(place(ratio)),
            low: text(place(low)),
            high: text(place(high)),
            band: text(left),
            band_width: text(right - left),
            beyond: match ratio {
                r if r > reach => "right",
                r if r < reach.recip() => "left",
                _ => "",
            },
        }
    }
}
