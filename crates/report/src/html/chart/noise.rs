//! The noise of a run over time: one lane per cause or placement on one time axis, with the
//! measured subsystems below.

use proofmark_model::format_seconds;

use super::canvas::{At, Canvas, Ink};
use super::{Figure, key, short};
use crate::view::{Band, Lane, Lanes, NOISE_COLUMNS, NoiseChart, percentage};

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
        left: 240.0,
        lane: 26.0,
        step: 34.0,
        caption: 24.0,
        times: 32.0,
        groups: usize::MAX,
    };
    /// Only the causes that took time, for the first screen.
    pub const BRIEF: Self = Self {
        width: 480.0,
        left: 200.0,
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
    let mut hatched = false;
    let figure = Figure::new([id, &chart.title, &chart.description], layout.width, |canvas| {
        let (mut top, mut ink) = (0.0, 0);
        for group in chart.groups.iter().take(layout.groups) {
            canvas.text(&short(&group.caption, 90), (4.0, top + 10.0), At::Start, Ink::Muted);
            top += layout.caption;
            for lane in &group.lanes {
                hatched |= lane.columns.iter().any(Option::is_none);
                draw_lane(canvas, group, lane, (layout, top, Ink::Series(ink)));
                ink += 1;
                top += layout.step;
            }
        }
        for band in &chart.bands {
            let [from, to] = band.columns.map(|c| layout.x(c));
            canvas.line(&[(from + 1.0, top), (to - 1.0, top)], Ink::Text, 2);
        }
        let rows = names(&chart.bands, layout);
        for name in &rows {
            let at = (name.middle, top + 12.0 + NAME * name.row as f64);
            canvas.text(name.text, at, At::Middle, Ink::Text);
        }
        let last = rows.iter().map(|n| n.row).max().unwrap_or(0);
        let times = top + layout.times + NAME * last as f64;
        let until = format_seconds(chart.seconds);
        canvas.text("0 s", (layout.left, times), At::Start, Ink::Muted);
        canvas.text(&until, (layout.right(), times), At::End, Ink::Muted);
        times + 20.0
    });
    let legend = match hatched {
        true => vec![key("not counted", |c| c.hatch((1.0, 0.0), (25.0, 14.0)))],
        false => Vec::new(),
    };
    Figure { legend, ..figure }
}

/// Width of a letter of a subsystem's name, and height of a row of names.
const LETTER: f64 = 9.5;
const NAME: f64 = 17.0;

/// The name of a subsystem below its band.
#[derive(Debug, PartialEq)]
struct Name<'a> {
    text: &'a str,
    middle: f64,
    /// Number of rows of names above it.
    row: usize,
}

/// Places the name of each subsystem below its widest band. A name that would touch the one before
/// it goes one row further down.
fn names(bands: &[Band], layout: Layout) -> Vec<Name<'_>> {
    let width = |b: &Band| b.columns[1] - b.columns[0];
    let widest = |b: &&Band| {
        let same = bands.iter().filter(|other| other.name == b.name);
        same.max_by_key(|other| width(other)).is_some_and(|w| w.columns == b.columns)
    };
    let (mut names, mut ends): (Vec<Name>, Vec<f64>) = Default::default();
    for band in bands.iter().filter(widest) {
        let [from, to] = band.columns.map(|c| layout.x(c));
        let half = LETTER * band.name.chars().count() as f64 / 2.0;
        let middle = f64::midpoint(from, to).min(layout.width - half);
        let row = ends.iter().position(|end| *end <= middle - half).unwrap_or(ends.len());
        ends.resize(ends.len().max(row + 1), 0.0);
        ends[row] = middle + half;
        names.push(Name { text: &band.name, middle, row });
    }
    names
}

fn draw_lane(canvas: &Canvas, group: &Lanes, lane: &Lane, (layout, top, ink): (Layout, f64, Ink)) {
    let (left, high) = (layout.left, layout.lane);
    let bottom = top + high;
    canvas.text(&short(&lane.name, 22), (4.0, top + high / 2.0), At::Start, Ink::Text);
    let share = format!("{} %", lane.share);
    canvas.text(&share, (left - 8.0, top + high / 2.0), At::End, Ink::Text);
    for [from, to] in unknown(&lane.columns) {
        canvas.hatch((layout.x(from), top), (layout.x(to), bottom));
    }
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

/// Stretches of columns without a value: the first of each, and the one after its last.
fn unknown(columns: &[Option<f64>]) -> Vec<[usize; 2]> {
    let mut all: Vec<[usize; 2]> = Vec::new();
    for (at, _) in columns.iter().enumerate().filter(|(_, share)| share.is_none()) {
        match all.last_mut() {
            Some([_, end]) if *end == at => *end = at + 1,
            _ => all.push([at, at + 1]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(from: usize, to: usize, name: &str) -> Band {
        Band { columns: [from, to], name: name.to_owned() }
    }

    #[test]
    fn every_subsystem_has_its_name() {
        let bands = [
            band(0, 20, "CPU"),
            band(20, 45, "memory"),
            band(45, 46, "CPU"),
            band(46, 50, "disk"),
            band(50, 51, "GPU"),
            band(51, 52, "network"),
        ];
        for layout in [Layout::FULL, Layout::BRIEF] {
            let names = names(&bands, layout);
            let texts: Vec<&str> = names.iter().map(|n| n.text).collect();
            assert_eq!(texts, ["CPU", "memory", "disk", "GPU", "network"]);
            assert_eq!(names[0].middle, layout.x(10), "below the widest band");
            for (i, a) in names.iter().enumerate() {
                let half = |n: &Name| LETTER * n.text.len() as f64 / 2.0;
                assert!(a.middle + half(a) <= layout.width, "{a:?}");
                for b in names[..i].iter().filter(|b| b.row == a.row) {
                    assert!(a.middle - half(a) >= b.middle + half(b), "{a:?} touches {b:?}");
                }
            }
        }
    }

    #[test]
    fn time_without_a_count_is_not_shown_as_zero() {
        let (none, zero) = (None, Some(0.0));
        assert_eq!(unknown(&[none, none, zero, zero, none]), [[0, 2], [4, 5]]);
        assert!(unknown(&[zero; 3]).is_empty());
        let lane =
            |columns: Vec<Option<f64>>| Lane { name: "steal".into(), share: "0.0".into(), columns };
        let drawn = |columns: Vec<Option<f64>>| {
            let lanes = Lanes { caption: String::new(), top: 1.0, lanes: vec![lane(columns)] };
            let chart = NoiseChart {
                title: String::new(),
                description: String::new(),
                seconds: 1.0,
                groups: vec![lanes],
                bands: Vec::new(),
            };
            noise(&chart, "x", Layout::BRIEF)
        };
        let lines = |f: &Figure| f.svg.matches("<polyline").count();
        let [counted, gaps] =
            [vec![zero; 52], [vec![zero; 26], vec![none; 26]].concat()].map(drawn);
        assert!(lines(&gaps) > lines(&counted) + 10, "{} lines", lines(&gaps));
        assert_eq!(counted.legend.len(), 0);
        assert_eq!(gaps.legend[0].name, "not counted");
    }
}
