//! Times of single operations: a distribution, or what they grow to with the
//! throughput. Two axes of numbers, a curve per series, signs on it where the view marks it.

use super::axis::Axis;
use super::canvas::{At, Canvas, Ink};
use super::frame::{Across, BOTTOM, Frame, REACH, SIZE, widest, x};
use super::{doubt, shape, short};
use crate::view::{Along, Curve, LatencyChart, Point};

/// Height above the axis that a label needs.
const FOOT: f64 = 24.0;

/// Share of a labelled value down to which a logarithmic axis reaches, so that the label has
/// place below its sign.
const BELOW: f64 = 0.4;

/// The plot's places.
struct Plot<'a> {
    frame: Frame<'a>,
    x: Axis,
}

/// The inside of the SVG.
pub fn draw(chart: &LatencyChart) -> String {
    let corners = |i: usize| {
        let points = |c: &Curve| c.points.iter().map(|p| p.at).collect::<Vec<_>>();
        let all =
            chart.curves.iter().flat_map(move |c| points(c).into_iter().chain(c.line.clone()));
        all.map(move |at| at[i])
    };
    let axis = |along: &Along, i: usize| match along.log {
        true => Axis::log(corners(i)),
        false => Axis::over(corners(i)),
    };
    let x = axis(&chart.x, 0);
    let labels = chart.curves.iter().flat_map(|c| &c.points).filter(|p| !p.label.is_empty());
    let below = labels.map(|p| p.at[1] * BELOW);
    let y = match chart.y.log {
        true => Axis::log(corners(1).chain(below)),
        false => axis(&chart.y, 1),
    };
    Canvas::draw(|canvas| {
        let plot = Plot { frame: Frame { canvas, axis: y }, x };
        let ticks = plot.x.ticks().into_iter().map(|(value, label)| (plot.x.place(value), label));
        let label = (chart.x.label.as_str(), chart.x.log);
        let across = Across { ticks: ticks.collect(), grid: true, label };
        plot.frame.draw(&across, (&chart.y.label, chart.y.log));
        for (i, curve) in chart.curves.iter().enumerate().rev() {
            plot.curve(curve, i);
        }
    })
}

impl Plot<'_> {
    fn at(&self, [across, up]: [f64; 2]) -> (f64, f64) {
        (x(self.x.place(across)), self.frame.y(up))
    }

    fn curve(&self, curve: &Curve, i: usize) {
        let line: Vec<(f64, f64)> = curve.line.iter().map(|at| self.at(*at)).collect();
        if line.len() > 1 {
            self.frame.canvas.line(&line, Ink::Series(i), 2);
        }
        let mut before = f64::NEG_INFINITY;
        curve.points.iter().for_each(|p| {
            let back = p.at[0] < before;
            before = p.at[0];
            self.point(p, i, back)
        })
    }

    /// A sign with its label; `back` where the curve comes from the right.
    fn point(&self, point: &Point, i: usize, back: bool) {
        let (x, y) = self.at(point.at);
        shape::draw(self.frame.canvas, i, (x, y));
        self.frame.canvas.tooltip((x - REACH, y - REACH), (x + REACH, y + REACH), &point.about);
        let text = [short(&point.label, 8), point.verdict.map_or("", doubt).to_owned()].join(" ");
        // Below the sign, on the side to which no curve rises; at the bottom, and where there is
        // no room on the right, above it.
        let (wide, right) = (widest(text.trim()), f64::from(SIZE.0));
        let above = (x.min(right - wide / 2.0), y - 16.0);
        let (at, side) = match (y > BOTTOM - FOOT, back) {
            (true, _) => (above, At::Middle),
            (false, false) if x + 9.0 + wide > right => (above, At::Middle),
            (false, false) => ((x + 9.0, y + 11.0), At::Start),
            (false, true) => ((x - 9.0, y + 11.0), At::End),
        };
        match text.trim() {
            "" => {}
            text => self.frame.canvas.text(text, at, side, 12, Ink::Text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_model::Verdict;

    fn chart(values: &[f64], log: bool) -> LatencyChart {
        let along = || Along { label: "<u>".into(), log };
        let point = |v: &f64| Point {
            at: [*v, *v],
            label: "<8>".into(),
            about: "<b>".into(),
            verdict: Some(Verdict::Suspect),
        };
        let curve = Curve {
            name: "<i>".into(),
            line: values.iter().map(|v| [*v, 50.0]).collect(),
            points: values.iter().map(point).collect(),
        };
        LatencyChart {
            title: String::new(),
            description: String::new(),
            x: along(),
            y: along(),
            curves: vec![curve],
            key: String::new(),
            left_out: String::new(),
        }
    }

    #[test]
    fn any_value_can_be_drawn_and_text_is_escaped() {
        for values in [&[][..], &[0.0], &[1e-300, 9e6], &[-5.0, 5.0], &[f64::NAN, 1.0]] {
            for log in [false, true] {
                let svg = draw(&chart(values, log));
                assert!(!svg.contains("NaN") && !svg.contains("<u>") && !svg.contains("<8>"));
                assert_eq!(svg.matches("<title>&lt;b&gt;</title>").count(), values.len());
                let signs = svg.lines().filter(|l| l.trim() == "&lt;8&gt; !").count();
                assert_eq!(signs, values.len(), "a suspect point has its sign: {svg}");
            }
        }
    }

    #[test]
    fn a_label_at_the_right_end_stays_inside() {
        let mut wide = chart(&[1.0, 100.0], false);
        wide.curves[0].points[1].label = "20.0 %".into();
        let svg = draw(&wide);
        let lines: Vec<&str> = svg.lines().collect();
        let at = lines.iter().position(|l| l.trim() == "20.0 % !").unwrap();
        let place = |name: &str| {
            let from = lines[at - 1].split(&format!(" {name}=\"")).nth(1).unwrap();
            from.split('"').next().unwrap().to_owned()
        };
        let (middle, x): (String, f64) = (place("text-anchor"), place("x").parse().unwrap());
        assert_eq!(middle, "middle");
        assert!(x + widest("20.0 % !") / 2.0 <= f64::from(SIZE.0), "{x}");
    }
}
