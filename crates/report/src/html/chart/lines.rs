//! Rate by threads: a line a series, error bars from the 95 % intervals, dashes at
//! the ceilings.

use super::axis::Axis;
use super::canvas::{At, Canvas, Failed, Ink};
use super::{doubt, shape, short};
use crate::view::{CpuLimit, LineChart, Mark, Series};

/// Of the view box.
pub const SIZE: (u32, u32) = (480, 300);

const LEFT: f64 = 64.0;
const RIGHT: f64 = 462.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 250.0;
/// Half the width of a ceiling's dashes.
const DASHES: f64 = 14.0;
/// How far from a mark a pointer still finds it.
const REACH: f64 = 10.0;
/// Thread counts that are labelled.
const LABELS: usize = 12;

/// The plot's places.
struct Plot<'a, 'b> {
    canvas: &'a Canvas<'b>,
    axis: Axis,
    count: usize,
}

/// The inside of the SVG.
///
/// # Errors
/// What the drawing library said.
pub fn draw(chart: &LineChart) -> Result<String, Failed> {
    let marks = || chart.series.iter().flat_map(|s| &s.marks);
    let values = marks().flat_map(|m| {
        let [low, high] = m.interval.unwrap_or([m.value; 2]);
        [m.value, low, high, m.ceiling.unwrap_or(m.value)]
    });
    let axis = Axis::over(values);
    Canvas::draw(SIZE, |canvas| {
        let plot = Plot { canvas, axis, count: chart.categories.len() };
        plot.frame(chart)?;
        if let Some(limit) = &chart.cpus {
            plot.cpus(limit)?;
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

impl Plot<'_, '_> {
    fn x(&self, at: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * (at as f64 + 0.5) / self.count.max(1) as f64
    }

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
        let every = chart.categories.len().div_ceil(LABELS).max(1);
        for (i, name) in chart.categories.iter().enumerate().step_by(every) {
            self.canvas.text(
                &short(name, 8),
                (self.x(i), BOTTOM + 16.0),
                At::Middle,
                15,
                Ink::Text,
            )?;
        }
        self.canvas.text(&short(&chart.unit, 20), (4.0, 10.0), At::Start, 15, Ink::Muted)?;
        let middle = (LEFT + RIGHT) / 2.0;
        self.canvas.text("threads", (middle, BOTTOM + 38.0), At::Middle, 15, Ink::Muted)
    }

    /// A thin rule between the thread counts that have a CPU each and those that share.
    fn cpus(&self, limit: &CpuLimit) -> Result<(), Failed> {
        let x = LEFT + (RIGHT - LEFT) * limit.after as f64 / self.count.max(1) as f64;
        self.canvas.dashed((x, TOP - 8.0), (x, BOTTOM), Ink::Muted)?;
        let text = x.clamp(LEFT + 46.0, RIGHT - 30.0);
        self.canvas.text(&short(&limit.label, 12), (text, TOP - 18.0), At::Middle, 15, Ink::Muted)
    }

    fn ceilings(&self, series: &Series, i: usize) -> Result<(), Failed> {
        for m in &series.marks {
            if let Some(ceiling) = m.ceiling {
                let (x, y) = (self.x(m.at), self.y(ceiling));
                self.canvas.dashed((x - DASHES, y), (x + DASHES, y), Ink::Series(i))?;
            }
        }
        Ok(())
    }

    fn series(&self, series: &Series, i: usize) -> Result<(), Failed> {
        let points: Vec<(f64, f64)> =
            series.marks.iter().map(|m| (self.x(m.at), self.y(m.value))).collect();
        if points.len() > 1 {
            self.canvas.line(&points, Ink::Series(i), 2)?;
        }
        for m in &series.marks {
            self.mark(m, i)?;
        }
        Ok(())
    }

    fn mark(&self, m: &Mark, i: usize) -> Result<(), Failed> {
        let (x, y) = (self.x(m.at), self.y(m.value));
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
