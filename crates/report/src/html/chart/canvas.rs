//! An SVG surface in the page's own colours: what is drawn follows the reader's light or dark scheme.

use std::cell::RefCell;
use std::fmt::Write as _;

use super::escape;

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text and axes.
    Text,
    /// Labels of lesser weight.
    Muted,
    /// Grid lines.
    Grid,
    /// The page behind the chart.
    Page,
    /// A ceiling.
    Ceiling,
    /// A series, from 0.
    Series(usize),
    /// So many percent of the first series' colour.
    Shade(u8),
}

/// Series colours that the style sheet defines.
pub const COLORS: usize = 6;

impl Ink {
    /// The CSS colour.
    fn color(self) -> String {
        match self {
            Self::Text => "currentColor".to_owned(),
            Self::Muted => "var(--muted)".to_owned(),
            Self::Grid => "var(--grid)".to_owned(),
            Self::Page => "var(--page)".to_owned(),
            Self::Ceiling => "var(--ceiling)".to_owned(),
            Self::Shade(percent) => {
                format!("color-mix(in srgb, var(--s0) {percent}%, var(--page))")
            }
            Self::Series(i) => format!("var(--s{})", i % COLORS),
        }
    }
}

/// Where a text is anchored.
#[derive(Debug, Clone, Copy)]
pub enum At {
    /// Begins there.
    Start,
    /// Is centred there.
    Middle,
    /// Ends there.
    End,
}

/// A surface in pixels of the view box.
#[derive(Debug, Default)]
pub struct Canvas {
    elements: RefCell<String>,
    /// Transparent areas with a title each. They come last, above all that is drawn.
    titles: RefCell<String>,
}

impl Canvas {
    /// Draws with `draw` and returns the elements inside the SVG.
    pub fn draw(draw: impl FnOnce(&Self)) -> String {
        let canvas = Self::default();
        draw(&canvas);
        canvas.elements.take() + &canvas.titles.take()
    }

    fn push(&self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.elements.borrow_mut(), "{element}");
    }

    /// A text that a pointer over that area shows: without a script as the browser shows titles.
    pub fn tooltip(&self, from: (f64, f64), to: (f64, f64), text: &str) {
        let ((x0, y0), (x1, y1)) = (pixel(&from), pixel(&to));
        self.titles.borrow_mut().push_str(&format!(
            "<rect class=\"mark\" x=\"{x0}\" y=\"{y0}\" width=\"{}\" height=\"{}\" fill=\"transparent\">\
             <title>{}</title></rect>\n",
            (x1 - x0).max(0),
            (y1 - y0).max(0),
            escape(text)
        ));
    }

    /// A line through points.
    pub fn line(&self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let (points, color) = (list(points), ink.color());
        self.push(format_args!(
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" points=\"{points}\"/>"
        ));
    }

    /// A broken line between two points.
    pub fn dashed(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), ink: Ink) {
        let length = (x1 - x0).hypot(y1 - y0);
        let steps = ((length / 7.0).ceil() as usize).clamp(1, 500);
        for i in 0..steps {
            let part = |t: f64| (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t);
            let (from, to) = (i as f64 / steps as f64, (i as f64 + 0.6) / steps as f64);
            self.line(&[part(from), part(to)], ink, 1);
        }
    }

    /// A filled shape.
    pub fn fill(&self, points: &[(f64, f64)], ink: Ink) {
        let (points, color) = (list(points), ink.color());
        self.push(format_args!("<polygon fill=\"{color}\" points=\"{points}\"/>"));
    }

    /// A small disc.
    pub fn dot(&self, at: (f64, f64), radius: u32, ink: Ink) {
        let ((x, y), color) = (pixel(&at), ink.color());
        self.push(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{color}\"/>"));
    }

    /// A text whose middle is at that height.
    pub fn text(&self, text: &str, at: (f64, f64), anchor: At, size: u32, ink: Ink) {
        let anchor = match anchor {
            At::Start => "start",
            At::Middle => "middle",
            At::End => "end",
        };
        let ((x, y), color, text) = (pixel(&at), ink.color(), escape(text));
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"0.5ex\" text-anchor=\"{anchor}\" font-family=\"sans-serif\" \
             font-size=\"{size}\" fill=\"{color}\">\n{text}\n</text>"
        ));
    }
}

/// Points as an attribute of SVG writes them.
fn list(points: &[(f64, f64)]) -> String {
    let mut list = String::new();
    for (x, y) in points.iter().map(pixel) {
        let _ = write!(list, "{x},{y} ");
    }
    list
}

/// A point in whole pixels, not too far away for a browser.
fn pixel((x, y): &(f64, f64)) -> (i32, i32) {
    let whole = |v: f64| v.round().clamp(-10_000.0, 10_000.0) as i32;
    (whole(*x), whole(*y))
}
