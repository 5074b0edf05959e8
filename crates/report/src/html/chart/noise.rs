//! A run's noise over time: a lane for each thing, all on one time axis, below them what was measured.

use proofmark_model::format_seconds;

use super::canvas::{At, Canvas, Ink};
use super::short;
use crate::view::{Lane, Lanes, NOISE_COLUMNS, NoiseChart};

const WIDTH: u32 = 720;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 700.0;
/// Of a lane, and from one to the next.
const HEIGHT: f64 = 26.0;
const STEP: f64 = 34.0;
/// For the caption of lanes with one scale.
const CAPTION: f64 = 24.0;
/// For what was measured, and the times below it.
const FOOT: f64 = 52.0;

/// Of the view box.
pub fn size(chart: &NoiseChart) -> (u32, u32) {
    let lanes = chart.groups.iter().map(|g| CAPTION + STEP * g.lanes.len() as f64);
    (WIDTH, (lanes.sum::<f64>() + FOOT) as u32)
}

/// The left end of a column.
fn x(column: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * column as f64 / NOISE_COLUMNS as f64
}

/// The inside of the SVG.
pub fn draw(chart: &NoiseChart) -> String {
    Canvas::draw(|canvas| {
        let mut top = 0.0;
        let mut ink = 0;
        for group in &chart.groups {
            canvas.text(&short(&group.caption, 90), (4.0, top + 10.0), At::Start, 12, Ink::Muted);
            top += CAPTION;
            for lane in &group.lanes {
                draw_lane(canvas, group, lane, (top, Ink::Series(ink)));
                ink += 1;
                top += STEP;
            }
        }
        for (i, band) in chart.bands.iter().enumerate() {
            let [from, to] = band.columns.map(x);
            canvas.line(&[(from + 1.0, top), (to - 1.0, top)], Ink::Text, 2);
            // One beside another: a narrow one has no room for its name.
            let row = top + 12.0;
            if to - from > 8.0 * band.name.len() as f64 || i == 0 {
                canvas.text(&band.name, (f64::midpoint(from, to), row), At::Middle, 12, Ink::Text);
            }
        }
        let ends =
            [(LEFT, "0 s".to_owned(), At::Start), (RIGHT, format_seconds(chart.seconds), At::End)];
        for (at, text, anchor) in ends {
            canvas.text(&text, (at, top + 32.0), anchor, 12, Ink::Muted);
        }
    })
}

fn draw_lane(canvas: &Canvas, group: &Lanes, lane: &Lane, (top, ink): (f64, Ink)) {
    let bottom = top + HEIGHT;
    canvas.text(&short(&lane.name, 22), (4.0, top + HEIGHT / 2.0), At::Start, 12, Ink::Text);
    let share = format!("{} %", lane.share);
    canvas.text(&share, (LEFT - 8.0, top + HEIGHT / 2.0), At::End, 12, Ink::Text);
    canvas.line(&[(LEFT, bottom), (RIGHT, bottom)], Ink::Grid, 1);
    for (column, share) in lane.columns.iter().enumerate() {
        let Some(share) = share.filter(|s| s.is_finite()) else { continue };
        let height = HEIGHT * (share / group.top).clamp(0.0, 1.0);
        let [from, to] = [x(column), x(column + 1) - 1.0];
        if height >= 0.5 {
            let high = bottom - height;
            canvas.fill(&[(from, bottom), (from, high), (to, high), (to, bottom)], ink);
        }
        let text = format!("{}: {:.1} %", lane.name, 100.0 * share);
        canvas.tooltip((from, top), (to, bottom), &text);
    }
}
