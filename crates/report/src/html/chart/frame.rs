//! The frame that charts of lines have in common: a value axis with its grid, labels from
//! left to right, and what both axes are.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::short;

/// Of the view box.
pub const SIZE: (u32, u32) = (480, 300);
/// Left end of the plot.
pub const LEFT: f64 = 64.0;
/// Right end of the plot.
pub const RIGHT: f64 = 462.0;
/// Upper end of the plot.
pub const TOP: f64 = 40.0;
/// Lower end of the plot.
pub const BOTTOM: f64 = 250.0;
/// How far from a mark a pointer still finds it.
pub const REACH: f64 = 10.0;

/// Widest character of a label, so that two do not touch.
const LETTER: f64 = 7.5;
/// The same on a narrow screen, where letters are larger.
const WIDEST: f64 = 10.0;
/// Between two labels.
const GAP: f64 = 6.0;

/// A surface with a value axis.
pub struct Frame<'a> {
    /// What is drawn on.
    pub canvas: &'a Canvas,
    /// Upwards.
    pub axis: Axis,
}

/// What lies from left to right.
pub struct Across<'a> {
    /// Places, 0 at the left end and 1 at the right one, with their labels.
    pub ticks: Vec<(f64, String)>,
    /// Whether each has a grid line.
    pub grid: bool,
    /// What they are, and whether on a logarithmic axis.
    pub label: (&'a str, bool),
}

/// Where a place from left to right lies, 0 at the left end and 1 at the right one.
pub fn x(at: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * at
}

/// Half the width of a label.
pub fn half(label: &str) -> f64 {
    label.chars().count() as f64 * LETTER / 2.0
}

/// The most that a label takes from left to right.
pub fn widest(label: &str) -> f64 {
    label.chars().count() as f64 * WIDEST
}

/// The label of an axis, which says if it is logarithmic.
fn label((text, log): (&str, bool), most: usize) -> String {
    let text = short(text, most);
    if log { format!("{text}, log") } else { text }
}

impl Frame<'_> {
    /// Where a value lies.
    pub fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.axis.place(value)
    }

    /// Grid, ticks and labels; a label that would touch the one before it is left out.
    pub fn draw(&self, across: &Across, upwards: (&str, bool)) {
        for (value, label) in self.axis.ticks() {
            let y = self.y(value);
            let ink = if value == 0.0 { Ink::Muted } else { Ink::Grid };
            self.canvas.line(&[(LEFT, y), (RIGHT, y)], ink, 1);
            self.canvas.text(&label, (LEFT - 8.0, y), At::End, 12, Ink::Muted);
        }
        let mut free = 0.0;
        for (at, label) in &across.ticks {
            let (label, x) = (short(label, 10), x(*at));
            if across.grid {
                self.canvas.line(&[(x, TOP), (x, BOTTOM)], Ink::Grid, 1);
            }
            let widest = label.chars().count() as f64 * WIDEST / 2.0;
            let inside = x.min(f64::from(SIZE.0) - widest);
            // A number can be spared, the name of a value cannot.
            let half = if across.grid { widest } else { half(&label) };
            if inside - half >= free {
                self.canvas.text(&label, (inside, BOTTOM + 16.0), At::Middle, 12, Ink::Text);
                free = inside + half + GAP;
            }
        }
        self.canvas.text(&label(upwards, 20), (4.0, 10.0), At::Start, 12, Ink::Muted);
        let below = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
        self.canvas.text(&label(across.label, 45), below, At::Middle, 12, Ink::Muted);
    }
}
