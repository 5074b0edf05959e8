//! Figures per unit of money.
//!
//! A rate is divided by the price of an hour: two machines do twice the work for twice the money. A
//! time has no such figure, since a second machine does not shorten it. Nor has a clock, which
//! counts no work.

use proofmark_model::{Better, Comparability, Measurement, PerPrice, Price};

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
    let outcome = judged.figure.outcome;
    let decided = outcome.differs() || outcome == Comparability::NoDifferenceShown;
    let is_rate = judged.better == Better::Higher && a?.unit.is_work();
    if !is_rate || !decided {
        return None;
    }
    let value = |m: &Measurement| m.summary.as_ref()?.figure(judged.kind).value;
    let (a, b) = (value(a?)?, value(b?)?);
    let factor = price_a / price_b;
    let ci95 = judged.figure.ratio.ci95.map(|ends| ends.map(|end| end * factor));
    let made = PerPrice {
        figure: judged.kind,
        a: a / price_a,
        b: b / price_b,
        value: judged.figure.value * factor,
        ci95,
    };
    let finite = [made.a, made.b, made.value].into_iter().chain(made.ci95.into_iter().flatten());
    finite.into_iter().all(f64::is_finite).then_some(made)
}
