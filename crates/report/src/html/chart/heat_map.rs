//! Round trips between CPUs: one square per pair, the darker the longer.

use super::Figure;
use super::canvas::{At, Canvas, Ink};
use crate::view::{HeatMap, HeatPair, ends};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 26.0;
/// Maximum side of a square, and minimum side of one with its number.
const MOST: f64 = 40.0;
const WITH_NUMBER: f64 = 30.0;
/// Number of CPUs up to which each has a label; above, every eighth has.
const LABELS: usize = 32;

/// Draws the squares of all pairs.
pub fn heat_map(chart: &HeatMap, id: &str) -> Figure {
    let side = ((WIDTH - LEFT) / chart.cpus.len().max(1) as f64).min(MOST);
    let [least, most] = ends(chart.rows.iter().flatten().flatten().map(|p| p.ns));
    let shade = |ns: f64| if most > least { (ns - least) / (most - least) } else { 0.0 };
    let figure = Figure::new([id, &chart.title, &chart.description], WIDTH, |canvas| {
        for (row, cpu) in chart.cpus.iter().enumerate() {
            let middle = (row as f64 + 0.5) * side;
            if chart.cpus.len() <= LABELS || row % 8 == 0 {
                canvas.text(&cpu.to_string(), (LEFT - 8.0, TOP + middle), At::End, Ink::Text);
                canvas.text(&cpu.to_string(), (LEFT + middle, 12.0), At::Middle, Ink::Text);
            }
            for (column, pair) in chart.rows[row].iter().enumerate() {
                let Some(pair) = pair else { continue };
                let on = if pair.one_core { ", SMT siblings" } else { "" };
                let text = format!("CPUs {} and {cpu}: {:.0} ns{on}", chart.cpus[column], pair.ns);
                // The map is symmetric: both halves show the pair.
                for (x, y) in [(column, row), (row, column)] {
                    let from = (LEFT + x as f64 * side, TOP + y as f64 * side);
                    square(canvas, from, side, (pair, shade(pair.ns)));
                    canvas.tooltip(from, (from.0 + side, from.1 + side), &text);
                }
            }
        }
        TOP + side * chart.cpus.len() as f64 + 8.0
    });
    Figure { key: "Frames: SMT siblings.".to_owned(), ..figure }
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
