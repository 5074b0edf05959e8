//! Columns at equal distances, small enough for the first screen.

use super::Figure;
use super::canvas::{At, Ink};
use crate::view::{Picture, PictureColumn as Column};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 100.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 82.0;
/// Approximate width of a letter.
const LETTER: f64 = 7.5;

/// Draws the picture.
pub fn columns(picture: &Picture, id: &str) -> Figure {
    let step = WIDTH / picture.columns.len().max(1) as f64;
    Figure::new([id, &picture.title, &picture.description], WIDTH, |canvas| {
        canvas.line(&[(0.0, BOTTOM), (WIDTH, BOTTOM)], Ink::Grid, 1);
        let top = |c: &Column| BOTTOM - (BOTTOM - TOP) * c.height.clamp(0.0, 1.0);
        let last = picture.columns.len().saturating_sub(1);
        for (i, column) in picture.columns.iter().enumerate() {
            let [left, right] = [i as f64 * step + 2.0, (i + 1) as f64 * step - 2.0];
            let high = top(column);
            canvas.block((left, high), (right, BOTTOM), Ink::Series(0));
            // At an edge a text may be wider than its column.
            let middle = f64::midpoint(left, right);
            let wide = LETTER * column.above.chars().count() as f64;
            let (at, anchor, from) = match i {
                0 => (left, At::Start, left),
                i if i == last => (right, At::End, right - wide),
                _ if middle - wide / 2.0 < 0.0 => (0.0, At::Start, 0.0),
                _ if middle + wide / 2.0 > WIDTH => (WIDTH, At::End, WIDTH - wide),
                _ => (middle, At::Middle, middle - wide / 2.0),
            };
            // The text must clear every column that it covers.
            let over = |(k, _): &(usize, &Column)| {
                *k as f64 * step < from + wide && (k + 1) as f64 * step > from
            };
            let columns = picture.columns.iter().enumerate().filter(over);
            let above = columns.map(|(_, c)| top(c)).fold(high, f64::min);
            canvas.text(&column.above, (at, above - 9.0), anchor, Ink::Text);
            canvas.text(&column.below, (at, BOTTOM + 12.0), anchor, Ink::Muted);
            canvas.tooltip((left, TOP), (right, BOTTOM), &column.about);
        }
        HEIGHT
    })
}

/// Draws a line through shares of a height, without axes, to be placed next to a number.
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
        "<svg class=\"strip\" viewBox=\"0 0 72 16\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">\
         <path d=\"{path}\"/></svg>"
    )
}
