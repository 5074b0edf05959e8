//! Bars by instruction set. A light bar is the ceiling, the dark one on it the
//! headline figure, its whisker the 95 % interval.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::{doubt, short};
use crate::view::{Bar, BarChart};

const WIDTH: u32 = 480;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 466.0;
const TOP: f64 = 8.0;
/// Height of one bar with its name above it.
const ROW: f64 = 52.0;
const FOOT: f64 = 46.0;

/// Of the view box.
pub fn size(chart: &BarChart) -> (u32, u32) {
    (WIDTH, (TOP + ROW * chart.bars.len() as f64 + FOOT) as u32)
}

/// The inside of the SVG.
pub fn draw(chart: &BarChart) -> String {
    let values = chart.bars.iter().flat_map(|b| {
        let m = &b.mark;
        let [low, high] = m.interval.unwrap_or([m.value; 2]);
        [m.value, low, high, m.ceiling.unwrap_or(m.value)]
    });
    let axis = Axis::over(values);
    let bottom = TOP + ROW * chart.bars.len() as f64;
    Canvas::draw(|canvas| {
        for (value, label) in axis.ticks() {
            let x = place(&axis, value);
            canvas.line(&[(x, TOP), (x, bottom)], Ink::Grid, 1);
            let x = x.clamp(LEFT + 6.0, RIGHT - 6.0);
            canvas.text(&label, (x, bottom + 13.0), At::Middle, 12, Ink::Muted);
        }
        for (i, bar) in chart.bars.iter().enumerate() {
            one(canvas, &axis, bar, TOP + ROW * i as f64);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text(&short(&chart.unit, 20), (middle, bottom + 34.0), At::Middle, 12, Ink::Muted);
    })
}

fn place(axis: &Axis, value: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * axis.place(value)
}

fn one(canvas: &Canvas, axis: &Axis, bar: &Bar, top: f64) {
    let m = &bar.mark;
    let near = bar.efficiency.as_ref().map_or_else(String::new, |e| format!(" ({e} %)"));
    let sign = match doubt(m.verdict) {
        "" => String::new(),
        sign => format!("  {sign} {}", m.verdict),
    };
    let name = if bar.name.is_empty() { "figure" } else { &bar.name };
    canvas.text(&short(name, 24), (LEFT, top + 11.0), At::Start, 12, Ink::Text);
    let value = format!("{}{near}{sign}", m.text);
    canvas.text(&value, (RIGHT, top + 11.0), At::End, 12, Ink::Text);
    let (zero, end) = (place(axis, 0.0), place(axis, m.value));
    let (high, low) = (top + 25.0, top + 43.0);
    let block = |from: f64, to: f64| [(from, high), (to, high), (to, low), (from, low)];
    if let Some(ceiling) = m.ceiling {
        let at = place(axis, ceiling);
        canvas.fill(&block(zero, at), Ink::Grid);
        canvas.fill(&block(zero, end), Ink::Series(0));
        canvas.line(&[(at, high - 2.0), (at, low + 2.0)], Ink::Ceiling, 2);
    } else {
        canvas.fill(&block(zero, end), Ink::Series(0));
    }
    if let Some([from, to]) = m.interval {
        let (from, to, y) = (place(axis, from), place(axis, to), (high + low) / 2.0);
        canvas.line(&[(from, y), (to, y)], Ink::Text, 1);
        for end in [from, to] {
            canvas.line(&[(end, y - 4.0), (end, y + 4.0)], Ink::Text, 1);
        }
    }
    canvas.tooltip((LEFT, top), (RIGHT, top + ROW - 4.0), &m.about);
}
