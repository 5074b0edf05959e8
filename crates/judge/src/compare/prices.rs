//! Figures per unit of money.
//!
//! A rate is divided by the price of an hour: two machines do twice the work for twice the money. A
//! time has no such figure, since a second machine does not shorten it. Nor has a clock, which
//! counts no work. The ratios per unit of money are judged anew: two machines that do not differ
//! may do so for their price. One is undecided as a figure is: its ratio and that of the pairs lead to
//! different conclusions. What is undecided of the figure stays so unless both show one difference.

use std::cmp::Ordering;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedRuns, Measurement, PerPrice, Price, Ratio,
};

use super::decide::{beyond, is_undecided};
use super::reason::JudgedFigure;

/// The figures of both results per unit of money: delivered where both have it, else the headline.
/// `None` without prices, for a time or a clock, and where the ratio could not be judged.
pub(super) fn per_price(
    [price_a, price_b]: [Option<&Price>; 2],
    [a, b]: [Option<&Measurement>; 2],
    headline: &Option<JudgedFigure>,
    delivered: &Option<JudgedFigure>,
) -> Option<PerPrice> {
    let (price_a, price_b) = (price_a?.per_hour, price_b?.per_hour);
    let judged = delivered.as_ref().or(headline.as_ref())?;
    let is_rate = judged.better == Better::Higher && a?.unit.is_work();
    if !is_rate || judged.figure.outcome == Comparability::NotComparable {
        return None;
    }
    let shown = |m: &Measurement| m.summary.as_ref()?.figure(judged.kind).value;
    let (a, b) = (shown(a?)?, shown(b?)?);
    let factor = price_a / price_b;
    let scaled = |ends: [f64; 2]| ends.map(|end| end * factor);
    let figure = &judged.figure;
    let (value, ends) = (figure.value * factor, scaled(judged.ends?));
    let outcome = match beyond(ends, figure.margin) {
        _ if is_undecided(value, ends, figure.margin) => Comparability::Undecided,
        Some(Ordering::Greater) => Comparability::Faster,
        Some(_) => Comparability::Slower,
        // No price settles which of the figure's two ratios is right.
        None if figure.outcome == Comparability::Undecided => Comparability::Undecided,
        None => Comparability::NoDifferenceShown,
    };
    let Ratio { median, ci95 } = figure.ratio;
    let ratio = Ratio { median: median * factor, ci95: ci95.map(scaled) };
    // The runs that would show the difference of the figures would not show that of the prices.
    let between_runs = figure.between_runs.clone().map(|r| ComparedRuns { needs: None, ..r });
    let compared = ComparedFigure { value, ratio, outcome, between_runs, ..figure.clone() };
    let made = PerPrice { figure: judged.kind, a: a / price_a, b: b / price_b, compared };
    let numbers = [made.a, made.b, value, median * factor];
    numbers.into_iter().chain(ends).all(f64::is_finite).then_some(made)
}
