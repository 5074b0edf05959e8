//! The compared results as tables.

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPercentile, ComparedPoint, Comparison,
    FigureKind, Unit, Verdict, format_count, format_factor,
};

use super::words::{
    NOT_MEASURED, color, columns, contradiction, delivered, each_own, interval, margin, moved,
    other_figure, outcome, title, why_none_shown,
};
use crate::view::{Audience, CellPicture, Columns, Entry, Scale, Table, Whisker, clean, joined};

/// Minimum and maximum of the axis' reach: it goes from 1 / reach to reach.
const LEAST: f64 = 1.25;
const MOST: f64 = 8.0;
/// Indentation of a figure below its result.
pub const BELOW: &str = "  ";

/// The results by the table that shows them.
pub struct Points {
    /// The main results of A. Below, they are listed again only where all are.
    pub first: Vec<Line>,
    /// Slower results, then faster ones, farthest from 1 first.
    pub differing: Vec<Line>,
    /// Results without a difference that is shown.
    pub alike: Vec<Line>,
    /// Their number.
    pub alike_results: usize,
    /// Undecided results.
    pub undecided: Vec<Line>,
    /// The axis of all drawings goes from 1 / reach to reach.
    reach: f64,
}

impl Points {
    /// Sorts the results. With `all`, main results are in two tables.
    pub fn sort(c: &Comparison, all: bool) -> Self {
        let listed = || c.points.iter().filter(|p| all || !p.is_main());
        let mut differing: Vec<&ComparedPoint> =
            listed().filter(|p| p.change().differs()).collect();
        let far = |p: &ComparedPoint| {
            let figures = p.headline.iter().chain(moved(p));
            figures.map(|f| f.value.ln().abs()).fold(0.0, f64::max)
        };
        let faster = |p: &ComparedPoint| p.change() == Comparability::Faster;
        differing.sort_by(|p, q| faster(p).cmp(&faster(q)).then(far(q).total_cmp(&far(p))));
        let mut first: Vec<&ComparedPoint> = c.points.iter().filter(|p| p.is_main()).collect();
        first.sort_by_key(|p| p.main_row);
        let alike = listed().filter(|p| p.change() == Comparability::NoDifferenceShown);
        let undecided = listed().filter(|p| p.undecided());
        let mut all = Self {
            first: first.into_iter().flat_map(Line::of_point).collect(),
            differing: differing.into_iter().flat_map(Line::of_point).collect(),
            alike_results: alike.clone().count(),
            alike: alike.flat_map(Line::of_point).collect(),
            undecided: undecided.flat_map(Line::of_point).collect(),
            reach: LEAST,
        };
        let lines = all.first.iter().chain(&all.differing).chain(&all.alike).chain(&all.undecided);
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

/// One figure of a result as text: the headline, or below it the delivered one.
#[derive(Debug, Default)]
pub struct Line {
    title: String,
    /// The direction of a time, and the instruction sets where they differ.
    about: String,
    a: Option<String>,
    b: Option<String>,
    /// B / A.
    ratio: Option<String>,
    /// The contradicting ratio of the pairs.
    pairs: String,
    interval: Option<String>,
    margin: Option<String>,
    /// Number of alternating runs of each that would show the difference.
    needs: Option<u64>,
    /// Sign and word of the outcome.
    outcome: String,
    /// Why no difference is shown, where the figures suggest one.
    why_none: String,
    /// The verdict whose colour repeats the outcome.
    color: Option<Verdict>,
    /// Ratio, ends of its interval and margin as numbers, for a drawing.
    drawn: Option<[f64; 4]>,
}

impl Line {
    /// Takes a result, and its delivered figure where that is another.
    fn of_point(p: &ComparedPoint) -> Vec<Self> {
        let title = title(p);
        let direction = if p.better == Better::Lower { "lower is better" } else { "" };
        let headline = Self {
            // The figure's name, where it is not A's headline.
            title: joined([&*title, other_figure(p).unwrap_or_default()], ", "),
            about: joined([direction, &each_own(p, 'B')], "; "),
            ..Self::of_figure(p, p.figure, p.headline.as_ref())
        };
        let kind = FigureKind::Delivered;
        let delivered = delivered(p).map(|d| Self {
            title: format!("{BELOW}{}", kind.name(p.better)),
            ..Self::of_figure(p, Some(kind), Some(d))
        });
        let percentiles = p.percentiles.iter().map(Self::of_percentile);
        [Some(headline), delivered].into_iter().flatten().chain(percentiles).collect()
    }

    /// Takes a percentile, which is shown and not judged.
    fn of_percentile(p: &ComparedPercentile) -> Self {
        let scale = Scale::for_largest([p.a, p.b], Unit::Second);
        Self {
            title: format!("{BELOW}{} of operations", clean(&p.percentile)),
            a: scale.with_label(p.a),
            b: scale.number(p.b),
            ratio: Some(format_factor(p.value)),
            outcome: "not judged".to_owned(),
            ..Self::default()
        }
    }

    fn of_figure(
        p: &ComparedPoint,
        kind: Option<FigureKind>,
        figure: Option<&ComparedFigure>,
    ) -> Self {
        let [a, b] = columns(p, kind);
        let drawn = figure.map(|f| {
            let [low, high] = f.ratio.ci95.unwrap_or([f.value; 2]);
            [f.value, low, high, f.margin]
        });
        let result = figure.map_or(Comparability::NotComparable, |f| f.outcome);
        Self {
            a,
            b,
            ratio: figure.map(|f| format_factor(f.value)),
            pairs: figure.map(contradiction).unwrap_or_default(),
            interval: figure.and_then(|f| interval(f.ratio.ci95)),
            margin: figure.and_then(|f| margin(f.margin)),
            needs: figure.and_then(|f| f.between_runs.as_ref()?.needs),
            outcome: match figure {
                _ if p.gone() => "✗ gone".to_owned(),
                _ if p.is_left_out() => NOT_MEASURED.to_owned(),
                figure => outcome(p.better, figure),
            },
            why_none: figure.map(|f| why_none_shown(p.better, f)).unwrap_or_default(),
            color: match result {
                _ if p.gone() => Some(Verdict::Invalid),
                result => color(result),
            },
            drawn: drawn.filter(|all| all.iter().all(|v| v.is_finite())),
            ..Self::default()
        }
    }

    /// Makes a table of results. A narrow terminal drops margin and interval, never the figures.
    fn table(lines: &[Self], reach: f64) -> Table {
        let axis = format!("{} to {}", format_factor(reach.recip()), format_factor(reach));
        let noted = |text: Option<String>, note: &str| Entry::from(text).noted(note);
        Columns::new("")
            .column("result", |l: &&Self| Entry::from(&*l.title).noted(&*l.about))
            .keys()
            .number("A", |l| l.a.clone())
            .number("B", |l| l.b.clone())
            .number("B / A", move |l| noted(l.ratio.clone(), &l.pairs))
            .number("95 %", |l| l.interval.clone())
            .spare(1)
            .number("margin", |l| l.margin.clone())
            .spare(3)
            .when(lines.iter().any(|l| l.needs.is_some()), |table| {
                let needs = |l: &&Self| l.needs.map_or_else(String::new, format_count);
                table.number("runs needed", needs).spare(2)
            })
            .column(&axis, move |l| {
                Entry::drawn(l.whisker(reach).map(CellPicture::Whisker)).coloured(l.color)
            })
            .only_for(Audience::Page)
            .column("difference", |l| {
                Entry::from(&*l.outcome).noted(&*l.why_none).coloured(l.color)
            })
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
