//! Columns at equal distances, small enough for the first screen.

use super::Figure;
use super::canvas::{At, Ink};
use crate::view::{Picture, PictureColumn as Column, ends};

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

/// Width and height of a line of rounds.
const STRIP: [f64; 2] = [72.0, 18.0];

/// Draws a line through differences from a median, which is the line in the middle. The ends of the
/// scale are `spread` above and below it; the line is cut there. It has a name, but no axes.
pub fn strip(rounds: &[f64], spread: f64) -> String {
    if rounds.len() < 2 {
        return String::new();
    }
    let [width, height] = STRIP;
    let middle = height / 2.0;
    let step = width / (rounds.len() - 1) as f64;
    let place = |(i, round): (usize, &f64)| {
        let y = middle - (middle - 1.0) * (round / spread).clamp(-1.0, 1.0);
        format!("{}{:.1} {y:.1}", if i == 0 { "M" } else { "L" }, i as f64 * step)
    };
    let path: String = rounds.iter().enumerate().map(place).collect();
    let [least, most] = ends(rounds.iter().copied()).map(|v| format!("{:+.1} %", 100.0 * v));
    let name = format!("{} rounds: {least} to {most} of their median", rounds.len());
    format!(
        "<svg class=\"strip\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"{name}\"><title>{name}</title>\
         <path class=\"middle\" d=\"M0 {middle}H{width}\"/><path d=\"{path}\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::strip;

    /// Heights of a line of rounds, in pixels below its middle.
    fn heights(rounds: &[f64], spread: f64) -> Vec<f64> {
        let svg = strip(rounds, spread);
        let path = svg.rsplit("d=\"").next().and_then(|d| d.split('"').next()).unwrap();
        let points = path.split(['M', 'L']).filter(|p| !p.is_empty());
        let below = |p: &str| p.split(' ').nth(1).unwrap().parse::<f64>().unwrap() - 9.0;
        points.map(|p| (10.0 * below(p)).round() / 10.0).collect()
    }

    #[test]
    fn lines_of_one_scale_can_be_compared() {
        assert_eq!(heights(&[0.5, -0.25, 0.0], 0.5), [-8.0, 4.0, 0.0]);
        assert_eq!(heights(&[0.005, -0.0025, 0.0], 0.5), [-0.1, 0.0, 0.0], "a steady line is flat");
        assert_eq!(heights(&[3.0, -0.9], 1.0), [-8.0, 7.2], "cut at the end of the scale");
        let svg = strip(&[0.5, -0.25, 0.0], 0.5);
        assert!(svg.contains("3 rounds: -25.0 % to +50.0 % of their median"), "{svg}");
        assert_eq!(strip(&[0.0], 0.1), "", "one value has no course");
    }
}
