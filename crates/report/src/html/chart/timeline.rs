//! One value over time: samples as a thin line, levels as thick ones over the band of their
//! interval, the trend in dashes, changes as upright lines with a label; below it, on the same
//! time axis, a narrow panel for each thing that the system did meanwhile.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::frame::{half, widest};
use super::{Key, doubt, shape, short};
use crate::view::{Change, Sample, Step, SystemCurve, Timeline};

const WIDTH: u32 = 720;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 270.0;
/// From the lower end of one plot to the upper end of the next, which holds its name.
const GAP: f64 = 32.0;
/// Height of a panel.
const PANEL: f64 = 52.0;
/// Below the last plot.
const FOOT: f64 = 50.0;
/// Samples up to which each has a sign of its own.
const FEW: usize = 90;
/// Upright strips in which a pointer finds a value.
const STRIPS: usize = 160;
/// How far left and right of a change a pointer still finds it.
const REACH: f64 = 5.0;
/// Half the height in which a pointer finds a level.
const THICK: f64 = 6.0;

/// Of the view box.
pub fn size(chart: &Timeline) -> (u32, u32) {
    (WIDTH, (bottom(chart) + FOOT) as u32)
}

/// The lower end of the last plot.
fn bottom(chart: &Timeline) -> f64 {
    BOTTOM + (GAP + PANEL) * chart.system.len() as f64
}

/// How the sign of a legend is drawn.
type Draw<'a> = &'a dyn Fn(&Canvas);

/// What its lines are, as far as there are any.
pub fn legend(chart: &Timeline) -> Vec<Key> {
    let band = [(1.0, 2.0), (25.0, 2.0), (25.0, 12.0), (1.0, 12.0)];
    let all: [(bool, &str, Draw); 4] = [
        (!chart.samples.is_empty(), "samples", &|c| {
            c.line(&[(1.0, 9.0), (9.0, 5.0), (17.0, 9.0), (25.0, 5.0)], Ink::Series(0), 1)
        }),
        (!chart.levels.is_empty(), "level with its 95 % interval", &|c| {
            c.fill(&band, Ink::Grid);
            c.line(&[(1.0, 7.0), (25.0, 7.0)], Ink::Series(1), 3)
        }),
        (!chart.changes.is_empty(), "change of level", &|c| {
            c.line(&[(13.0, 0.0), (13.0, 14.0)], Ink::Text, 2)
        }),
        (chart.trend.is_some(), "trend", &|c| c.dashed((1.0, 7.0), (25.0, 7.0), Ink::Text)),
    ];
    let there = all.into_iter().filter(|(there, ..)| *there);
    there.map(|(_, name, draw)| Key { sign: shape::framed(draw), name: name.to_owned() }).collect()
}

/// The inside of the SVG.
pub fn draw(chart: &Timeline) -> String {
    let levels = chart.levels.iter().flat_map(|l| {
        let [low, high] = l.interval.unwrap_or([l.value; 2]);
        [l.value, low, high]
    });
    let trend = chart.trend.iter().flatten().map(|at| at[1]);
    let values = chart.samples.iter().map(|s| s.value).chain(levels).chain(trend);
    let end = if chart.until.is_finite() && chart.until > 0.0 { chart.until } else { 1.0 };
    Canvas::draw(|canvas| {
        let time = Time::until(end);
        let plot = Plot { canvas, time: &time, axis: Axis::over(values), span: [TOP, BOTTOM] };
        plot.grid(usize::MAX);
        canvas.text(&short(&chart.unit, 24), (4.0, 10.0), At::Start, 12, Ink::Muted);
        if let sign @ ("!" | "✗") = doubt(chart.verdict) {
            let text = format!("{sign} {}", chart.verdict);
            canvas.text(&text, (RIGHT, 10.0), At::End, 12, Ink::Text);
        }
        chart.levels.iter().for_each(|l| plot.band(l));
        plot.samples(&chart.samples, &chart.axis, &chart.unit);
        chart.levels.iter().for_each(|l| plot.level(l));
        if let Some([from, to]) = chart.trend {
            canvas.dashed(plot.at(from[0], from[1]), plot.at(to[0], to[1]), Ink::Text);
        }
        plot.changes(&chart.changes);
        for (i, curve) in chart.system.iter().enumerate() {
            panel(canvas, &time, curve, i, &chart.axis);
        }
        time.labels(canvas, bottom(chart), &chart.axis)
    })
}

/// The time axis, from 0 to exactly the end.
struct Time {
    axis: Axis,
    end: f64,
}

impl Time {
    fn until(end: f64) -> Self {
        let axis = match Axis::over([end].into_iter()) {
            Axis::Linear { low, step, .. } => Axis::Linear { low, high: end, step },
            other @ Axis::Log { .. } => other,
        };
        Self { axis, end }
    }

    fn x(&self, at: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.axis.place(at)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let inside = |(at, _): &(f64, String)| *at <= self.end * (1.0 + 1e-9);
        self.axis.ticks().into_iter().filter(inside).collect()
    }

    fn labels(&self, canvas: &Canvas, bottom: f64, axis: &str) {
        for (at, label) in self.ticks() {
            let inside = self.x(at).min(f64::from(WIDTH) - widest(&label) / 2.0);
            canvas.text(&label, (inside, bottom + 16.0), At::Middle, 12, Ink::Text);
        }
        let below = ((LEFT + RIGHT) / 2.0, bottom + 38.0);
        canvas.text(&short(axis, 45), below, At::Middle, 12, Ink::Muted);
    }
}

/// One plot over the time axis.
struct Plot<'a> {
    canvas: &'a Canvas,
    time: &'a Time,
    axis: Axis,
    /// Upper and lower end.
    span: [f64; 2],
}

impl Plot<'_> {
    fn at(&self, time: f64, value: f64) -> (f64, f64) {
        let [top, bottom] = self.span;
        (self.time.x(time), bottom - (bottom - top) * self.axis.place(value))
    }

    /// Grid lines, `labels` of them with their values, from the ends inwards.
    fn grid(&self, labels: usize) {
        let [top, bottom] = self.span;
        for (at, _) in self.time.ticks() {
            let x = self.time.x(at);
            self.canvas.line(&[(x, top), (x, bottom)], Ink::Grid, 1);
        }
        let ticks = self.axis.ticks();
        let last = ticks.len().saturating_sub(1);
        for (i, (value, label)) in ticks.iter().enumerate() {
            let (_, y) = self.at(0.0, *value);
            if labels < ticks.len() && i != 0 && i != last {
                continue;
            }
            let ink = if *value == 0.0 { Ink::Muted } else { Ink::Grid };
            self.canvas.line(&[(LEFT, y), (RIGHT, y)], ink, 1);
            self.canvas.text(label, (LEFT - 8.0, y), At::End, 12, Ink::Muted);
        }
    }

    fn samples(&self, samples: &[Sample], axis: &str, unit: &str) {
        let drawn = || samples.iter().filter(|s| s.value.is_finite() && s.at.is_finite());
        let points: Vec<(f64, f64)> = drawn().map(|s| self.at(s.at, s.value)).collect();
        if points.len() > 1 {
            self.canvas.line(&points, Ink::Series(0), 1);
        }
        if points.len() <= FEW {
            points.iter().for_each(|at| self.canvas.dot(*at, 3, Ink::Series(0)));
        }
        let shown: Vec<StripSample> = drawn()
            .map(|s| StripSample { at: s.at, value: s.value, about: Some(&s.about) })
            .collect();
        self.strips(&shown, axis, unit);
    }

    /// Vertical strips whose tooltips give the values in them.
    fn strips(&self, all: &[StripSample], axis: &str, unit: &str) {
        let [top, bottom] = self.span;
        let time = axis.rsplit_once(", ").map_or("", |(_, unit)| unit);
        for strip in all.chunks(all.len().div_ceil(STRIPS).max(1)) {
            let (Some(first), Some(last)) = (strip.first(), strip.last()) else { continue };
            let text = match (strip.len(), first.about) {
                (1, Some(about)) => about.to_owned(),
                (1, None) => {
                    format!("at {} {time}: {} {unit}", digits(first.at), digits(first.value))
                }
                (n, _) => {
                    let (least, most) = strip
                        .iter()
                        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), t| {
                            (least.min(t.value), most.max(t.value))
                        });
                    format!(
                        "{} to {} {time}: {} to {} {unit}, {n} samples",
                        digits(first.at),
                        digits(last.at),
                        digits(least),
                        digits(most)
                    )
                }
            };
            let (from, to) = (self.time.x(first.at), self.time.x(last.at));
            self.canvas.tooltip((from - 1.0, top), ((to + 1.0).max(from + 3.0), bottom), &text);
        }
    }

    fn band(&self, level: &Step) {
        let Some([low, high]) = level.interval else { return };
        let [a, b] = [self.at(level.from, low), self.at(level.until, high)];
        self.canvas.fill(&[a, (b.0, a.1), b, (a.0, b.1)], Ink::Grid);
    }

    fn level(&self, level: &Step) {
        let (from, to) = (self.at(level.from, level.value), self.at(level.until, level.value));
        self.canvas.line(&[from, to], Ink::Series(1), 3);
        self.canvas.tooltip((from.0, from.1 - THICK), (to.0, to.1 + THICK), &level.about);
    }

    /// Upright lines; a label that would touch the one before it is left to the table.
    fn changes(&self, changes: &[Change]) {
        let [top, bottom] = self.span;
        let mut free = LEFT;
        for change in changes {
            let x = self.time.x(change.at);
            self.canvas.line(&[(x, top - 12.0), (x, bottom)], Ink::Text, 2);
            let label = short(&change.label, 12);
            let wide = half(&label).max(widest(&label) / 2.0);
            let middle = x.min(f64::from(WIDTH) - wide);
            let mut reach = (x - REACH, x + REACH);
            if middle - wide >= free {
                self.canvas.text(&label, (middle, top - 22.0), At::Middle, 12, Ink::Text);
                free = middle + wide;
                reach = (reach.0.min(middle - wide), reach.1.max(middle + wide));
            }
            self.canvas.tooltip((reach.0, top - 30.0), (reach.1, top - 12.0), &change.about);
            self.canvas.tooltip((x - REACH, top - 12.0), (x + REACH, bottom), &change.about);
        }
    }
}

/// A value that a strip may show.
struct StripSample<'a> {
    at: f64,
    value: f64,
    about: Option<&'a str>,
}

/// A narrow plot of what the system did.
fn panel(canvas: &Canvas, time: &Time, curve: &SystemCurve, i: usize, axis: &str) {
    let top = BOTTOM + (GAP + PANEL) * i as f64 + GAP;
    let drawn = || curve.points.iter().filter(|p| p.iter().all(|v| v.is_finite()));
    let values = Axis::over(drawn().map(|p| p[1]));
    let plot = Plot { canvas, time, axis: values, span: [top, top + PANEL] };
    plot.grid(2);
    let name = short(&format!("{}, {}", curve.name, curve.unit), 50);
    canvas.text(&name, (LEFT, top - 11.0), At::Start, 12, Ink::Text);
    let points: Vec<(f64, f64)> = drawn().map(|p| plot.at(p[0], p[1])).collect();
    if points.len() > 1 {
        canvas.line(&points, Ink::Series(2), 2);
    } else {
        points.iter().for_each(|at| canvas.dot(*at, 3, Ink::Series(2)));
    }
    let wide = widest(&name).min(RIGHT - LEFT);
    canvas.tooltip(
        (LEFT, top - 20.0),
        (LEFT + wide, top - 2.0),
        &format!("{name}: {}", curve.about),
    );
    let shown: Vec<StripSample> =
        drawn().map(|p| StripSample { at: p[0], value: p[1], about: None }).collect();
    plot.strips(&shown, axis, &name);
}

/// A number with four digits that count.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let after = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.after$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Table;
    use proofmark_model::Verdict;

    fn chart(values: &[f64]) -> Timeline {
        let sample =
            |(i, v): (usize, &f64)| Sample { at: i as f64, value: *v, about: "<s>".into() };
        let until = values.len() as f64;
        let value = values.first().copied().unwrap_or_default();
        Timeline {
            title: "<t>".into(),
            description: "<d>".into(),
            unit: "GB/s <u>".into(),
            axis: "time, s".into(),
            until,
            samples: values.iter().enumerate().map(sample).collect(),
            levels: vec![Step {
                from: 0.0,
                until: until / 2.0,
                value,
                interval: Some([value * 0.9, value * 1.1]),
                about: "<level>".into(),
            }],
            changes: vec![Change { at: until / 2.0, label: "<×>".into(), about: "<c>".into() }],
            trend: Some([[0.0, value], [until, value]]),
            system: vec![SystemCurve {
                name: "<n>".into(),
                unit: "%".into(),
                points: values.iter().enumerate().map(|(i, v)| [i as f64, *v]).collect(),
                about: "<b>".into(),
            }],
            sparkline: String::new(),
            sentences: vec![],
            table: Table::default(),
            left_out: String::new(),
            verdict: Verdict::Suspect,
        }
    }

    #[test]
    fn any_value_can_be_drawn_and_text_is_escaped() {
        for values in [&[][..], &[0.0], &[1e-300, 9e6], &[-5.0, 5.0], &[f64::NAN, 1.0]] {
            let svg = draw(&chart(values));
            for raw in ["NaN", "inf<", "<u>", "<s>", "<level>", "<c>", "<n>", "<b>", "<×>", "\"#"]
            {
                assert!(!svg.contains(raw), "{raw} of {values:?}");
            }
            assert!(svg.contains("&lt;c&gt;") && svg.contains("! suspect"));
            assert_eq!(legend(&chart(values)).len(), 3 + usize::from(!values.is_empty()));
        }
        let mut endless = chart(&[1.0, 2.0]);
        for until in [f64::INFINITY, f64::NAN, 0.0, -1.0, 1e300] {
            endless.until = until;
            assert!(!draw(&endless).contains("NaN"));
        }
    }

    #[test]
    fn a_long_series_tells_its_values_in_strips() {
        let values: Vec<f64> = (0..4096).map(|i| 90.0 + f64::from(i % 10)).collect();
        let svg = draw(&chart(&values));
        let shown = svg.matches("<title>").count();
        assert!((STRIPS..2 * STRIPS + 8).contains(&shown), "{shown}");
        assert!(svg.contains("<title>0 to 25.00 s: 90.00 to 99.00 GB/s &lt;u&gt;, 26 samples"));
        assert!(svg.len() < 400_000, "{}", svg.len());
        let few = draw(&chart(&values[..50]));
        assert_eq!(few.matches("<title>&lt;s&gt;</title>").count(), 50);
        assert_eq!(few.matches("<circle").count(), 50, "each has its dot");
        assert_eq!(svg.matches("<circle").count(), 0);
    }

    #[test]
    fn time_ends_where_the_series_does_and_close_labels_do_not_touch() {
        let mut chart = chart(&[10.0; 590]);
        chart.changes = [100.0, 102.0, 300.0]
            .map(|at| Change { at, label: "× 0.50".into(), about: format!("at {at}") })
            .to_vec();
        let svg = draw(&chart);
        assert_eq!(svg.matches("\n× 0.50\n</text>").count(), 2, "the second touches the first");
        for at in [100, 102, 300] {
            assert_eq!(svg.matches(&format!("<title>at {at}</title>")).count(), 2);
        }
        assert!(svg.contains("\n400\n</text>") && !svg.contains("\n600\n</text>"));
    }
}
