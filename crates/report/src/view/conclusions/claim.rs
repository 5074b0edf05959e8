//! A sentence with the numbers that it is based on.

use proofmark_model::{Better, FigureKind, Measurement, Reference, Summary, format_factor};
use serde::Serialize;

use crate::view::delivered_share::Lost;
use crate::view::label::{self, Group, interval};
use crate::view::num::{Scale, ends};
use crate::view::references::{factor, ratio};
use crate::view::text::{capital, clean, enclosed, joined};

/// A result that a sentence is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The workload's id.
    pub workload: String,
    /// The parameters that name its configuration; empty where the workload has only one.
    pub point: String,
    /// The value in the measurement's base unit; for a comparison with a tool, the ratio.
    pub value: f64,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The value as the sentence prints it, without its unit.
    pub text: String,
}

/// The statement of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// A number alone, without a comparison.
    Is,
    /// The left number is greater than the right one.
    More,
    /// The left number is less.
    Less,
    /// The figures contradict the pairs that they are made of.
    Undecided,
}

/// One sentence and the numbers that it is based on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// The statement.
    pub relation: Relation,
    /// The number that the sentence is about.
    pub left: Option<Figure>,
    /// The number that it is compared with.
    pub right: Option<Figure>,
}

/// The statistics of a usable result whose value is above 0.
pub fn positive_summary(m: &Measurement) -> Option<&Summary> {
    label::usable(m).map(|(_, s)| s).filter(|s| s.value() > 0.0)
}

/// The statistics of such a result that no check doubts.
pub fn undoubted_summary(m: &Measurement) -> Option<&Summary> {
    positive_summary(m).filter(|_| m.verdict.is_undoubted())
}

/// Minimum number of rounds or trials: with fewer, two ranges may differ by chance.
const FEW: usize = 3;

/// The figures of a comparison, both of the same kind, with the ends that decide it.
struct FigurePair {
    kind: FigureKind,
    values: [f64; 2],
    ends: [[f64; 2]; 2],
    /// The source of the ends where they are not 95 % intervals: `rounds` or `trials`.
    ranges: &'static str,
}

impl FigurePair {
    /// Compares by the intervals of the figure or, where one result has none, by the range of its
    /// rounds or trials. `None` where there is too little data.
    fn new(a: &Measurement, b: &Measurement) -> Option<Self> {
        let (x, y) = (undoubted_summary(a)?, undoubted_summary(b)?);
        let both = |kind: FigureKind| Some([x.figure(kind).value?, y.figure(kind).value?]);
        let kinds = [x.headline, y.headline, FigureKind::Delivered];
        let (kind, values) = kinds.into_iter().find_map(|kind| Some((kind, both(kind)?)))?;
        let (ends, ranges) = match (x.figure(kind).ci95, y.figure(kind).ci95) {
            (Some(x), Some(y)) => ([x, y], ""),
            _ => {
                let ranges = if a.has_rounds() && b.has_rounds() { "rounds" } else { "trials" };
                let [v, w] = values;
                ([min_and_max(a, kind, v)?, min_and_max(b, kind, w)?], ranges)
            }
        };
        Some(Self { kind, values, ends, ranges })
    }

    fn differs(&self) -> bool {
        let [[a, b], [c, d]] = self.ends;
        a > d || c > b
    }
}

/// The range of a figure over the rounds or trials, extended to its value; `None` for fewer than
/// [`FEW`].
fn min_and_max(m: &Measurement, kind: FigureKind, value: f64) -> Option<[f64; 2]> {
    let values = m.figure_values(kind);
    let [least, most] = ends(values.iter().copied().chain([value]));
    (values.len() >= FEW && least.is_finite() && most.is_finite()).then_some([least, most])
}

/// ` Delivered: 1.32 times, 89.4 vs. 67.7 GFLOP/s.` Empty where the figures are delivered, or where
/// both results got nearly all of their time.
fn delivered(pair: &FigurePair, both: [&Measurement; 2], scale: &Scale) -> String {
    let is_lost = both.iter().any(|m| Lost::of_measurement(m).is_some());
    if pair.kind == FigureKind::Delivered || !is_lost {
        return String::new();
    }
    let words = || {
        let [a, b] = both.map(|m| m.summary.as_ref().map(|s| &s.delivered));
        let values = [a?.value?, b?.value?];
        let [x, y] = values.map(|v| scale.number(v));
        let factor = values[0] / values[1];
        let factor = (factor.is_finite() && factor > 0.0).then(|| format_factor(factor))?;
        let same = match (a?.ci95, b?.ci95) {
            (Some([a, b]), Some([c, d])) if a <= d && c <= b => " (the intervals overlap)",
            _ => "",
        };
        Some(format!("{factor} times, {} vs. {} {}{same}", x?, y?, scale.label()))
    };
    format!(" Delivered: {}.", words().unwrap_or_else(|| "not known".to_owned()))
}

impl Claim {
    /// A sentence about one number.
    pub fn is(figure: Figure, text: String) -> Self {
        Self { text, relation: Relation::Is, left: Some(figure), right: None }
    }

    /// Compares two numbers of the same unit, each after its name, such as `sequential read`, with
    /// the ends that decided. `at` is what both have in common. `None` where no difference is shown.
    pub fn compare([left, right]: [(&Group, &str, &Measurement); 2], at: &str) -> Option<Self> {
        let [(_, left_name, a), (_, right_name, b)] = [left, right];
        let pair = FigurePair::new(a, b).filter(|_| a.unit == b.unit)?;
        let scale = Scale::for_values(&pair.values, a.unit);
        let of = |side: usize, (group, _, m): (&Group, &str, &Measurement)| {
            let [workload, point] = [group.name(), group.short(m)];
            let (value, interval) = (pair.values[side], Some(pair.ends[side]));
            let interval = interval.filter(|_| pair.ranges.is_empty());
            Some(Figure { workload, point, value, interval, text: scale.number(value)? })
        };
        let [l, r] = [of(0, left)?, of(1, right)?];
        let printed = [&l.text, &r.text].map(|t| t.parse::<f64>().unwrap_or(f64::NAN));
        let relation = match pair.differs() {
            true if printed[0] > printed[1] => Relation::More,
            true if printed[0] < printed[1] => Relation::Less,
            _ => return None,
        };
        let direction = if a.better == Better::Lower { "lower is better" } else { "" };
        let delivered = delivered(&pair, [a, b], &scale);
        let named =
            [a, b].iter().all(|m| undoubted_summary(m).is_some_and(|s| s.headline == pair.kind));
        let kind = if named && delivered.is_empty() { "" } else { pair.kind.as_str() };
        let at = enclosed(
            " (",
            &joined([at, kind, direction, label::other_placements(a, b)], "; "),
            ")",
        );
        let factor = pair.values[0] / pair.values[1];
        let factor = (factor.is_finite() && factor > 0.0).then(|| format_factor(factor))?;
        let number = |side: usize, f: &Figure| {
            let ends = scale.interval(pair.ends[side]).unwrap_or_default();
            let ends = enclosed(" (", &joined([pair.ranges, &ends], " "), ")");
            format!("{} {}{ends}", f.text, scale.label())
        };
        let figures = format!("{} vs. {}{at}", number(0, &l), number(1, &r));
        let text =
            format!("{} is {factor} times {right_name}: {figures}.{delivered}", capital(left_name));
        Some(Self { text, relation, left: Some(l), right: Some(r) })
    }

    /// Compares proofmark's number with a tool's: the ratio of the pairs against 1. `None` where no
    /// difference is shown.
    pub fn compare_with_tool(group: &Group, m: &Measurement, r: &Reference) -> Option<Self> {
        let tool = clean(&r.tool);
        let figure = |value: f64, interval| {
            let [workload, point] = [group.name(), group.short(m)];
            Some(Figure { workload, point, value, interval, text: ratio(value)? })
        };
        let left = figure(r.shown_ratio(), r.ratio.ci95)?;
        let right = figure(1.0, None)?;
        let [low, high] = r.ratio.ci95?;
        let interval = format!("95 % interval {} to {}", ratio(low)?, ratio(high)?);
        let printed = left.text.parse::<f64>().ok()?;
        let relation = match () {
            () if r.is_undecided() => Relation::Undecided,
            () if low > 1.0 && printed > 1.0 => Relation::More,
            () if high < 1.0 && printed < 1.0 => Relation::Less,
            () => return None,
        };
        let name = group.heading();
        let at = enclosed(" (", &left.point, ")");
        let text = match relation {
            Relation::Undecided => {
                let both = factor(r)?;
                format!("the comparison with {tool} is undecided: {both} times its result")
            }
            _ => format!("{} times {tool}'s result", left.text),
        };
        let text = format!("{name}{at}: {text}, {interval}.");
        Some(Self { text, relation, left: Some(left), right: Some(right) })
    }
}

pub fn figure(group: &Group, m: &Measurement, scale: &Scale) -> Option<Figure> {
    let [workload, point] = [group.name(), group.short(m)];
    let value = positive_summary(m)?.value();
    Some(Figure { workload, point, value, interval: interval(m), text: scale.number(value)? })
}
