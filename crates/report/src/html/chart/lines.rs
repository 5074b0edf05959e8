//! Values over an axis: a line a series, error bars from the 95 % intervals, dashes
//! at the ceilings.

use super::axis::Axis;
use super::canvas::{At, Canvas, Failed, Ink};
use super::{doubt, shape, short};
use crate::view::{LineChart, Rule, Series, Spot};

/// Of the view box.
pub const SIZE: (u32, u32) = (480, 300);

const LEFT: f64 = 64.0;
const RIGHT: f64 = 462.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 250.0;
/// A ceiling so many times the greatest value is left off a linear axis, on which the
/// values would lie on the floor.
const FAR: f64 = 4.0;
/// Half the width of a ceiling's dashes, where there is room.
const DASHES: f64 = 14.0;
/// How far from a mark a pointer still finds it.
const REACH: f64 = 10.0;
/// Widest character of a label, so that two do not touch.
const LETTER: f64 = 7.5;
/// Between two labels.
const GAP: f64 = 6.0;

/// The plot's places.
struct Plot<'a, 'b> {
    canvas: &'a Canvas<'b>,
    axis: Axis,
    /// Ceilings above this are left to the table.
    shown: f64,
    /// Half the width of a ceiling's dashes.
    dashes: f64,
}

/// The inside of the SVG.
///
/// # Errors
/// What the drawing library said.
pub fn draw(chart: &LineChart) -> Result<String, Failed> {
    let marks = || chart.series.iter().flat_map(|s| &s.spots).map(|spot| &spot.mark);
    let most = marks().map(|m| m.value).fold(0.0, f64::max);
    let shown = if chart.log { f64::INFINITY } else { FAR * most };
    let values = marks().flat_map(|m| {
        let [low, high] = m.interval.unwrap_or([m.value; 2]);
        let [burst, sustained] = m.fall.unwrap_or([m.value; 2]);
        let ceiling = m.ceiling.filter(|c| *c <= shown).unwrap_or(m.value);
        [m.value, low, high, ceiling, burst, sustained]
    });
    let axis = if chart.log { Axis::log(values) } else { Axis::over(values) };
    Canvas::draw(SIZE, |canvas| {
        let plot = Plot { canvas, axis, shown, dashes: DASHES.min(nearest(chart) * 0.45) };
        plot.frame(chart)?;
        for rule in &chart.rules {
            plot.rule(rule)?;
        }
        for (i, series) in chart.series.iter().enumerate() {
            plot.ceilings(series, i)?;
        }
        for (i, series) in chart.series.iter().enumerate().rev() {
            plot.series(series, i)?;
        }
        Ok(())
    })
}

/// The least distance between two values of a line.
fn nearest(chart: &LineChart) -> f64 {
    let gaps = chart.series.iter().flat_map(|s| s.spots.windows(2)).map(|pair| match pair {
        [a, b] => x(b.at) - x(a.at),
        _ => f64::INFINITY,
    });
    gaps.fold(f64::INFINITY, f64::min)
}

/// Where a place on the axis lies.
fn x(at: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * at
}

impl Plot<'_, '_> {
    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.axis.place(value)
    }

    fn frame(&self, chart: &LineChart) -> Result<(), Failed> {
        for (value, label) in self.axis.ticks() {
            let y = self.y(value);
            let ink = if value == 0.0 { Ink::Muted } else { Ink::Grid };
            self.canvas.line(&[(LEFT, y), (RIGHT, y)], ink, 1)?;
            self.canvas.text(&label, (LEFT - 8.0, y), At::End, 15, Ink::Muted)?;
        }
        let mut free = 0.0;
        for tick in &chart.ticks {
            let (label, x) = (short(&tick.label, 10), x(tick.at));
            let half = label.chars().count() as f64 * LETTER / 2.0;
            if x - half >= free {
                self.canvas.text(&label, (x, BOTTOM + 16.0), At::Middle, 15, Ink::Text)?;
                free = x + half + GAP;
            }
        }
        let unit = if chart.log { format!("{}, log", chart.unit) } else { chart.unit.clone() };
        self.canvas.text(&short(&unit, 20), (4.0, 10.0), At::Start, 15, Ink::Muted)?;
        let middle = (LEFT + RIGHT) / 2.0;
        let below = (middle, BOTTOM + 38.0);
        self.canvas.text(&short(&chart.axis, 45), below, At::Middle, 15, Ink::Muted)
    }

    /// A thin rule: dashes where the machine reports something, a line where it was measured.
    fn rule(&self, rule: &Rule) -> Result<(), Failed> {
        let at = x(rule.at);
        if rule.measured {
            self.canvas.line(&[(at, TOP), (at, BOTTOM)], Ink::Muted, 1)?;
            let label = format!("{} measured", short(&rule.label, 6));
            return self.canvas.text(&label, (at - 5.0, TOP + 10.0), At::End, 15, Ink::Muted);
        }
        self.canvas.dashed((at, TOP - 8.0), (at, BOTTOM), Ink::Muted)?;
        let label = short(&rule.label, 12);
        let half = label.chars().count() as f64 * LETTER / 2.0;
        let text = at.clamp(LEFT + 20.0 + half, RIGHT - half);
        self.canvas.text(&label, (text, TOP - 18.0), At::Middle, 15, Ink::Muted)
    }

    fn ceilings(&self, series: &Series, i: usize) -> Result<(), Failed> {
        for spot in &series.spots {
            if let Some(ceiling) = spot.mark.ceiling.filter(|c| *c <= self.shown) {
                let (x, y) = (x(spot.at), self.y(ceiling));
                let (from, to) = (x - self.dashes, x + self.dashes);
                self.canvas.dashed((from, y), (to, y), Ink::Series(i))?;
            }
        }
        Ok(())
    }

    fn series(&self, series: &Series, i: usize) -> Result<(), Failed> {
        let points: Vec<(f64, f64)> =
            series.spots.iter().map(|s| (x(s.at), self.y(s.mark.value))).collect();
        if points.len() > 1 {
            self.canvas.line(&points, Ink::Series(i), 2)?;
        }
        for spot in &series.spots {
            self.mark(spot, i)?;
        }
        Ok(())
    }

    /// An arrow from the burst to what lasted, left of the mark.
    fn fall(&self, [burst, sustained]: [f64; 2], x: f64, i: usize) -> Result<(), Failed> {
        let (x, from, to) = (x - REACH, self.y(burst), self.y(sustained));
        let back = if to > from { -6.0 } else { 6.0 };
        self.canvas.line(&[(x, from), (x, to)], Ink::Series(i), 2)?;
        self.canvas.line(&[(x - 4.0, to + back), (x, to), (x + 4.0, to + back)], Ink::Series(i), 2)
    }

    fn mark(&self, spot: &Spot, i: usize) -> Result<(), Failed> {
        let m = &spot.mark;
        let (x, y) = (x(spot.at), self.y(m.value));
        if let Some(fall) = m.fall {
            self.fall(fall, x, i)?;
        }
        shape::draw(self.canvas, i, (x, y))?;
        if let Some([low, high]) = m.interval {
            let (low, high) = (self.y(low), self.y(high));
            self.canvas.line(&[(x, low), (x, high)], Ink::Text, 1)?;
            for end in [low, high] {
                self.canvas.line(&[(x - 4.0, end), (x + 4.0, end)], Ink::Text, 1)?;
            }
        }
        self.canvas.tell((x - REACH, y - REACH), (x + REACH, y + REACH), &m.about);
        let sign = doubt(m.verdict);
        if sign.is_empty() {
            return Ok(());
        }
        self.canvas.text(sign, (x + DASHES + 6.0, y), At::Middle, 17, Ink::Text)
    }
}
