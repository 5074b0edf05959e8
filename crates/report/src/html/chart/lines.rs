//! Values over an axis: a line per series, error bars from the 95 % intervals, dashes
//! at the ceilings.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::frame::{Across, BOTTOM, Frame, LEFT, REACH, RIGHT, TOP, half, x};
use super::{doubt, shape, short};
use crate::view::{LineChart, Rule, Series, Spot};

/// A ceiling so many times the greatest value is left off a linear axis, on which the
/// values would lie on the floor.
const FAR: f64 = 4.0;
/// Half the width of a ceiling's dashes, where there is room.
const DASHES: f64 = 14.0;
/// The plot's places.
struct Plot<'a> {
    frame: Frame<'a>,
    /// Ceilings above this are left to the table.
    shown: f64,
    /// Half the width of a ceiling's dashes.
    dashes: f64,
    /// Whether the ceilings of a line are one line.
    joined: bool,
}

/// The inside of the SVG.
pub fn draw(chart: &LineChart) -> String {
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
    Canvas::draw(|canvas| {
        let frame = Frame { canvas, axis };
        let ticks = chart.ticks.iter().map(|t| (t.at, t.label.clone())).collect();
        let across = Across { ticks, grid: false, label: (&chart.axis, false) };
        frame.draw(&across, (&chart.unit, chart.log));
        let dashes = DASHES.min(nearest(chart) * 0.45);
        let plot = Plot { frame, shown, dashes, joined: chart.joined };
        for rule in &chart.rules {
            plot.rule(rule);
        }
        for (i, series) in chart.series.iter().enumerate() {
            match plot.joined {
                true => plot.ceiling(series, i),
                false => plot.ceilings(series, i),
            }
        }
        for (i, series) in chart.series.iter().enumerate().rev() {
            plot.series(series, i);
        }
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

impl Plot<'_> {
    /// A thin rule: dashes where the machine reports something, a line where it was measured.
    fn rule(&self, rule: &Rule) {
        let at = x(rule.at);
        if rule.measured {
            self.frame.canvas.line(&[(at, TOP), (at, BOTTOM)], Ink::Muted, 1);
            let label = format!("{} measured", short(&rule.label, 6));
            return self.frame.canvas.text(&label, (at - 5.0, TOP + 10.0), At::End, 12, Ink::Muted);
        }
        self.frame.canvas.dashed((at, TOP - 8.0), (at, BOTTOM), Ink::Muted);
        let label = short(&rule.label, 12);
        let half = half(&label);
        let text = at.clamp(LEFT + 20.0 + half, RIGHT - half);
        self.frame.canvas.text(&label, (text, TOP - 18.0), At::Middle, 12, Ink::Muted);
    }

    fn ceilings(&self, series: &Series, i: usize) {
        for spot in &series.spots {
            if let Some(ceiling) = spot.mark.ceiling.filter(|c| *c <= self.shown) {
                let (x, y) = (x(spot.at), self.frame.y(ceiling));
                let (from, to) = (x - self.dashes, x + self.dashes);
                self.frame.canvas.dashed((from, y), (to, y), Ink::Series(i));
            }
        }
    }

    /// The ceilings of all values as one line.
    fn ceiling(&self, series: &Series, i: usize) {
        let spots = series.spots.iter().filter_map(|s| Some((x(s.at), s.mark.ceiling?)));
        let shown: Vec<_> = spots.filter(|(_, c)| *c <= self.shown).collect();
        if shown.len() < 2 {
            return self.ceilings(series, i);
        }
        for pair in shown.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|(x, c)| (x, self.frame.y(c)));
            self.frame.canvas.dashed(from, to, Ink::Series(i));
        }
    }

    fn series(&self, series: &Series, i: usize) {
        let points: Vec<(f64, f64)> =
            series.spots.iter().map(|s| (x(s.at), self.frame.y(s.mark.value))).collect();
        if points.len() > 1 {
            self.frame.canvas.line(&points, Ink::Series(i), 2);
        }
        for spot in &series.spots {
            self.mark(spot, i);
        }
    }

    /// An arrow from the burst to what lasted, left of the mark.
    fn fall(&self, [burst, sustained]: [f64; 2], x: f64, i: usize) {
        let (x, from, to) = (x - REACH, self.frame.y(burst), self.frame.y(sustained));
        let back = if to > from { -6.0 } else { 6.0 };
        self.frame.canvas.line(&[(x, from), (x, to)], Ink::Series(i), 2);
        self.frame.canvas.line(
            &[(x - 4.0, to + back), (x, to), (x + 4.0, to + back)],
            Ink::Series(i),
            2,
        )
    }

    fn mark(&self, spot: &Spot, i: usize) {
        let m = &spot.mark;
        let (x, y) = (x(spot.at), self.frame.y(m.value));
        if let Some(fall) = m.fall {
            self.fall(fall, x, i);
        }
        if spot.saturates {
            self.frame.canvas.line(&shape::ring(x, y), Ink::Text, 2);
        }
        shape::draw(self.frame.canvas, i, (x, y));
        if let Some([low, high]) = m.interval {
            let (low, high) = (self.frame.y(low), self.frame.y(high));
            self.frame.canvas.line(&[(x, low), (x, high)], Ink::Text, 1);
            for end in [low, high] {
                self.frame.canvas.line(&[(x - 4.0, end), (x + 4.0, end)], Ink::Text, 1);
            }
        }
        self.frame.canvas.tooltip((x - REACH, y - REACH), (x + REACH, y + REACH), &m.about);
        let sign = doubt(m.verdict);
        if sign.is_empty() {
            return;
        }
        // Next to the ceiling's dashes; where ceilings are a line, below that of the values.
        let aside = DASHES + 6.0;
        let at = if self.joined { (x, y + aside) } else { (x + aside, y) };
        self.frame.canvas.text(sign, at, At::Middle, 14, Ink::Text);
    }
}
