//! Figures per unit of money.
//!
//! A rate is divided by the price of an hour: two machines do twice the work for twice the money. A
//! time has no such figure, since a second machine does not shorten it. Nor has a clock, which
//! counts no work. The ratios per unit of money are judged anew: two machines that do not differ
//! may do so for their price. One is undecided as a figure is: its ratio and that of the pairs lead to
//! different conclusions.

use std::cmp::Ordering;

use proofmark_model::{Better, Comparability, Measurement, PerPrice, Price};

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
    let ci95 = judged.figure.ratio.ci95.map(|ends| ends.map(|end| end * factor));
    let (value, margin) = (judged.figure.value * factor, judged.figure.margin);
    let ends = judged.ends?.map(|end| end * factor);
    let outcome = match beyond(ends, margin) {
        _ if is_undecided(value, ends, margin) => Comparability::Undecided,
        Some(Ordering::Greater) => Comparability::Faster,
        Some(_) => Comparability::Slower,
        None => Comparability::NoDifferenceShown,
    };
    let made = PerPrice {
        figure: judged.kind,
        a: a / price_a,
        b: b / price_b,
        value,
        ci95,
        margin,
        outcome,
    };
    let finite = [made.a, made.b, made.value].into_iter().chain(made.ci95.into_iter().flatten());
    finite.into_iter().all(f64::is_finite).then_some(made)
}
