//! Round trips between CPUs: a square a pair, the darker the longer.

use super::canvas::{At, Canvas, Ink};
use crate::view::{HeatMap, HeatPair};

const WIDTH: u32 = 720;
const LEFT: f64 = 40.0;
const TOP: f64 = 26.0;
/// Of a square at the most, and of one that has room for its number.
const MOST: f64 = 40.0;
const WITH_NUMBER: f64 = 30.0;
/// Labels of every CPU up to so many, else of every eighth.
const LABELS: usize = 32;

/// Of the view box.
pub fn size(chart: &HeatMap) -> (u32, u32) {
    (WIDTH, (TOP + side(chart) * chart.cpus.len() as f64 + 8.0) as u32)
}

fn side(chart: &HeatMap) -> f64 {
    ((f64::from(WIDTH) - LEFT) / chart.cpus.len().max(1) as f64).min(MOST)
}

/// The inside of the SVG.
pub fn draw(chart: &HeatMap) -> String {
    let side = side(chart);
    let all = || chart.rows.iter().flatten().flatten().map(|p| p.ns);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let shade = |ns: f64| if most > least { (ns - least) / (most - least) } else { 0.0 };
    Canvas::draw(|canvas| {
        for (row, cpu) in chart.cpus.iter().enumerate() {
            let middle = |at: usize| (at as f64 + 0.5) * side;
            if chart.cpus.len() <= LABELS || row % 8 == 0 {
                let label = cpu.to_string();
                let (left, top) = ((LEFT - 8.0, TOP + middle(row)), (LEFT + middle(row), 12.0));
                canvas.text(&label, left, At::End, Ink::Text);
                canvas.text(&label, top, At::Middle, Ink::Text);
            }
            for (column, pair) in chart.rows[row].iter().enumerate() {
                let Some(pair) = pair else { continue };
                // Both halves show it.
                for (x, y) in [(column, row), (row, column)] {
                    let from = (LEFT + x as f64 * side, TOP + y as f64 * side);
                    square(canvas, from, side, (pair, shade(pair.ns)));
                    let text = format!("CPUs {} and {cpu}: {}", chart.cpus[column], words(pair));
                    canvas.tooltip(from, (from.0 + side, from.1 + side), &text);
                }
            }
        }
    })
}

fn words(pair: &HeatPair) -> String {
    let on = if pair.one_core { ", SMT siblings" } else { "" };
    format!("{:.0} ns{on}", pair.ns)
}

fn square(canvas: &Canvas, (x, y): (f64, f64), side: f64, (pair, shade): (&HeatPair, f64)) {
    let [from, to] = [1.0, side - 1.0];
    let corners = [(x + from, y + from), (x + to, y + from), (x + to, y + to), (x + from, y + to)];
    canvas.fill(&corners, Ink::Shade((10.0 + 45.0 * shade) as u8));
    if pair.one_core {
        let [a, b, c, d] = corners;
        canvas.line(&[a, b, c, d, a], Ink::Text, 2);
    }
    if side >= WITH_NUMBER {
        let at = (x + side / 2.0, y + side / 2.0);
        canvas.text(&format!("{:.0}", pair.ns), at, At::Middle, Ink::Text);
    }
}
