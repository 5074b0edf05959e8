//! Horizontal bars in groups: the dark bar is the value with its 95 % interval, the light one its
//! ceiling.
//!
//! An invalid number, such as that of a page cache, or a ceiling may be many times the others. It
//! does not stretch the axis: its bar has a gap before the end, and its value is printed.

use super::canvas::{At, Canvas, Ink};
use super::{Figure, doubt, short};
use crate::view::{Axis, Bar, BarChart, BarGroup};

/// The meaning of the gap in a bar.
pub const CUT: &str = "A bar with a gap extends beyond the axis.";

const WIDTH: f64 = 480.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 466.0;
const TOP: f64 = 8.0;
/// A ceiling above this many times the values does not stretch the axis.
const FAR: f64 = 2.5;
/// Height of a group's name.
const HEAD: f64 = 26.0;
/// Height of one bar with its name above it.
const ROW: f64 = 42.0;
/// Distance between two groups.
const GAP: f64 = 14.0;
const FOOT: f64 = 46.0;
/// Upper and lower end of a bar within its row.
const BAR: [f64; 2] = [22.0, 35.0];

/// Draws the groups, each below the one before it.
pub fn bars(chart: &BarChart, id: &str) -> Figure {
    let (axis, bottom) = (axis(chart), TOP + chart.groups.iter().map(height).sum::<f64>());
    let figure = Figure::new([id, &chart.title, &chart.description], WIDTH, |canvas| {
        let rows = Rows { canvas, axis: &axis };
        for tick in &axis.ticks {
            let x = rows.x(tick.at);
            canvas.line(&[(x, TOP), (x, bottom)], Ink::Grid, 1);
            let at = (x.clamp(LEFT + 6.0, RIGHT - 6.0), bottom + 13.0);
            canvas.text(&tick.label, at, At::Middle, Ink::Muted);
        }
        let mut top = TOP;
        for group in &chart.groups {
            rows.group(group, top);
            top += height(group);
        }
        let middle = (f64::midpoint(LEFT, RIGHT), bottom + 34.0);
        canvas.text(&axis.label, middle, At::Middle, Ink::Muted);
        bottom + FOOT
    });
    let bars = chart.groups.iter().flat_map(|p| &p.bars).map(|b| b.mark.value);
    let limits = chart.groups.iter().filter_map(|p| p.ceiling.as_ref()).map(|c| c.value);
    let mut all = bars.chain(limits);
    let key = if all.any(|value| !axis.holds(value)) { CUT.to_owned() } else { String::new() };
    Figure { key, left_out: chart.left_out.clone(), ..figure }
}

/// The axis for all usable values, or for all values if none is usable.
fn axis(chart: &BarChart) -> Axis {
    let bars = || chart.groups.iter().flat_map(|p| &p.bars);
    let usable = |b: &&Bar| b.mark.verdict.is_usable();
    let none = !bars().any(|b| usable(&b));
    let shown = bars().filter(|b| none || usable(b)).map(|b| &b.mark);
    let values = shown.flat_map(|m| {
        let ceiling = m.ceiling.filter(|c| *c <= FAR * m.value);
        m.interval.into_iter().flatten().chain([m.value]).chain(ceiling)
    });
    let values: Vec<f64> = values.collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let ceilings = chart.groups.iter().filter_map(|p| p.ceiling.as_ref()).map(|c| c.value);
    // A ceiling far above all values would squeeze them. Its bar has a gap.
    let near = ceilings.filter(|c| *c <= FAR * most);
    Axis::linear(&short(&chart.unit, 20), values.iter().copied().chain(near))
}

fn height(group: &BarGroup) -> f64 {
    let rows = group.bars.len() + usize::from(group.ceiling.is_some());
    head(group) + ROW * rows as f64 + GAP
}

fn head(group: &BarGroup) -> f64 {
    if group.name.is_empty() { 0.0 } else { HEAD }
}

struct Rows<'a> {
    canvas: &'a Canvas,
    axis: &'a Axis,
}

impl Rows<'_> {
    fn x(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.axis.place(value)
    }

    fn group(&self, group: &BarGroup, top: f64) {
        self.canvas.text(&short(&group.name, 46), (LEFT, top + 11.0), At::Start, Ink::Muted);
        let mut row = top + head(group);
        for bar in &group.bars {
            self.bar(bar, row);
            row += ROW;
        }
        if let Some(limit) = &group.ceiling {
            self.names("ceiling", &limit.text, row);
            self.ceiling(limit.value, row);
        }
    }

    fn names(&self, name: &str, value: &str, row: f64) {
        self.canvas.text(&short(name, 24), (LEFT, row + 9.0), At::Start, Ink::Text);
        self.canvas.text(value, (RIGHT, row + 9.0), At::End, Ink::Text);
    }

    fn block(&self, value: f64, row: f64, ink: Ink) {
        let [high, low] = BAR.map(|y| row + y);
        self.canvas.block((self.x(0.0), high), (self.x(value), low), ink);
    }

    fn ceiling(&self, value: f64, row: f64) {
        self.block(value, row, Ink::Grid);
        let ([high, low], x) = (BAR.map(|y| row + y), self.x(value));
        if !self.axis.holds(value) {
            return self.gap(x, row);
        }
        self.canvas.line(&[(x, high - 2.0), (x, low + 2.0)], Ink::Ceiling, 2);
    }

    fn bar(&self, bar: &Bar, row: f64) {
        let m = &bar.mark;
        let near = bar.efficiency.as_ref().map_or_else(String::new, |e| format!(" ({e} %)"));
        let sign = match doubt(m.verdict) {
            "" => String::new(),
            sign => format!("  {sign} {}", m.verdict),
        };
        self.names(&bar.name, &format!("{}{near}{sign}", m.text), row);
        if let Some(ceiling) = m.ceiling {
            self.ceiling(ceiling, row);
        }
        self.block(m.value, row, Ink::Series(bar.who));
        if !self.axis.holds(m.value) {
            self.gap(self.x(m.value), row);
        } else if let Some([from, to]) = m.interval {
            let y = row + BAR[0].midpoint(BAR[1]);
            self.canvas.whisker((self.x(from), y), (self.x(to), y));
        }
        self.canvas.tooltip((LEFT, row), (RIGHT, row + ROW - 2.0), &m.about);
    }

    /// Draws a slanted gap near the end of a bar.
    fn gap(&self, end: f64, row: f64) {
        let x = if end > LEFT + GAP { end - GAP } else { end + GAP };
        let [high, low] = BAR.map(|y| row + y);
        let gap = [(x, high - 1.0), (x + 4.0, high - 1.0), (x, low + 1.0), (x - 4.0, low + 1.0)];
        self.canvas.fill(&gap, Ink::Page);
    }
}
