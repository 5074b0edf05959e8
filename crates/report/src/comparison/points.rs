//! The compared results as tables.

use proofmark_model::{Better, Comparability, ComparedPoint, Comparison, Verdict, format_factor};

use super::words::{delivered, factor, interval, margin, moved, outcome, values};
use crate::view::{Audience, CellPicture, Columns, Entry, Table, Whisker, clean, joined};

/// Minimum and maximum of the axis' reach: it goes from 1 / reach to reach.
const LEAST: f64 = 1.25;
const MOST: f64 = 8.0;

/// The results by the table that shows them.
pub struct Points {
    /// The main results of A.
    pub first: Vec<Line>,
    /// Slower results, then faster ones, farthest from 1 first.
    pub differing: Vec<Line>,
    /// Results without a difference that is shown.
    pub alike: Vec<Line>,
    /// Results whose figures and rounds contradict each other.
    pub undecided: Vec<Line>,
    /// The axis of all drawings goes from 1 / reach to reach.
    reach: f64,
}

impl Points {
    pub fn sort(c: &Comparison) -> Self {
        let mut differing: Vec<&ComparedPoint> =
            c.points.iter().filter(|p| p.change().differs()).collect();
        let far = |p: &ComparedPoint| {
            let figures = p.headline.iter().chain(moved(p));
            figures.map(|f| f.value.ln().abs()).fold(0.0, f64::max)
        };
        let faster = |p: &ComparedPoint| p.change() == Comparability::Faster;
        differing.sort_by(|p, q| faster(p).cmp(&faster(q)).then(far(q).total_cmp(&far(p))));
        let mut first: Vec<&ComparedPoint> = c.points.iter().filter(|p| p.row.is_some()).collect();
        first.sort_by_key(|p| p.row.as_ref().map(|row| row.place));
        let alike = c.points.iter().filter(|p| p.change() == Comparability::NoDifferenceShown);
        let undecided = c.points.iter().filter(|p| p.undecided());
        let mut all = Self {
            first: first.into_iter().filter_map(Line::from_row).collect(),
            differing: differing.into_iter().map(Line::from_point).collect(),
            alike: alike.map(Line::from_point).collect(),
            undecided: undecided.map(Line::from_point).collect(),
            reach: LEAST,
        };
        let lines = all.differing.iter().chain(&all.alike).chain(&all.undecided);
        let ends = lines
            .filter_map(|l| l.drawn)
            .flat_map(|[_, low, high, margin]| [low.recip(), high, (1.0 - margin).recip()]);
        all.reach = ends.filter(|r| r.is_finite()).fold(LEAST, f64::max).min(MOST);
        all
    }

    pub fn table(&self, lines: &[Line]) -> Table {
        Line::table(lines, self.reach)
    }
}

/// One result as text.
#[derive(Debug, Default)]
pub struct Line {
    workload: String,
    /// The parameters; empty for the only result of a workload.
    name: String,
    /// `lower is better`, or empty.
    direction: &'static str,
    /// The compared figure with its label, and its name where it is not A's headline.
    a: Option<String>,
    b: Option<String>,
    /// B / A.
    ratio: Option<String>,
    interval: Option<String>,
    margin: Option<String>,
    /// The delivered figures, where they differ and another figure is compared.
    delivered_a: Option<String>,
    delivered_b: Option<String>,
    /// B / A of these.
    delivered: Option<String>,
    /// Sign and word of the outcome.
    outcome: &'static str,
    /// The verdict whose colour repeats it.
    color: Option<Verdict>,
    reason: String,
    /// Ratio, ends of its interval and margin as numbers, for a drawing.
    drawn: Option<[f64; 4]>,
}

impl Line {
    /// Takes a main result of A, with the title that it has there.
    fn from_row(p: &ComparedPoint) -> Option<Self> {
        let workload = clean(&p.row.as_ref()?.title);
        Some(Self { workload, name: String::new(), direction: "", ..Self::from_point(p) })
    }

    fn from_point(p: &ComparedPoint) -> Self {
        let [a, b] = values(p);
        let [delivered_a, delivered_b] = delivered(p);
        let headline = p.headline.as_ref();
        let drawn = headline.map(|h| {
            let r = &h.ratio;
            let [low, high] = r.ci95.unwrap_or([h.value; 2]);
            [h.value, low, high, h.margin]
        });
        Self {
            workload: clean(&p.workload),
            name: clean(&p.name),
            direction: if p.better == Better::Lower { "lower is better" } else { "" },
            a,
            b,
            ratio: headline.map(factor),
            interval: headline.and_then(|h| interval(&h.ratio)),
            margin: headline.and_then(|h| margin(h.margin)),
            delivered_a,
            delivered_b,
            delivered: moved(p).map(factor),
            outcome: outcome(p),
            color: match p.change() {
                _ if p.fails() => Some(Verdict::Invalid),
                Comparability::Faster => Some(Verdict::Valid),
                _ => None,
            },
            reason: clean(&p.reason),
            drawn: drawn.filter(|all| all.iter().all(|v| v.is_finite())),
        }
    }

    /// Makes a table of results.
    fn table(lines: &[Self], reach: f64) -> Table {
        let configuration = |l: &Self| joined([&*l.name, l.direction], "; ");
        // The titles of main results include their configurations.
        let named = lines.iter().any(|l| !configuration(l).is_empty());
        let axis = format!("{} to {}", format_factor(reach.recip()), format_factor(reach));
        Columns::new("")
            .column("result", |l: &&Self| l.workload.clone())
            .when(named, |table| table.column("configuration", move |l| configuration(l)))
            .keys()
            .number("A", |l| l.a.clone())
            .spare(2)
            .number("B", |l| l.b.clone())
            .spare(2)
            .number("B / A", |l| l.ratio.clone())
            .number("95 %", |l| l.interval.clone())
            .spare(1)
            .number("margin", |l| l.margin.clone())
            .spare(3)
            .when(lines.iter().any(|l| l.delivered.is_some()), |table| {
                table
                    .number("delivered A", |l| l.delivered_a.clone())
                    .spare(3)
                    .number("delivered B", |l| l.delivered_b.clone())
                    .spare(3)
                    .number("delivered B / A", |l| l.delivered.clone())
            })
            .column(&axis, move |l| {
                Entry::drawn(l.whisker(reach).map(CellPicture::Whisker)).coloured(l.color)
            })
            .only_for(Audience::Page)
            .column("verdict", |l| Entry::from(l.outcome).coloured(l.color))
            .column("reason", |l| l.reason.clone())
            .only_for(Audience::Page)
            .rows(lines)
    }

    /// Returns the ratio on an axis from 1 / reach to reach.
    fn whisker(&self, reach: f64) -> Option<Whisker> {
        let [ratio, low, high, margin] = self.drawn?;
        let place = |r: f64| {
            let share = (r.ln() / reach.ln()).clamp(-1.0, 1.0);
            if share.is_finite() { share } else { 0.0 }
        };
        let parts = [
            Some(format!("ratio {}", format_factor(ratio))),
            self.interval.as_ref().map(|i| format!("95 % interval {}", i.replace('–', " to "))),
            self.margin.as_ref().map(|m| format!("margin {m}")),
        ];
        Some(Whisker {
            label: joined(parts.into_iter().flatten(), ", "),
            at: place(ratio),
            ends: [low, high].map(place),
            margin: place((1.0 - margin).recip()),
            beyond: i8::from(ratio > reach) - i8::from(ratio < reach.recip()),
        })
    }
}
