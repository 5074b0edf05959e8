//! Signs of the series: a shape and a colour each.

use super::canvas::{Canvas, Ink};

/// Half the size of a sign.
const R: f64 = 5.0;

/// Draws the sign of series `i`.
pub fn draw(canvas: &Canvas, i: usize, (x, y): (f64, f64)) {
    canvas.fill(&outline(i, x, y, R + 2.0), Ink::Page);
    canvas.fill(&outline(i, x, y, R), Ink::Series(i));
}

/// The sign of series `i` as an `svg` element for a legend.
pub fn sign(i: usize) -> String {
    framed(&|c| {
        c.line(&[(1.0, 7.0), (25.0, 7.0)], Ink::Series(i), 2);
        draw(c, i, (13.0, 7.0))
    })
}

/// A sign of a legend, drawn on 26 x 14, as an `svg` element.
pub fn framed(draw: &dyn Fn(&Canvas)) -> String {
    let inside = Canvas::draw(draw);
    format!(
        "<svg class=\"sign\" viewBox=\"0 0 26 14\" width=\"26\" height=\"14\" \
         aria-hidden=\"true\">{inside}</svg>"
    )
}

/// A ring around a sign.
pub fn ring(x: f64, y: f64) -> Vec<(f64, f64)> {
    let mut ring = outline(0, x, y, 2.0 * R);
    ring.extend(ring.first().copied());
    ring
}

/// Circle, square, triangle, diamond, triangle on its tip, hexagon.
fn outline(i: usize, x: f64, y: f64, r: f64) -> Vec<(f64, f64)> {
    let polygon = |corners: usize, turn: f64, r: f64| -> Vec<(f64, f64)> {
        (0..corners)
            .map(|k| {
                let angle = std::f64::consts::TAU * (k as f64 / corners as f64 + turn);
                (x + r * angle.sin(), y - r * angle.cos())
            })
            .collect()
    };
    match i % 6 {
        0 => polygon(24, 0.0, r),
        1 => polygon(4, 0.125, r * 1.2),
        2 => polygon(3, 0.0, r * 1.25),
        3 => polygon(4, 0.0, r * 1.25),
        4 => polygon(3, 0.5, r * 1.25),
        _ => polygon(6, 0.0, r * 1.1),
    }
}
