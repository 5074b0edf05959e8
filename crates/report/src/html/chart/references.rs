//! Bars of our number, of each tool's and of the ceiling, a group per point.
//!
//! An invalid number, such as that of a page cache, may be many times the others. It does not
//! stretch the axis: its bar has a gap before the end, and its value is printed.

use proofmark_model::Verdict;

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::{doubt, short};
use crate::view::{ComparisonBar, ComparisonChart, ComparisonGroup, Limit, Mark};

const WIDTH: u32 = 480;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 466.0;
const TOP: f64 = 8.0;
/// Height of a point's name.
const HEAD: f64 = 26.0;
/// Height of one bar with its name above it.
const ROW: f64 = 40.0;
/// Between two points.
const GAP: f64 = 14.0;
const FOOT: f64 = 46.0;
/// Upper and lower end of a bar within its row.
const BAR: [f64; 2] = [20.0, 33.0];

/// Of the view box.
pub fn size(chart: &ComparisonChart) -> (u32, u32) {
    (WIDTH, (bottom(chart) + FOOT) as u32)
}

/// Whether a bar goes on beyond the axis.
pub fn cut(chart: &ComparisonChart) -> bool {
    let axis = axis(chart);
    chart.points.iter().flat_map(|p| &p.bars).any(|b| beyond(&axis, b.bar.mark.value))
}

/// The axis of all values but the invalid ones, or of these where there are no others.
fn axis(chart: &ComparisonChart) -> Axis {
    let ceilings = chart.points.iter().filter_map(|p| p.ceiling.as_ref()).map(|c| c.value);
    let marks = || chart.points.iter().flat_map(|p| &p.bars).map(|b| &b.bar.mark);
    let usable = |m: &&Mark| m.verdict != Verdict::Invalid;
    let none = !marks().any(|m| usable(&m));
    let values = marks().filter(|m| none || usable(m)).flat_map(|m| {
        let [low, high] = m.interval.unwrap_or([m.value; 2]);
        [m.value, low, high]
    });
    Axis::over(values.chain(ceilings))
}

fn beyond(axis: &Axis, value: f64) -> bool {
    matches!(axis, Axis::Linear { low, high, .. } if !(*low..=*high).contains(&value))
}

fn bottom(chart: &ComparisonChart) -> f64 {
    TOP + chart.points.iter().map(height).sum::<f64>()
}

fn height(point: &ComparisonGroup) -> f64 {
    let rows = point.bars.len() + usize::from(point.ceiling.is_some());
    head(point) + ROW * rows as f64 + GAP
}

fn head(point: &ComparisonGroup) -> f64 {
    if point.name.is_empty() { 0.0 } else { HEAD }
}

/// The inside of the SVG.
pub fn draw(chart: &ComparisonChart) -> String {
    let axis = axis(chart);
    let bottom = bottom(chart);
    Canvas::draw(|canvas| {
        for (value, label) in axis.ticks() {
            let x = place(&axis, value);
            canvas.line(&[(x, TOP), (x, bottom)], Ink::Grid, 1);
            let x = x.clamp(LEFT + 6.0, RIGHT - 6.0);
            canvas.text(&label, (x, bottom + 13.0), At::Middle, 12, Ink::Muted);
        }
        let mut top = TOP;
        for point in &chart.points {
            one(canvas, &axis, point, top);
            top += height(point);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text(&short(&chart.unit, 20), (middle, bottom + 34.0), At::Middle, 12, Ink::Muted);
    })
}

fn place(axis: &Axis, value: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * axis.place(value)
}

fn one(canvas: &Canvas, axis: &Axis, point: &ComparisonGroup, top: f64) {
    if !point.name.is_empty() {
        canvas.text(&short(&point.name, 46), (LEFT, top + 11.0), At::Start, 12, Ink::Muted);
    }
    let mut row = top + head(point);
    for bar in &point.bars {
        measured(canvas, axis, bar, row);
        row += ROW;
    }
    if let Some(limit) = &point.ceiling {
        ceiling(canvas, axis, limit, row);
    }
}

fn block(axis: &Axis, value: f64, row: f64) -> [(f64, f64); 4] {
    let (from, to) = (place(axis, 0.0), place(axis, value));
    let [high, low] = BAR.map(|y| row + y);
    [(from, high), (to, high), (to, low), (from, low)]
}

fn labels(canvas: &Canvas, name: &str, value: &str, row: f64) {
    canvas.text(&short(name, 18), (LEFT, row + 9.0), At::Start, 12, Ink::Text);
    canvas.text(value, (RIGHT, row + 9.0), At::End, 12, Ink::Text);
}

fn measured(canvas: &Canvas, axis: &Axis, drawn: &ComparisonBar, row: f64) {
    let (bar, m) = (&drawn.bar, &drawn.bar.mark);
    let near = bar.efficiency.as_ref().map_or_else(String::new, |e| format!(" ({e} %)"));
    let sign = match doubt(m.verdict) {
        "" => String::new(),
        sign => format!("  {sign} {}", m.verdict),
    };
    labels(canvas, &bar.name, &format!("{}{near}{sign}", m.text), row);
    canvas.fill(&block(axis, m.value, row), Ink::Series(drawn.who));
    if beyond(axis, m.value) {
        gap(canvas, place(axis, m.value), row);
    } else if let Some([from, to]) = m.interval {
        let (from, to, y) = (place(axis, from), place(axis, to), row + BAR[0].midpoint(BAR[1]));
        canvas.line(&[(from, y), (to, y)], Ink::Text, 1);
        for end in [from, to] {
            canvas.line(&[(end, y - 4.0), (end, y + 4.0)], Ink::Text, 1);
        }
    }
    canvas.tooltip((LEFT, row), (RIGHT, row + ROW - 2.0), &m.about);
}

/// A slanted gap near that end of a bar.
fn gap(canvas: &Canvas, end: f64, row: f64) {
    let x = if end > LEFT + GAP { end - GAP } else { end + GAP };
    let [high, low] = BAR.map(|y| row + y);
    let gap = [(x, high - 1.0), (x + 4.0, high - 1.0), (x, low + 1.0), (x - 4.0, low + 1.0)];
    canvas.fill(&gap, Ink::Page);
}

fn ceiling(canvas: &Canvas, axis: &Axis, limit: &Limit, row: f64) {
    labels(canvas, "ceiling", &limit.text, row);
    canvas.fill(&block(axis, limit.value, row), Ink::Grid);
    let at = place(axis, limit.value);
    let [high, low] = BAR.map(|y| row + y);
    canvas.line(&[(at, high - 2.0), (at, low + 2.0)], Ink::Ceiling, 2);
}
