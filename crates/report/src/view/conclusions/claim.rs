//! A sentence with the numbers that it rests on.

use proofmark_model::{Measurement, Reference, Summary, Verdict, format_factor};
use serde::Serialize;

use crate::view::label::{Group, interval};
use crate::view::num::Scale;
use crate::view::references::ratio;
use crate::view::text::{capital, clean};

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

/// A measurement with its statistics, if it may be in a sentence at all.
pub type Usable<'a> = (&'a Measurement, &'a Summary);

/// A measurement whose number may be in a sentence: neither invalid nor odd.
pub fn usable(m: &Measurement) -> Option<Usable<'_>> {
    let s = m.summary.as_ref()?;
    let fit = m.verdict != Verdict::Invalid && s.value().is_finite() && s.value() > 0.0;
    fit.then_some((m, s))
}

/// `98.40 GFLOP/s`, and after it that it is suspect.
pub fn with_doubt(m: &Measurement, text: &str, unit: &str) -> String {
    format!("{text} {unit}{}", doubted(m))
}

/// ` (suspect)`.
pub fn doubted(m: &Measurement) -> &'static str {
    match m.verdict {
        Verdict::Valid => "",
        Verdict::Suspect => " (suspect)",
        Verdict::Invalid => " (invalid)",
    }
}

/// How two numbers are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Their intervals lie apart.
    Intervals,
    /// One of them has no interval, but all their trials lie apart.
    Trials,
    /// Neither.
    Together,
}

fn apart(a: [f64; 2], b: [f64; 2]) -> bool {
    a[0] > b[1] || b[0] > a[1]
}

/// What is said of numbers without an interval that lie apart.
const NO_OVERLAP: &str = "no interval, but no trials overlap";

/// Trials below which two numbers that lie apart may do so by chance.
const FEW: u64 = 3;

fn how(a: &Summary, b: &Summary) -> How {
    match (a.ci95(), b.ci95()) {
        (Some(x), Some(y)) if apart(x, y) => How::Intervals,
        (Some(_), Some(_)) => How::Together,
        _ if a.trials.n.min(b.trials.n) >= FEW
            && apart([a.trials.min, a.trials.max], [b.trials.min, b.trials.max]) =>
        {
            How::Trials
        }
        _ => How::Together,
    }
}

impl Claim {
    /// A sentence about one number.
    pub fn is(figure: Figure, text: String) -> Self {
        Self { text, says: Says::Is, left: Some(figure), right: None }
    }

    /// One number against another of the same unit, each after its name, such as `sequential
    /// read`. `at` is what both have in common.
    pub fn compare([left, right]: [(&Group, &str, Usable); 2], at: &str) -> Option<Self> {
        let [(_, left_name, (a, x)), (_, right_name, (b, y))] = [left, right];
        if a.unit != b.unit {
            return None;
        }
        let scale = Scale::for_values(&[x.value(), y.value()], a.unit);
        let [l, r] = [figure(left.0, a, x, &scale)?, figure(right.0, b, y, &scale)?];
        let printed = [&l.text, &r.text].map(|t| t.parse::<f64>().unwrap_or(f64::NAN));
        let how = how(x, y);
        let says = match how {
            How::Together => Says::Same,
            _ if printed[0] > printed[1] && x.value() > y.value() => Says::More,
            _ if printed[0] < printed[1] && x.value() < y.value() => Says::Less,
            _ => Says::Same,
        };
        let figures =
            [with_doubt(a, &l.text, scale.label()), with_doubt(b, &r.text, scale.label())];
        let sure = if how == How::Trials && says != Says::Same { NO_OVERLAP } else { "" };
        let at: Vec<&str> = [at, sure].into_iter().filter(|t| !t.is_empty()).collect();
        let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join("; ")) };
        let factor = x.value() / y.value();
        let factor = (factor.is_finite() && factor > 0.0).then(|| format_factor(factor))?;
        let figures = format!("{}{at}", figures.join(" vs. "));
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
        let left = figure(r.ratio.median, r.ratio.ci95)?;
        let right = figure(1.0, None)?;
        let [low, high] = r.ratio.ci95?;
        let interval = format!("95 % interval {} to {}", ratio(low)?, ratio(high)?);
        let printed = left.text.parse::<f64>().ok()?;
        let says = match () {
            () if low > 1.0 && r.ratio.median >= low && printed > 1.0 => Says::More,
            () if high < 1.0 && r.ratio.median <= high && printed < 1.0 => Says::Less,
            () => Says::Same,
        };
        let name = group.heading();
        let at = if left.point.is_empty() { String::new() } else { format!(" ({})", left.point) };
        let doubt = match m.verdict.max(r.verdict) {
            Verdict::Valid => "",
            _ => " (one of the two is suspect)",
        };
        let text = match says {
            Says::Same => format!(
                "{name}{at}: no difference from {tool} is shown: {} times its result, {interval}{doubt}.",
                left.text
            ),
            _ => format!("{name}{at}: {} times {tool}'s result, {interval}{doubt}.", left.text),
        };
        Some(Self { text, says, left: Some(left), right: Some(right) })
    }
}

/// A number for a sentence.
pub fn figure(group: &Group, m: &Measurement, s: &Summary, scale: &Scale) -> Option<Figure> {
    Some(Figure {
        workload: group.name(),
        point: group.short(m),
        value: s.value(),
        interval: interval(m),
        text: scale.number(s.value())?,
    })
}
