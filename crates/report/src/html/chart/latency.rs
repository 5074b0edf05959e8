//! Times of single operations: a distribution, or what they grow to with the
//! throughput. Two axes of numbers, a curve a series, signs on it where the view marks it.

use super::axis::Axis;
use super::canvas::{At, Canvas, Failed, Ink};
use super::{doubt, shape, short};
use crate::view::{Along, Curve, LatencyChart, Point};

/// Of the view box.
pub const SIZE: (u32, u32) = (480, 300);

const LEFT: f64 = 64.0;
const RIGHT: f64 = 462.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 250.0;
/// How far from a mark a pointer still finds it.
const REACH: f64 = 10.0;
/// Height above the axis that a label needs.
const FOOT: f64 = 24.0;
/// Widest character of a label, so that two do not touch.
const LETTER: f64 = 7.5;
/// The same on a narrow screen, where letters are larger.
const WIDEST: f64 = 10.0;
/// Between two labels.
const GAP: f64 = 6.0;

/// The plot's places.
struct Plot<'a, 'b> {
    canvas: &'a Canvas<'b>,
    x: Axis,
    y: Axis,
}

/// The inside of the SVG.
///
/// # Errors
/// What the drawing library said.
pub fn draw(chart: &LatencyChart) -> Result<String, Failed> {
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
    let (x, y) = (axis(&chart.x, 0), axis(&chart.y, 1));
    Canvas::draw(SIZE, |canvas| {
        let plot = Plot { canvas, x, y };
        plot.frame(chart)?;
        for (i, curve) in chart.curves.iter().enumerate().rev() {
            plot.curve(curve, i)?;
        }
        Ok(())
    })
}

/// The label of an axis, which says if it is logarithmic.
fn label(along: &Along, most: usize) -> String {
    let text = short(&along.label, most);
    if along.log { format!("{text}, log") } else { text }
}

impl Plot<'_, '_> {
    fn at(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        let x = LEFT + (RIGHT - LEFT) * self.x.place(x);
        (x, BOTTOM - (BOTTOM - TOP) * self.y.place(y))
    }

    fn frame(&self, chart: &LatencyChart) -> Result<(), Failed> {
        for (value, label) in self.y.ticks() {
            let y = BOTTOM - (BOTTOM - TOP) * self.y.place(value);
            self.canvas.line(&[(LEFT, y), (RIGHT, y)], Ink::Grid, 1)?;
            self.canvas.text(&label, (LEFT - 8.0, y), At::End, 15, Ink::Muted)?;
        }
        let mut free = 0.0;
        for (value, label) in self.x.ticks() {
            let x = LEFT + (RIGHT - LEFT) * self.x.place(value);
            self.canvas.line(&[(x, TOP), (x, BOTTOM)], Ink::Grid, 1)?;
            let half = label.chars().count() as f64 * LETTER / 2.0;
            if x - half >= free {
                let widest = label.chars().count() as f64 * WIDEST / 2.0;
                let inside = x.min(f64::from(SIZE.0) - widest);
                self.canvas.text(&label, (inside, BOTTOM + 16.0), At::Middle, 15, Ink::Text)?;
                free = x + half + GAP;
            }
        }
        self.canvas.text(&label(&chart.y, 20), (4.0, 10.0), At::Start, 15, Ink::Muted)?;
        let below = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
        self.canvas.text(&label(&chart.x, 40), below, At::Middle, 15, Ink::Muted)
    }

    fn curve(&self, curve: &Curve, i: usize) -> Result<(), Failed> {
        let line: Vec<(f64, f64)> = curve.line.iter().map(|at| self.at(*at)).collect();
        if line.len() > 1 {
            self.canvas.line(&line, Ink::Series(i), 2)?;
        }
        curve.points.iter().try_for_each(|p| self.point(p, i))
    }

    fn point(&self, point: &Point, i: usize) -> Result<(), Failed> {
        let (x, y) = self.at(point.at);
        shape::draw(self.canvas, i, (x, y))?;
        self.canvas.tell((x - REACH, y - REACH), (x + REACH, y + REACH), &point.about);
        let text = [short(&point.label, 8), doubt(point.verdict).to_owned()].join(" ");
        // Below the sign, on the side to which no curve rises; at the bottom above it.
        let at = if y > BOTTOM - FOOT { (x, y - 16.0) } else { (x + 9.0, y + 11.0) };
        let side = if y > BOTTOM - FOOT { At::Middle } else { At::Start };
        match text.trim() {
            "" => Ok(()),
            text => self.canvas.text(text, at, side, 15, Ink::Text),
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
            verdict: Verdict::Suspect,
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
                let svg = draw(&chart(values, log)).unwrap();
                assert!(!svg.contains("NaN") && !svg.contains("<u>") && !svg.contains("<8>"));
                assert_eq!(svg.matches("<title>&lt;b&gt;</title>").count(), values.len());
                let signs = svg.lines().filter(|l| l.trim() == "&lt;8&gt; !").count();
                assert_eq!(signs, values.len(), "a suspect point has its sign: {svg}");
            }
        }
    }
}
