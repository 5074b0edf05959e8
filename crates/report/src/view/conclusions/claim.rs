//! A sentence with the numbers that it rests on.

use proofmark_model::{Measurement, Reference, Summary, Verdict, format_factor};
use serde::Serialize;

use crate::view::label::{self, Group, interval};
use crate::view::num::Scale;
use crate::view::references::{factor, ratio};
use crate::view::text::{capital, clean, enclosed, joined};

/// A result that a sentence is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The workload's id.
    pub workload: String,
    /// The parameters that name its point; empty where the workload has but one.
    pub point: String,
    /// In the measurement's base unit; of a ratio the ratio.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// As the sentence prints it, without its unit.
    pub text: String,
}

/// What a sentence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Says {
    /// A number as it is, with its share of the ceiling and its bottleneck.
    Is,
    /// The left number is greater than the right one.
    More,
    /// The left number is less.
    Less,
    /// No difference is shown.
    Same,
}

/// One sentence and the numbers that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// What it says.
    pub says: Says,
    /// The number that it is about.
    pub left: Option<Figure>,
    /// The one that it is compared with.
    pub right: Option<Figure>,
}

/// The statistics of a measurement whose number may be in a sentence: neither invalid nor odd.
pub fn usable(m: &Measurement) -> Option<&Summary> {
    label::usable(m).map(|(_, s)| s).filter(|s| s.value() > 0.0)
}

/// ` (suspect)`.
pub fn doubted(m: &Measurement) -> String {
    if m.verdict == Verdict::Valid { String::new() } else { format!(" ({})", m.verdict) }
}

/// What is said of numbers without an interval that lie apart.
const NO_OVERLAP: &str = "no interval, but no trials overlap";

/// Trials below which two numbers that lie apart may do so by chance.
const FEW: u64 = 3;

/// Whether two numbers lie apart, and what is to say of that: their intervals do, or, where one of
/// them has none, all their trials.
fn apart(a: &Summary, b: &Summary) -> Option<&'static str> {
    let apart = |[a, b]: [f64; 2], [c, d]: [f64; 2]| a > d || c > b;
    match (a.ci95(), b.ci95()) {
        (Some(x), Some(y)) => apart(x, y).then_some(""),
        _ => {
            let [x, y] = [a, b].map(|s| [s.trials.min, s.trials.max]);
            (a.trials.n.min(b.trials.n) >= FEW && apart(x, y)).then_some(NO_OVERLAP)
        }
    }
}

impl Claim {
    /// A sentence about one number.
    pub fn is(figure: Figure, text: String) -> Self {
        Self { text, says: Says::Is, left: Some(figure), right: None }
    }

    /// One number against another of the same unit, each after its name, such as `sequential
    /// read`. `at` is what both have in common.
    pub fn compare([left, right]: [(&Group, &str, &Measurement); 2], at: &str) -> Option<Self> {
        let [(_, left_name, a), (_, right_name, b)] = [left, right];
        let (x, y) = (usable(a)?, usable(b).filter(|_| a.unit == b.unit)?);
        let scale = Scale::for_values(&[x.value(), y.value()], a.unit);
        let [l, r] = [figure(left.0, a, &scale)?, figure(right.0, b, &scale)?];
        let printed = [&l.text, &r.text].map(|t| t.parse::<f64>().unwrap_or(f64::NAN));
        let apart = apart(x, y);
        let says = match apart {
            Some(_) if printed[0] > printed[1] && x.value() > y.value() => Says::More,
            Some(_) if printed[0] < printed[1] && x.value() < y.value() => Says::Less,
            _ => Says::Same,
        };
        let sure = apart.filter(|_| says != Says::Same).unwrap_or_default();
        let at = enclosed(" (", &joined([at, sure], "; "), ")");
        let factor = x.value() / y.value();
        let factor = (factor.is_finite() && factor > 0.0).then(|| format_factor(factor))?;
        let number =
            |f: &Figure, m: &Measurement| format!("{} {}{}", f.text, scale.label(), doubted(m));
        let figures = format!("{} vs. {}{at}", number(&l, a), number(&r, b));
        let text = match says {
            Says::Same => {
                format!("No difference is shown between {left_name} and {right_name}: {figures}.")
            }
            _ => format!("{} is {factor} times {right_name}: {figures}.", capital(left_name)),
        };
        Some(Self { text, says, left: Some(l), right: Some(r) })
    }

    /// Our number against a tool's: the ratio of the pairs against one.
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
        let says = match () {
            () if r.is_undecided() => Says::Same,
            () if low > 1.0 && printed > 1.0 => Says::More,
            () if high < 1.0 && printed < 1.0 => Says::Less,
            () => Says::Same,
        };
        let name = group.heading();
        let at = enclosed(" (", &left.point, ")");
        let doubt = match m.verdict.max(r.verdict) {
            Verdict::Valid => "",
            _ => " (one of the two is suspect)",
        };
        let times = format!("{} times", left.text);
        let text = match says {
            _ if r.is_undecided() => {
                let both = factor(r)?;
                format!("the comparison with {tool} is undecided: {both} times its result")
            }
            Says::Same => format!("no difference from {tool} is shown: {times} its result"),
            _ => format!("{times} {tool}'s result"),
        };
        let text = format!("{name}{at}: {text}, {interval}{doubt}.");
        Some(Self { text, says, left: Some(left), right: Some(right) })
    }
}

pub fn figure(group: &Group, m: &Measurement, scale: &Scale) -> Option<Figure> {
    let [workload, point] = [group.name(), group.short(m)];
    let value = usable(m)?.value();
    Some(Figure { workload, point, value, interval: interval(m), text: scale.number(value)? })
}
