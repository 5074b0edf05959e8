//! The noise of a run over time: one lane per cause or placement on one time axis, with the
//! measured subsystems below.

use proofmark_model::format_seconds;

use super::canvas::{At, Canvas, Ink};
use super::{Figure, short};
use crate::view::{Lane, Lanes, NOISE_COLUMNS, NoiseChart, percentage};

/// Sizes of the chart's parts.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Width of the whole, and left end of the lanes, after their names.
    width: f64,
    left: f64,
    /// Height of a lane, and distance from one to the next.
    lane: f64,
    step: f64,
    /// Height of the caption of a group of lanes.
    caption: f64,
    /// Height from the names of the subsystems to the times.
    times: f64,
    /// Number of groups of lanes that are drawn.
    groups: usize,
}

impl Layout {
    pub const FULL: Self = Self {
        width: 720.0,
        left: 214.0,
        lane: 26.0,
        step: 34.0,
        caption: 24.0,
        times: 32.0,
        groups: usize::MAX,
    };
    /// Only the causes that took time, for the first screen.
    pub const BRIEF: Self = Self {
        width: 480.0,
        left: 186.0,
        lane: 15.0,
        step: 19.0,
        caption: 22.0,
        times: 28.0,
        groups: 1,
    };

    fn right(&self) -> f64 {
        self.width - 20.0
    }

    /// The left end of a column.
    fn x(&self, column: usize) -> f64 {
        self.left + (self.right() - self.left) * column as f64 / NOISE_COLUMNS as f64
    }
}

/// Draws the lanes in that layout.
pub fn noise(chart: &NoiseChart, id: &str, layout: Layout) -> Figure {
    Figure::new([id, &chart.title, &chart.description], layout.width, |canvas| {
        let (mut top, mut ink) = (0.0, 0);
        for group in chart.groups.iter().take(layout.groups) {
            canvas.text(&short(&group.caption, 90), (4.0, top + 10.0), At::Start, Ink::Muted);
            top += layout.caption;
            for lane in &group.lanes {
                draw_lane(canvas, group, lane, (layout, top, Ink::Series(ink)));
                ink += 1;
                top += layout.step;
            }
        }
        for (i, band) in chart.bands.iter().enumerate() {
            let [from, to] = band.columns.map(|c| layout.x(c));
            canvas.line(&[(from + 1.0, top), (to - 1.0, top)], Ink::Text, 2);
            // A narrow band has no room for its name, but the first one is always named.
            if to - from > 8.0 * band.name.len() as f64 || i == 0 {
                let middle = f64::midpoint(from, to);
                canvas.text(&band.name, (middle, top + 12.0), At::Middle, Ink::Text);
            }
        }
        let (times, until) = (top + layout.times, format_seconds(chart.seconds));
        canvas.text("0 s", (layout.left, times), At::Start, Ink::Muted);
        canvas.text(&until, (layout.right(), times), At::End, Ink::Muted);
        times + 20.0
    })
}

fn draw_lane(canvas: &Canvas, group: &Lanes, lane: &Lane, (layout, top, ink): (Layout, f64, Ink)) {
    let (left, high) = (layout.left, layout.lane);
    let bottom = top + high;
    canvas.text(&short(&lane.name, 22), (4.0, top + high / 2.0), At::Start, Ink::Text);
    let share = format!("{} %", lane.share);
    canvas.text(&share, (left - 8.0, top + high / 2.0), At::End, Ink::Text);
    canvas.line(&[(left, bottom), (layout.right(), bottom)], Ink::Grid, 1);
    for (column, share) in lane.columns.iter().enumerate() {
        let Some(share) = share.filter(|s| s.is_finite()) else { continue };
        let height = high * (share / group.top).clamp(0.0, 1.0);
        let [from, to] = [layout.x(column), layout.x(column + 1) - 1.0];
        if height >= 0.5 {
            let high = bottom - height;
            canvas.block((from, high), (to, bottom), ink);
            let text = format!("{}: {}", lane.name, percentage(share).unwrap_or_default());
            canvas.tooltip((from, top), (to, bottom), &text);
        }
    }
}
