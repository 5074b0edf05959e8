//! Columns side by side, small enough for the first screen.

use super::Figure;
use super::canvas::{At, Ink};
use crate::view::Picture;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 100.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 82.0;

/// The picture as it is drawn.
pub fn columns(picture: &Picture, id: &str) -> Figure {
    let step = WIDTH / picture.columns.len().max(1) as f64;
    Figure::new([id, &picture.title, &picture.description], WIDTH, |canvas| {
        canvas.line(&[(0.0, BOTTOM), (WIDTH, BOTTOM)], Ink::Grid, 1);
        for (i, column) in picture.columns.iter().enumerate() {
            let [left, right] = [i as f64 * step + 2.0, (i + 1) as f64 * step - 2.0];
            let high = BOTTOM - (BOTTOM - TOP) * column.height.clamp(0.0, 1.0);
            canvas.block((left, high), (right, BOTTOM), Ink::Series(0));
            // At an edge a text may be wider than its column.
            let (at, anchor) = match i {
                0 => (left, At::Start),
                i if i + 1 == picture.columns.len() => (right, At::End),
                _ => (f64::midpoint(left, right), At::Middle),
            };
            canvas.text(&column.above, (at, high - 9.0), anchor, Ink::Text);
            canvas.text(&column.below, (at, BOTTOM + 12.0), anchor, Ink::Muted);
            canvas.tooltip((left, TOP), (right, BOTTOM), &column.about);
        }
        HEIGHT
    })
}

/// A line through shares of a height, without axes: a picture of its own beside a number.
pub fn strip(shares: &[f64]) -> String {
    if shares.len() < 2 {
        return String::new();
    }
    let step = 72.0 / (shares.len() - 1) as f64;
    let place = |(i, share): (usize, &f64)| {
        let y = 15.0 - 14.0 * share.clamp(0.0, 1.0);
        format!("{}{:.1} {y:.1}", if i == 0 { "M" } else { "L" }, i as f64 * step)
    };
    let path: String = shares.iter().enumerate().map(place).collect();
    format!(
        "<svg class=\"strip\" viewBox=\"0 0 72 16\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <path d=\"{path}\"/></svg>"
    )
}
