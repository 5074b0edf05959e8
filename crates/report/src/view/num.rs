//! Numbers as text: one scale per table, four significant digits, no NaN.

use proofmark_model::{Params, Quantity, Subsystem, Unit, counted, format_factor, percent_digits};

/// One scale for a table or an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    quantity: Quantity,
}

impl Scale {
    /// The scale that suits the largest finite value.
    pub fn for_largest(values: impl IntoIterator<Item = f64>, unit: Unit) -> Self {
        Self { quantity: Quantity::suited(largest(values), unit) }
    }

    /// The scale of a workload's values. Where bytes or times span factors of thousands, it is
    /// chosen so that the smallest value keeps its digits; where no scale shows both ends in few
    /// digits, it suits the middle of both.
    pub fn for_values(values: &[f64], unit: Unit) -> Self {
        let some = values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
        let [least, greatest] = ends(some);
        let suited = Self::for_largest(values.iter().copied(), unit);
        if !matches!(unit, Unit::Second | Unit::BytePerSecond | Unit::BitPerSecond) {
            return suited;
        }
        [1.0, 1e-3, 1e-6]
            .map(|share| Self::for_largest([greatest * share], unit))
            .into_iter()
            .find(|s| s.scaled(least) >= 0.1 && s.scaled(greatest) < 1e6)
            .unwrap_or_else(|| Self::for_largest([(least * greatest).sqrt()], unit))
    }

    /// The scale of a result's values as reports, findings and the progress show them.
    pub fn for_result(
        values: impl IntoIterator<Item = f64>,
        unit: Unit,
        of: (Subsystem, bool),
        params: &Params,
    ) -> Self {
        Self { quantity: Quantity::for_result(largest(values), unit, of, params) }
    }

    /// The scale that shows bytes per second as I/Os per second of that block size; `None` if it is
    /// 0.
    pub fn iops(block: u64) -> Option<Self> {
        Some(Self { quantity: Quantity::iops(block)? })
    }

    /// The scale of amounts of work in a unit, on which the smallest keeps its digits.
    pub fn amount(values: impl Iterator<Item = f64>, unit: &str) -> Self {
        let least = values.filter(|v| v.is_finite() && *v > 0.0).fold(f64::INFINITY, f64::min);
        // A word takes no prefix; millions of it are written as a power of ten.
        let step = [(1e12, "T"), (1e9, "G"), (1e6, "M")]
            .into_iter()
            .find(|(size, _)| least.is_finite() && least >= *size && unit != "cycles");
        let (size, prefix) = step.unwrap_or((1.0, ""));
        Self { quantity: Quantity { factor: 1.0 / size, label: format!("{prefix}{unit}") } }
    }

    /// The scale of values that are already in the unit that is printed.
    pub fn as_is(unit: &str) -> Self {
        Self { quantity: Quantity { factor: 1.0, label: unit.to_owned() } }
    }

    /// This scale in thousands.
    pub fn thousands(self) -> Self {
        let Quantity { factor, label } = self.quantity;
        Self { quantity: Quantity { factor: factor / 1000.0, label: format!("thousand {label}") } }
    }

    /// Label with its prefix, such as `GFLOP/s`.
    pub fn label(&self) -> &str {
        &self.quantity.label
    }

    /// A base value on this scale.
    pub fn scaled(&self, value: f64) -> f64 {
        value * self.quantity.factor
    }

    /// The number alone; `None` if it is not finite.
    pub fn number(&self, value: f64) -> Option<String> {
        let scaled = self.scaled(value);
        if !scaled.is_finite() {
            return None;
        }
        let magnitude = scaled.abs();
        let plain = scaled == 0.0 || (1e-3..1e7).contains(&magnitude);
        let text = if plain { self.quantity.number(value) } else { format!("{scaled:.3e}") };
        Some(unsigned_zero(text))
    }

    /// The number with its label; `None` if it is not finite.
    pub fn with_label(&self, value: f64) -> Option<String> {
        self.number(value).map(|n| format!("{n} {}", self.label()))
    }

    /// `127.1 to 128.9`, for a sentence.
    pub fn interval(&self, [low, high]: [f64; 2]) -> Option<String> {
        Some(format!("{} to {}", self.number(low)?, self.number(high)?))
    }

    /// `127.1–128.9`, for a narrow column; with `to` for negative numbers.
    pub fn tight_interval(&self, [low, high]: [f64; 2]) -> Option<String> {
        if low < 0.0 || high < 0.0 {
            return self.interval([low, high]);
        }
        Some(format!("{}–{}", self.number(low)?, self.number(high)?))
    }
}

/// The largest finite magnitude.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// Removes the sign of a zero, also of a number rounded to zero.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

/// The minimum and the maximum of these; infinite without any.
pub fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    values.fold(none, |[low, high], v| [low.min(v), high.max(v)])
}

/// The median of the finite values; `None` without any.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    proofmark_model::median(&values.collect::<Vec<_>>())
}

/// A share in percent with its sign, such as `99.2 %`; `None` if it is not finite.
pub fn percentage(share: f64) -> Option<String> {
    percent(share).map(|number| format!("{number} %"))
}

/// The number of [`percentage`] without its sign: `99.2`, for a column or a range that has the
/// sign.
pub fn percent(share: f64) -> Option<String> {
    let in_percent = 100.0 * share;
    let digits = || percent_digits(share).unwrap_or_else(|| format!("{in_percent:.2e}"));
    in_percent.is_finite().then(digits)
}

/// A value whose unit is a text; scaled if the unit is one of proofmark's own.
pub fn with_unit(value: f64, unit: &str) -> String {
    let ours = Unit::ALL.into_iter().find(|u| u.as_str() == unit);
    match ours.and_then(|u| Scale::for_largest([value], u).with_label(value)) {
        Some(text) => text,
        None if unit.is_empty() => plain(value),
        None => format!("{} {unit}", plain(value)),
    }
}

/// A plain number of any unit, for inputs of ceilings: up to four decimals.
pub fn plain(value: f64) -> String {
    if !value.is_finite() {
        return "not finite".to_owned();
    }
    let magnitude = value.abs();
    let text = if value == value.trunc() && magnitude < 1e7 {
        format!("{value:.0}")
    } else if (1e-3..1e7).contains(&magnitude) {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.4e}")
    };
    unsigned_zero(text)
}

/// Returns `median 100.0 GFLOP/s in 14 runs before, 80.00 GFLOP/s in 10 runs after (ratio 0.800)`.
pub fn level_change(scale: &Scale, [before, after]: [f64; 2], runs: [u64; 2]) -> String {
    let number = |value: f64| scale.with_label(value).unwrap_or_else(|| "-".to_owned());
    format!(
        "median {} in {} before, {} in {} after (ratio {})",
        number(before),
        counted(runs[0], "run"),
        number(after),
        counted(runs[1], "run"),
        format_factor(after / before),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::format_percent;

    use super::*;

    #[test]
    fn scales_suit_their_units() {
        assert_eq!(Scale::for_values(&[1e6, 3e9], Unit::FlopPerSecond).label(), "GFLOP/s");
        assert_eq!(Scale::amount([2.46e6, 3.72e9, 0.0, f64::NAN].into_iter(), "B").label(), "MB");
        assert_eq!(Scale::iops(0), None);
    }

    #[test]
    fn a_share_has_the_digits_of_the_model() {
        for share in [0.992, -1e-5, 20_000.0] {
            assert_eq!(percentage(share), Some(format_percent(share)));
        }
        assert_eq!(percentage(2e7).as_deref(), Some("2.00e9 %"));
        assert_eq!((percentage(f64::NAN), percent(1e307)), (None, None));
    }
}
