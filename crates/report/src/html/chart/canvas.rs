//! An SVG surface. Classes of the page's style sheet (`page/chart.css`) give colours and widths, so
//! that what is drawn follows the reader's light or dark scheme.

use std::cell::RefCell;

use super::escape;

/// The purpose of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Text,
    /// Labels of lesser weight.
    Muted,
    Grid,
    /// The page behind the chart.
    Page,
    Ceiling,
    /// A series, numbered from 0.
    Series(usize),
    /// A mixture with that percentage of the first series' colour.
    Shade(u8),
}

/// Number of series with a colour and a sign of their own in the style sheet.
const COLORS: usize = 6;
/// Distance of hatching lines.
const HATCH: f64 = 6.0;
/// Half the size of a sign.
const R: f64 = 5.0;

impl Ink {
    /// The attributes of an element in that colour, with more classes.
    fn attributes(self, more: &str) -> String {
        let name = match self {
            Self::Text => "t".to_owned(),
            Self::Muted => "m".to_owned(),
            Self::Grid => "g".to_owned(),
            Self::Page => "p".to_owned(),
            Self::Ceiling => "c".to_owned(),
            Self::Series(i) => format!("s{}", i % COLORS),
            Self::Shade(percent) => {
                let color = format!("color-mix(in srgb,var(--s0) {percent}%,var(--page))");
                return format!("style=\"--c:{color}\" class=\"{}\"", more.trim());
            }
        };
        format!("class=\"{name}{more}\"")
    }
}

#[derive(Debug, Clone, Copy)]
pub enum At {
    Start,
    Middle,
    End,
}

/// A surface in pixels of the view box.
#[derive(Debug, Default)]
pub struct Canvas {
    elements: RefCell<String>,
    /// Transparent areas with a title each. They come last, above everything drawn.
    titles: RefCell<String>,
}

impl Canvas {
    /// Draws with `draw` and returns the elements inside the SVG.
    pub fn draw(draw: impl FnOnce(&Self)) -> String {
        let canvas = Self::default();
        draw(&canvas);
        canvas.elements.take() + &canvas.titles.take()
    }

    fn push(&self, element: &str) {
        self.elements.borrow_mut().extend([element, "\n"]);
    }

    /// Adds a text that a pointer over the area shows. Without a script, the browser shows it as a
    /// title.
    pub fn tooltip(&self, from: (f64, f64), to: (f64, f64), text: &str) {
        let ((x, y), (right, bottom), text) = (pixel(&from), pixel(&to), escape(text));
        let (width, height) = ((right - x).max(0), (bottom - y).max(0));
        *self.titles.borrow_mut() += &format!(
            "<rect class=\"mark\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\
             <title>{text}</title></rect>\n"
        );
    }

    /// Adds such a text for a small mark.
    pub fn tooltip_at(&self, (x, y): (f64, f64), text: &str) {
        self.tooltip((x - 10.0, y - 10.0), (x + 10.0, y + 10.0), text);
    }

    /// A line through points; 1 to 3 wide.
    pub fn line(&self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let class = if width == 2 { String::new() } else { format!(" w{width}") };
        self.polyline(points, ink, &class);
    }

    pub fn dashed(&self, points: &[(f64, f64)], ink: Ink) {
        self.polyline(points, ink, " d");
    }

    fn polyline(&self, points: &[(f64, f64)], ink: Ink, class: &str) {
        let (points, ink) = (list(points), ink.attributes(class));
        self.push(&format!("<polyline {ink} points=\"{points}\"/>"));
    }

    /// Fills a block with slanted lines, for what was not measured.
    pub fn hatch(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) {
        let height = y1 - y0;
        let mut x = x0 - height;
        while x < x1 {
            // From the lower left to the upper right, cut at both sides of the block.
            let [from, to] = [x.max(x0), (x + height).min(x1)];
            if to > from {
                self.line(&[(from, y1 - (from - x)), (to, y1 - (to - x))], Ink::Grid, 1);
            }
            x += HATCH;
        }
    }

    pub fn fill(&self, points: &[(f64, f64)], ink: Ink) {
        let (points, ink) = (list(points), ink.attributes(""));
        self.push(&format!("<polygon {ink} points=\"{points}\"/>"));
    }

    pub fn block(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), ink: Ink) {
        self.fill(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1)], ink);
    }

    /// Draws a 95 % interval: a thin line with a short line across both ends.
    pub fn whisker(&self, from: (f64, f64), to: (f64, f64)) {
        let across = if from.0 == to.0 { (4.0, 0.0) } else { (0.0, 4.0) };
        self.line(&[from, to], Ink::Text, 1);
        for (x, y) in [from, to] {
            let ends = [(x - across.0, y - across.1), (x + across.0, y + across.1)];
            self.line(&ends, Ink::Text, 1);
        }
    }

    pub fn dot(&self, at: (f64, f64), ink: Ink) {
        self.circle(&ink.attributes(""), at, 3.0);
    }

    pub fn ring(&self, at: (f64, f64)) {
        self.circle("class=\"t ring\"", at, 10.0);
    }

    fn circle(&self, attributes: &str, at: (f64, f64), r: f64) {
        let (x, y) = pixel(&at);
        self.push(&format!("<circle {attributes} cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    /// Draws the sign of series `i`: circle, square, triangle, diamond, inverted triangle, hexagon.
    pub fn sign(&self, (x, y): (f64, f64), i: usize) {
        let ink = Ink::Series(i).attributes(" sign");
        let (corners, turn, r) = match i % COLORS {
            0 => return self.circle(&ink, (x, y), R),
            1 => (4, 0.125, 1.2 * R),
            2 => (3, 0.0, 1.25 * R),
            3 => (4, 0.0, 1.25 * R),
            4 => (3, 0.5, 1.25 * R),
            _ => (6, 0.0, 1.1 * R),
        };
        let corner = |k: u32| {
            let angle = std::f64::consts::TAU * (f64::from(k) / f64::from(corners) + turn);
            (x + r * angle.sin(), y - r * angle.cos())
        };
        let points = list(&(0..corners).map(corner).collect::<Vec<_>>());
        self.push(&format!("<polygon {ink} points=\"{points}\"/>"));
    }

    /// Draws a text whose vertical middle is at that place.
    pub fn text(&self, text: &str, at: (f64, f64), anchor: At, ink: Ink) {
        let ink = ink.attributes(match anchor {
            At::Start => "",
            At::Middle => " mid",
            At::End => " end",
        });
        let ((x, y), text) = (pixel(&at), escape(text));
        self.push(&format!("<text {ink} x=\"{x}\" y=\"{y}\">\n{text}\n</text>"));
    }
}

/// Points as an SVG attribute; consecutive points in one pixel become one.
fn list(points: &[(f64, f64)]) -> String {
    let mut pixels: Vec<(i32, i32)> = points.iter().map(pixel).collect();
    pixels.dedup();
    let pixels: Vec<String> = pixels.iter().map(|(x, y)| format!("{x},{y}")).collect();
    pixels.join(" ")
}

/// A point in whole pixels, limited to coordinates that browsers support.
fn pixel((x, y): &(f64, f64)) -> (i32, i32) {
    let whole = |v: f64| v.round().clamp(-10_000.0, 10_000.0) as i32;
    (whole(*x), whole(*y))
}
