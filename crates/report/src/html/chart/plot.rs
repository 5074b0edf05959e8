//! A chart over two axes: grid, rules, lines with ceilings and error bars, and narrow plots below
//! over the same axis.

use super::canvas::{At, Canvas, Ink};
use super::{Figure, doubt, short};
use crate::view::{Axis, Chart, Kind, Mark, Panel, Rule, RuleKind, Series, Spot, ends};

use self::legend::{legend, numbered};

mod legend;

/// Minimum distance of the plot from the left edge, which holds the labels of the vertical axis.
const LEFT: f64 = 64.0;
/// Distance of these labels from the plot and from the edge.
const BESIDE: f64 = 12.0;
const TOP: f64 = 40.0;
/// Height of a narrow plot below.
const PANEL: f64 = 52.0;
/// Distance from one plot to the next, which holds the next one's name.
const GAP: f64 = 32.0;
/// Height below the last plot.
const FOOT: f64 = 50.0;
/// Widest character of a label, also on a narrow screen, where letters are larger.
const LETTER: f64 = 10.0;
/// Typical width of a character, for labels that must be kept even if they nearly touch.
const NAMED: f64 = 7.5;
/// Maximum half width of a ceiling's dashes.
const DASHES: f64 = 14.0;
/// Number of samples up to which each has its own dot.
const FEW: usize = 90;
/// Number of vertical strips in which a pointer finds a value.
const STRIPS: usize = 160;

struct Plot<'a> {
    canvas: &'a Canvas,
    x: &'a Axis,
    y: &'a Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Draws a chart over two axes.
pub fn figure(chart: &Chart, id: &str) -> Figure {
    let has = |kind| chart.series.iter().any(|s| s.kind == kind);
    let [width, right, end] = match (has(Kind::Samples) || !chart.below.is_empty(), has(Kind::Roof))
    {
        (true, _) => [720.0, 700.0, 250.0],
        (_, true) => [720.0, 530.0, 300.0],
        _ => [480.0, 462.0, 250.0],
    };
    let bottom = end + (GAP + PANEL) * chart.below.len() as f64;
    let scales: Vec<Axis> = chart.below.iter().map(scale).collect();
    let labels = scales.iter().chain([&chart.y]).flat_map(|axis| &axis.ticks);
    let left = labels.map(|t| wide(&t.label, LETTER) + BESIDE).fold(LEFT, f64::max);
    let figure = Figure::new([id, &chart.title, &chart.description], width, |canvas| {
        let plot = Plot { canvas, x: &chart.x, y: &chart.y, left, right, top: TOP, bottom: end };
        plot.grid();
        canvas.text(&short(&chart.y.label, 24), (4.0, 10.0), At::Start, Ink::Muted);
        if !chart.beyond.is_empty() {
            let beyond = format!("↑ {}", short(&chart.beyond, 36));
            canvas.text(&beyond, (right, 10.0), At::End, Ink::Muted);
        }
        plot.labels(width, bottom);
        plot.rules(&chart.rules, width);
        plot.series(&chart.series);
        for (i, (panel, y)) in chart.below.iter().zip(&scales).enumerate() {
            let top = end + (GAP + PANEL) * i as f64 + GAP;
            Plot { y, top, bottom: top + PANEL, ..plot }.panel(panel);
        }
        bottom + FOOT
    });
    let (key, left_out) = (chart.key.clone(), chart.left_out.clone());
    Figure { legend: legend(chart), key, left_out, ..figure }
}

/// The vertical axis of a narrow plot.
fn scale(panel: &Panel) -> Axis {
    Axis::linear(&panel.name[1], panel.points.iter().map(|p| p[1]))
}

/// The maximum width of a label; the thin spaces of numbers count as nothing.
fn wide(label: &str, letter: f64) -> f64 {
    label.chars().filter(|c| *c != '\u{202f}').count() as f64 * letter
}

impl Plot<'_> {
    fn across(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.place(value)
    }

    fn up(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.y.place(value)
    }

    fn at(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        (self.across(x), self.up(y))
    }

    fn line(&self, line: &[[f64; 2]]) -> Vec<(f64, f64)> {
        line.iter().filter(|p| p.iter().all(|v| v.is_finite())).map(|p| self.at(*p)).collect()
    }

    /// Draws grid lines with the values of the vertical axis; a low plot shows only those at the
    /// ends.
    fn grid(&self) {
        for tick in self.x.ticks.iter().filter(|_| !self.x.named) {
            let x = self.across(tick.at);
            self.canvas.line(&[(x, self.top), (x, self.bottom)], Ink::Grid, 1);
        }
        let last = self.y.ticks.len().saturating_sub(1);
        for (i, tick) in self.y.ticks.iter().enumerate() {
            if self.bottom - self.top > PANEL || i == 0 || i == last {
                let y = self.up(tick.at);
                let ink = if tick.at == 0.0 { Ink::Muted } else { Ink::Grid };
                self.canvas.line(&[(self.left, y), (self.right, y)], ink, 1);
                self.canvas.text(&tick.label, (self.left - 8.0, y), At::End, Ink::Muted);
            }
        }
    }

    /// Draws the labels of the horizontal axis; one that would touch the one before it is left out.
    fn labels(&self, width: f64, bottom: f64) {
        let mut free = 0.0;
        for tick in &self.x.ticks {
            let label = short(&tick.label, 10);
            let widest = wide(&label, LETTER) / 2.0;
            let half = if self.x.named { wide(&label, NAMED) / 2.0 } else { widest };
            let middle = self.across(tick.at).min(width - widest);
            if middle - half >= free {
                self.canvas.text(&label, (middle, bottom + 16.0), At::Middle, Ink::Text);
                free = middle + half + 6.0;
            }
        }
        let below = (f64::midpoint(self.left, self.right), bottom + 38.0);
        self.canvas.text(&short(&self.x.label, 50), below, At::Middle, Ink::Muted);
    }

    /// Draws vertical rules with their labels above; a label that would touch the one before is
    /// left out.
    fn rules(&self, rules: &[Rule], width: f64) {
        let mut free = self.left + 20.0;
        for rule in rules {
            let x = self.across(rule.at);
            let line = [(x, self.top - 8.0), (x, self.bottom)];
            let (label, ink) = match rule.kind {
                RuleKind::Reported => (short(&rule.label, 12), Ink::Muted),
                RuleKind::Measured => (format!("{} measured", short(&rule.label, 6)), Ink::Muted),
                RuleKind::Change => (short(&rule.label, 12), Ink::Text),
            };
            match rule.kind {
                RuleKind::Reported => self.canvas.dashed(&line, ink),
                RuleKind::Measured => {
                    self.canvas.line(&line[..], ink, 1);
                    self.canvas.text(&label, (x - 5.0, self.top + 10.0), At::End, ink);
                    continue;
                }
                RuleKind::Change => self.canvas.line(&line, ink, 2),
            }
            let half = wide(&label, if rule.about.is_empty() { NAMED } else { LETTER }) / 2.0;
            let middle = x.min(width - half).max(self.left + 20.0 + half);
            let mut reach = [x - 5.0, x + 5.0];
            if middle - half >= free {
                self.canvas.text(&label, (middle, self.top - 18.0), At::Middle, ink);
                free = middle + half;
                reach = [reach[0].min(middle - half), reach[1].max(middle + half)];
            }
            if !rule.about.is_empty() {
                let top = self.top - 8.0;
                self.canvas.tooltip((reach[0], top - 18.0), (reach[1], top), &rule.about);
                self.canvas.tooltip((x - 5.0, top), (x + 5.0, self.bottom), &rule.about);
            }
        }
    }

    /// Draws the series from back to front; the first line is on top.
    fn series(&self, all: &[Series]) {
        let gaps = all.iter().flat_map(|s| s.spots.windows(2));
        let nearest = gaps.map(|p| self.across(p[1].at) - self.across(p[0].at));
        let dashes = DASHES.min(nearest.fold(f64::INFINITY, f64::min).abs() * 0.45);
        for (i, series) in numbered(all) {
            self.ceilings(series, i, dashes);
        }
        let mut free = 0.0;
        for roof in all.iter().filter(|s| s.kind == Kind::Roof) {
            let Some((x, y)) = self.line(&roof.line).last().copied() else { continue };
            let y = y.max(free);
            self.canvas.text(&short(&roof.name, 24), (x + 8.0, y), At::Start, Ink::Text);
            free = y + 17.0;
        }
        for (i, series) in numbered(all).rev() {
            let line = self.line(&series.line);
            let draw = |ink, width| {
                if line.len() > 1 {
                    self.canvas.line(&line, ink, width);
                }
            };
            match series.kind {
                Kind::Line => draw(Ink::Series(i), 2),
                Kind::Samples => draw(Ink::Series(0), 1),
                Kind::Level => draw(Ink::Series(1), 3),
                Kind::Roof => draw(Ink::Text, 2),
                Kind::Trend => self.canvas.dashed(&line, Ink::Text),
                Kind::Cross => series.spots.iter().for_each(|s| self.cross(s)),
            }
            match (series.kind, line.as_slice(), series.spots.as_slice()) {
                (Kind::Line, _, spots) => self.spots(spots, i),
                (Kind::Samples, ..) => self.samples(&series.line, Ink::Series(0)),
                (Kind::Level | Kind::Roof, [(left, high), .., (right, low)], [spot, ..]) => {
                    let to = (*right, low + 6.0);
                    self.canvas.tooltip((*left, high - 6.0), to, &spot.mark.about);
                }
                _ => {}
            }
        }
    }

    /// Draws dashes at the ceilings on the axis, and the interval of a level as a band.
    fn ceilings(&self, series: &Series, i: usize, dashes: f64) {
        let ink = if series.kind == Kind::Roof { Ink::Ceiling } else { Ink::Series(i) };
        let shown = |c: &f64| self.y.holds(*c);
        let joined: Vec<[f64; 2]> =
            series.ceiling.iter().copied().filter(|[_, c]| shown(c)).collect();
        if joined.len() > 1 {
            return self.canvas.dashed(&self.line(&joined), ink);
        }
        for spot in &series.spots {
            if let Some(ceiling) = spot.mark.ceiling.filter(shown) {
                let (x, y) = self.at([spot.at, ceiling]);
                self.canvas.dashed(&[(x - dashes, y), (x + dashes, y)], ink);
            }
            if let (Kind::Level, Some([low, high]), [from, .., to]) =
                (series.kind, spot.mark.interval, series.line.as_slice())
            {
                self.canvas.block(self.at([from[0], low]), self.at([to[0], high]), Ink::Grid);
            }
        }
    }

    fn spots(&self, spots: &[Spot], i: usize) {
        let mut before = f64::NEG_INFINITY;
        for spot in spots {
            let (x, y) = self.at([spot.at, spot.mark.value]);
            self.arrow(&spot.mark, x - 10.0, i);
            if spot.saturates {
                self.canvas.ring((x, y));
            }
            self.canvas.sign((x, y), i);
            if let Some([low, high]) = spot.mark.interval {
                self.canvas.whisker((x, self.up(low)), (x, self.up(high)));
            }
            self.canvas.tooltip_at((x, y), &spot.mark.about);
            let text = [short(&spot.label, 8), doubt(spot.mark.verdict).to_owned()].join(" ");
            self.label(text.trim(), (x, y), spot.at < before);
            before = spot.at;
        }
    }

    /// Places a label below a sign, on the side to which no curve rises. At the bottom, and without
    /// room on the right, it is above. `back`: the curve comes from the right.
    fn label(&self, text: &str, (x, y): (f64, f64), back: bool) {
        let (wide, end) = (wide(text, LETTER), self.right + 18.0);
        let above = ((x.min(end - wide / 2.0), y - 16.0), At::Middle);
        let (at, side) = match (y > self.bottom - 24.0, back) {
            (true, _) => above,
            (false, false) if x + 9.0 + wide > end => above,
            (false, false) => ((x + 9.0, y + 11.0), At::Start),
            (false, true) => ((x - 9.0, y + 11.0), At::End),
        };
        if !text.is_empty() {
            self.canvas.text(text, at, side, Ink::Text);
        }
    }

    /// Draws an arrow from the burst to the sustained rate.
    fn arrow(&self, mark: &Mark, x: f64, i: usize) {
        let Some([from, to]) = mark.fall.map(|ends| ends.map(|v| self.up(v))) else { return };
        let back = if to > from { to - 6.0 } else { to + 6.0 };
        self.canvas.line(&[(x, from), (x, to)], Ink::Series(i), 2);
        self.canvas.line(&[(x - 4.0, back), (x, to), (x + 4.0, back)], Ink::Series(i), 2);
    }

    fn cross(&self, spot: &Spot) {
        let (x, y) = self.at([spot.at, spot.mark.value]);
        for (r, ink, width) in [(7.0, Ink::Page, 3), (6.0, Ink::Text, 2)] {
            self.canvas.line(&[(x - r, y), (x + r, y)], ink, width);
            self.canvas.line(&[(x, y - r), (x, y + r)], ink, width);
        }
        self.canvas.text(&short(&spot.label, 20), (x + 12.0, y + 12.0), At::Start, Ink::Text);
        self.canvas.tooltip_at((x, y), &spot.mark.about);
    }

    /// Draws a dot per sample if they are few, and strips whose tooltips give the values.
    fn samples(&self, all: &[[f64; 2]], ink: Ink) {
        if all.len() <= FEW {
            self.line(all).into_iter().for_each(|at| self.canvas.dot(at, ink));
        }
        let (time, unit) = (self.x.label.rsplit(", ").next().unwrap_or_default(), &self.y.label);
        for strip in all.chunks(all.len().div_ceil(STRIPS).max(1)) {
            let [[from, to], [least, most]] = [0, 1].map(|i| ends(strip.iter().map(|p| p[i])));
            let [first, last, low, high] = [from, to, least, most].map(digits);
            let text = match strip.len() {
                1 => format!("{first} {time}: {low} {unit}"),
                n => format!("{first} to {last} {time}: {low} to {high} {unit}, {n} samples"),
            };
            let (from, to) = (self.across(from), self.across(to));
            let to = ((to + 1.0).max(from + 3.0), self.bottom);
            self.canvas.tooltip((from - 1.0, self.top), to, &text);
        }
    }

    /// Draws a narrow plot below, with its name.
    fn panel(&self, panel: &Panel) {
        self.grid();
        let name = short(&panel.name.join(", "), 50);
        self.canvas.text(&name, (self.left, self.top - 11.0), At::Start, Ink::Text);
        let line = self.line(&panel.points);
        if line.len() > 1 {
            self.canvas.line(&line, Ink::Series(2), 2);
        }
        let named = (self.left + wide(&name, LETTER).min(self.right - self.left), self.top - 2.0);
        let about = format!("{name}: {}", panel.about);
        self.canvas.tooltip((self.left, self.top - 20.0), named, &about);
        self.samples(&panel.points, Ink::Series(2));
    }
}

/// A number with four significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let after = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.after$}")
}

#[cfg(test)]
mod tests {
    use proofmark_model::Reliance;

    use super::*;

    /// Left ends of the texts that end at a place, with their letters as wide as on a narrow screen.
    fn left_ends(svg: &str) -> Vec<f64> {
        let ends = svg.split("<text class=\"m end\" x=\"").skip(1);
        let text = |part: &str| {
            let (x, rest) = part.split_once('"').unwrap();
            let text = rest.split(['>', '<']).nth(1).unwrap().trim().to_owned();
            x.parse::<f64>().unwrap() - wide(&text, LETTER)
        };
        ends.map(text).collect()
    }

    fn chart(values: &[f64], ceiling: Option<f64>, log: bool) -> Chart {
        let mark = |value: f64| Mark { value, ceiling, ..Mark::default() };
        let spot = |(i, v): (usize, &f64)| Spot { at: i as f64, mark: mark(*v), ..Spot::default() };
        let series = Series::through("figure", values.iter().enumerate().map(spot).collect());
        let x = Axis::named("threads", vec!["1".to_owned(); values.len()]);
        Chart::new("title".to_owned(), x, ["MB/s", "threads"], log, vec![series])
    }

    #[test]
    fn labels_of_the_vertical_axis_are_whole() {
        for (values, log) in [
            (&[2e-7, 9e-7][..], false),
            (&[1e5, 9.9e6], false),
            (&[1.0, 9.9e6], true),
            (&[3e-8, 0.2], true),
            (&[1.0, 2.0], false),
        ] {
            let svg = figure(&chart(values, None, log), "x").svg;
            let ends = left_ends(&svg);
            assert!(ends.len() > 1 && ends.iter().all(|x| *x >= 0.0), "{values:?}: {ends:?}");
        }
    }

    #[test]
    fn a_ceiling_far_above_the_values_is_a_text() {
        let far = chart(&[8.0, 10.0], Some(830.0), false);
        assert!(far.y.ends[1] < 20.0, "{:?}", far.y.ends);
        assert!(figure(&far, "x").svg.contains("↑ ceiling 830.0"));
        let mut assumed = far.series.clone();
        for spot in &mut assumed[0].spots {
            spot.mark.doubt_of_ceiling = Some(Reliance::Assumed);
        }
        let x = Axis::named("threads", Vec::new());
        let assumed = Chart::new(String::new(), x, ["MB/s", "threads"], false, assumed);
        assert_eq!(assumed.beyond, "assumed ceiling 830.0");
        let near = chart(&[8.0, 10.0], Some(11.0), false);
        assert!(near.y.ends[1] >= 11.0 && near.beyond.is_empty());
        let log = chart(&[1.0, 100.0], Some(1e4), true);
        assert!(log.y.ends[1] < 500.0 && log.beyond == "ceiling 10000", "{}", log.beyond);
    }
}
