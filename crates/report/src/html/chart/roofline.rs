//! The roofline: rate of computing over FLOP per byte, both logarithmic. Flat roofs are
//! the CPU's, slanted ones the memory levels'; thin dashes are ceilings.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::{shape, short};
use crate::view::{Dot, Peak, Roofline, Slope};

/// Of the view box.
pub const SIZE: (u32, u32) = (660, 350);

const LEFT: f64 = 64.0;
const RIGHT: f64 = 470.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;
/// Between the names of two roofs.
const LINE: f64 = 17.0;
/// FLOP per byte that every picture shows, that of STREAM's workloads included.
const ALWAYS: [f64; 2] = [0.05, 20.0];

/// The plot's places.
struct Plot<'a> {
    canvas: &'a Canvas,
    x: Axis,
    y: Axis,
    /// The least and the greatest FLOP per byte.
    ends: [f64; 2],
    /// The highest roof.
    top: f64,
    /// The steepest slope.
    steepest: f64,
}

/// The inside of the SVG.
pub fn draw(picture: &Roofline) -> String {
    let (top, lowest) = picture
        .peaks
        .iter()
        .fold((0.0_f64, f64::INFINITY), |(top, low), p| (top.max(p.value), low.min(p.value)));
    let ceilings = picture.peaks.iter().filter_map(|p| p.ceiling);
    let rates = || picture.slopes.iter().map(|s| s.rate);
    let (steepest, flattest) =
        rates().fold((0.0_f64, f64::INFINITY), |(most, least), r| (most.max(r), least.min(r)));
    let ridges = [lowest / steepest * 0.5, top / flattest * 8.0];
    let dots = picture.dots.iter().map(|d| d.x);
    let x = Axis::log(ALWAYS.into_iter().chain(ridges).chain(dots));
    let ends = match &x {
        Axis::Log { low, high } | Axis::Linear { low, high, .. } => [*low, *high],
    };
    let y = Axis::log([flattest * ends[0], top * 1.1].into_iter().chain(ceilings));
    Canvas::draw(|canvas| {
        let plot = Plot { canvas, x, y, ends, top, steepest };
        plot.frame(picture);
        plot.peaks(&picture.peaks);
        for (i, slope) in picture.slopes.iter().enumerate() {
            plot.slope(slope, i);
        }
        picture.dots.iter().for_each(|d| plot.dot(d))
    })
}

impl Plot<'_> {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (LEFT + (RIGHT - LEFT) * self.x.place(x), BOTTOM - (BOTTOM - TOP) * self.y.place(y))
    }

    fn frame(&self, picture: &Roofline) {
        for (value, label) in self.y.ticks() {
            let (_, y) = self.at(self.ends[0], value);
            self.canvas.line(&[(LEFT, y), (RIGHT, y)], Ink::Grid, 1);
            self.canvas.text(&label, (LEFT - 8.0, y), At::End, 12, Ink::Muted);
        }
        for (value, label) in self.x.ticks() {
            let (x, _) = self.at(value, self.top);
            self.canvas.line(&[(x, TOP), (x, BOTTOM)], Ink::Grid, 1);
            self.canvas.text(&label, (x, BOTTOM + 16.0), At::Middle, 12, Ink::Text);
        }
        let unit = format!("{}, log", short(&picture.unit, 12));
        self.canvas.text(&unit, (4.0, 10.0), At::Start, 12, Ink::Muted);
        let middle = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
        self.canvas.text("FLOP per byte, log", middle, At::Middle, 12, Ink::Muted);
    }

    /// Flat roofs from where the steepest slope meets them, named at their right end.
    fn peaks(&self, peaks: &[Peak]) {
        let mut free = f64::NEG_INFINITY;
        for peak in peaks {
            let start = (peak.value / self.steepest).max(self.ends[0]);
            let line = [self.at(start, peak.value), self.at(self.ends[1], peak.value)];
            self.canvas.line(&line, Ink::Text, 2);
            if let Some(ceiling) = peak.ceiling {
                self.canvas.dashed(
                    self.at(start, ceiling),
                    self.at(self.ends[1], ceiling),
                    Ink::Ceiling,
                );
            }
            let (x, y) = line[1];
            let name = format!("{} {}", short(&peak.name, 14), peak.text);
            let at = y.max(free);
            self.canvas.text(&name, (x + 8.0, at), At::Start, 12, Ink::Text);
            free = at + LINE;
        }
    }

    /// A slanted roof up to the highest flat one, with its sign where it ends.
    fn slope(&self, slope: &Slope, i: usize) {
        let ends = |rate: f64| {
            let (low, _) = self.span(rate);
            let right = (self.top / rate).clamp(low, self.ends[1]);
            (self.at(low, low * rate), self.at(right, right * rate))
        };
        if let Some(ceiling) = slope.ceiling.filter(|c| *c > 0.0) {
            let (from, to) = ends(ceiling);
            self.canvas.dashed(from, to, Ink::Series(i));
        }
        let (from, to) = ends(slope.rate);
        self.canvas.line(&[from, to], Ink::Series(i), 2);
        shape::draw(self.canvas, i, to);
        let about = format!("{}: {} ({})", slope.name, slope.text, slope.about);
        self.canvas.tooltip((to.0 - 10.0, to.1 - 10.0), (to.0 + 10.0, to.1 + 10.0), &about);
    }

    /// From where on a slope is above the lower edge.
    fn span(&self, rate: f64) -> (f64, f64) {
        let floor = match &self.y {
            Axis::Log { low, .. } | Axis::Linear { low, .. } => *low,
        };
        ((floor / rate).clamp(self.ends[0], self.ends[1]), self.ends[1])
    }

    fn dot(&self, dot: &Dot) {
        let (x, y) = self.at(dot.x, dot.y);
        let cross = |r: f64| [[(x - r, y), (x + r, y)], [(x, y - r), (x, y + r)]];
        for line in cross(7.0) {
            self.canvas.line(&line, Ink::Page, 5);
        }
        for line in cross(6.0) {
            self.canvas.line(&line, Ink::Text, 2);
        }
        self.canvas.text(&short(&dot.name, 20), (x + 12.0, y + 12.0), At::Start, 12, Ink::Text);
        self.canvas.tooltip((x - 10.0, y - 10.0), (x + 10.0, y + 10.0), &dot.about);
    }
}
