//! An SVG surface with a value axis, in the page's own colours.
//!
//! The drawing library writes fixed colours. So each role has a colour that no
//! one would choose, and the finished SVG has it replaced by the page's CSS
//! variable: then the chart follows the reader's light or dark scheme.

use std::cell::RefCell;

use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, EmptyElement, IntoDrawingArea, IntoFont, PathElement, Polygon, RGBColor,
    SVGBackend, ShapeStyle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

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
}

/// Series colours that the style sheet defines.
pub const COLORS: usize = 6;

impl Ink {
    fn sentinel(self) -> RGBColor {
        let n = match self {
            Self::Text => 0,
            Self::Muted => 1,
            Self::Grid => 2,
            Self::Page => 3,
            Self::Ceiling => 4,
            Self::Series(i) => 10 + (i % COLORS) as u8,
        };
        RGBColor(1, 254, n)
    }

    fn variable(self) -> String {
        match self {
            Self::Text => "currentColor".to_owned(),
            Self::Muted => "var(--muted)".to_owned(),
            Self::Grid => "var(--grid)".to_owned(),
            Self::Page => "var(--page)".to_owned(),
            Self::Ceiling => "var(--ceiling)".to_owned(),
            Self::Series(i) => format!("var(--s{})", i % COLORS),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        [Self::Text, Self::Muted, Self::Grid, Self::Page, Self::Ceiling]
            .into_iter()
            .chain((0..COLORS).map(Self::Series))
    }
}

/// What the drawing library said.
pub type Failed = String;

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
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// Unseen areas with a title each; the drawing library knows no titles.
    told: RefCell<String>,
}

impl Canvas<'_> {
    /// Draws with `draw` and returns the SVG's inside and its size.
    ///
    /// # Errors
    /// What the drawing library said.
    pub fn draw(
        (width, height): (u32, u32),
        draw: impl FnOnce(&Canvas) -> Result<(), Failed>,
    ) -> Result<String, Failed> {
        let mut svg = String::new();
        let told = {
            let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
            let canvas = Canvas { area, told: RefCell::default() };
            draw(&canvas)?;
            canvas.area.present().map_err(|e| e.to_string())?;
            canvas.told.take()
        };
        let start = svg.find("<svg").and_then(|at| svg[at..].find('>').map(|end| at + end + 1));
        let end = svg.rfind("</svg>");
        let (Some(start), Some(end)) = (start, end) else {
            return Err("the drawing library wrote no SVG".to_owned());
        };
        let mut inside = svg.get(start..end).unwrap_or_default().to_owned();
        for ink in Ink::all() {
            let RGBColor(r, g, b) = ink.sentinel();
            inside = inside.replace(
                &format!("\"#{r:02X}{g:02X}{b:02X}\""),
                &format!("\"{}\"", ink.variable()),
            );
        }
        inside.push_str(&told);
        Ok(inside)
    }

    /// A text that a pointer over that area shows: without a script as the browser shows titles.
    pub fn tell(&self, from: (f64, f64), to: (f64, f64), text: &str) {
        let ((x0, y0), (x1, y1)) = (pixel(&from), pixel(&to));
        self.told.borrow_mut().push_str(&format!(
            "<rect class=\"mark\" x=\"{x0}\" y=\"{y0}\" width=\"{}\" height=\"{}\" fill=\"transparent\">\
             <title>{}</title></rect>\n",
            (x1 - x0).max(0),
            (y1 - y0).max(0),
            escape(text)
        ));
    }

    /// A line through points.
    pub fn line(&self, points: &[(f64, f64)], ink: Ink, width: u32) -> Result<(), Failed> {
        let points: Vec<(i32, i32)> = points.iter().map(pixel).collect();
        let style = ShapeStyle::from(&ink.sentinel()).stroke_width(width);
        self.area.draw(&PathElement::new(points, style)).map_err(|e| e.to_string())
    }

    /// A broken line between two points.
    pub fn dashed(
        &self,
        (x0, y0): (f64, f64),
        (x1, y1): (f64, f64),
        ink: Ink,
    ) -> Result<(), Failed> {
        let length = (x1 - x0).hypot(y1 - y0);
        let steps = ((length / 7.0).ceil() as usize).clamp(1, 500);
        for i in 0..steps {
            let part = |t: f64| (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t);
            let (from, to) = (i as f64 / steps as f64, (i as f64 + 0.6) / steps as f64);
            self.line(&[part(from), part(to)], ink, 1)?;
        }
        Ok(())
    }

    /// A filled shape.
    pub fn fill(&self, points: &[(f64, f64)], ink: Ink) -> Result<(), Failed> {
        let points: Vec<(i32, i32)> = points.iter().map(pixel).collect();
        let style = ShapeStyle::from(&ink.sentinel()).filled();
        self.area.draw(&Polygon::new(points, style)).map_err(|e| e.to_string())
    }

    /// A small disc.
    pub fn dot(&self, at: (f64, f64), radius: u32, ink: Ink) -> Result<(), Failed> {
        let style = ShapeStyle::from(&ink.sentinel()).filled();
        let disc = Circle::new(pixel(&at), radius as i32, style);
        self.area.draw(&disc).map_err(|e| e.to_string())
    }

    /// A text whose middle is at that height.
    pub fn text(
        &self,
        text: &str,
        at: (f64, f64),
        anchor: At,
        size: u32,
        ink: Ink,
    ) -> Result<(), Failed> {
        let h = match anchor {
            At::Start => HPos::Left,
            At::Middle => HPos::Center,
            At::End => HPos::Right,
        };
        let color = ink.sentinel();
        let style = plotters::style::TextStyle::from(("sans-serif", size).into_font())
            .color(&color)
            .pos(Pos::new(h, VPos::Center));
        let element = EmptyElement::at(pixel(&at)) + Text::new(text.to_owned(), (0, 0), style);
        self.area.draw(&element).map_err(|e| e.to_string())
    }
}

/// A point that the drawing library takes.
fn pixel((x, y): &(f64, f64)) -> (i32, i32) {
    let whole = |v: f64| v.round().clamp(-10_000.0, 10_000.0) as i32;
    (whole(*x), whole(*y))
}
