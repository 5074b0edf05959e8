//! A value axis: from zero, in steps of 1, 2 or 5; or logarithmic.

/// Ticks that an axis aims at.
const TICKS: f64 = 5.0;
/// Most powers of ten on a logarithmic axis.
const DECADES: i32 = 9;
/// Values below which a logarithmic axis shows nothing.
const TINY: f64 = 1e-30;
/// Powers of ten up to which 2 and 5 are labelled too.
const DENSE: f64 = 2.5;

/// An axis over values that are finite and below 10 million.
#[derive(Debug, Clone, PartialEq)]
pub enum Axis {
    /// Equal steps at equal distances.
    Linear {
        /// At the low end.
        low: f64,
        /// At the high end.
        high: f64,
        /// Between ticks.
        step: f64,
    },
    /// Equal factors at equal distances; both above zero.
    Log {
        /// At the low end.
        low: f64,
        /// At the high end.
        high: f64,
    },
}

impl Axis {
    /// An axis that holds zero and all values.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((0.0_f64, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let span = high - low;
        if span < 1e-9 {
            return Self::Linear { low: 0.0, high: 1.0, step: 0.5 };
        }
        let rough = span / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|s| s * power)
            .find(|s| *s >= rough)
            .unwrap_or(10.0 * power);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self::Linear { low, high, step }
    }

    /// A logarithmic axis that holds all values above next to nothing, from and to a number that
    /// begins with 1, 2 or 5.
    pub fn log(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|v| v.is_finite() && *v > TINY)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        if !low.is_finite() {
            return Self::Log { low: 1.0, high: 10.0 };
        }
        let top = high.log10().ceil() as i32;
        let steps: Vec<f64> = (top - DECADES..=top).flat_map(decade).collect();
        let high = steps.iter().copied().find(|s| *s >= high * (1.0 - 1e-9)).unwrap_or(high);
        let low = steps.iter().rev().copied().find(|s| *s <= low * (1.0 + 1e-9) && *s < high);
        Self::Log { low: low.or(steps.first().copied()).unwrap_or(high / 10.0), high }
    }

    /// Where a value lies, 0 at the low end and 1 at the high one.
    pub fn place(&self, value: f64) -> f64 {
        match self {
            Self::Linear { low, high, .. } => ((value - low) / (high - low)).clamp(0.0, 1.0),
            Self::Log { low, high } => {
                ((value.max(*low) / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
            }
        }
    }

    /// Values with their labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match *self {
            Self::Linear { low, high, step } => {
                let count = ((high - low) / step).round().clamp(1.0, 50.0) as u32;
                let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
                (0..=count)
                    .map(|i| {
                        let value = low + f64::from(i) * step;
                        let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
                        (value, format!("{value:.digits$}"))
                    })
                    .collect()
            }
            Self::Log { low, high } => {
                let ends = [low.log10().floor() as i32, high.log10().ceil() as i32];
                let dense = (high / low).log10() < DENSE;
                (ends[0]..=ends[1])
                    .flat_map(|e| decade(e).into_iter().take(if dense { 3 } else { 1 }))
                    .filter(|v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v))
                    .map(|v| (v, format!("{v:.*}", (-v.log10().floor()).max(0.0) as usize)))
                    .collect()
            }
        }
    }
}

/// 1, 2 and 5 times that power of ten.
fn decade(power: i32) -> [f64; 3] {
    // A power by division is the nearest to its decimal form, one by powi need not be.
    let ten = if power < 0 { 1.0 / 10_f64.powi(-power) } else { 10_f64.powi(power) };
    [ten, 2.0 * ten, 5.0 * ten]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_hold_every_value() {
        let axis = Axis::over([12.0, 246.2].into_iter());
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, l)| l).collect();
        assert_eq!(labels, ["0", "50", "100", "150", "200", "250"]);
        assert!((axis.place(125.0) - 0.5).abs() < 1e-12);
        let axis = Axis::over([-0.3, 0.2].into_iter());
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, l)| l).collect();
        assert_eq!(labels, ["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2"]);
    }

    #[test]
    fn no_span_still_has_an_axis() {
        for values in [vec![], vec![0.0], vec![f64::NAN], vec![1e-300]] {
            let axis = Axis::over(values.into_iter());
            assert!(axis.ticks().len() >= 2);
            assert!(axis.place(0.0).is_finite());
        }
        assert!(Axis::over([9.9e6, -9.9e6].into_iter()).ticks().len() < 20);
    }

    #[test]
    fn a_logarithmic_axis_holds_every_value() {
        let labels =
            |axis: &Axis| -> Vec<String> { axis.ticks().into_iter().map(|(_, l)| l).collect() };
        let axis = Axis::log([1.2, 110.0].into_iter());
        assert_eq!(axis, Axis::Log { low: 1.0, high: 200.0 });
        assert_eq!(labels(&axis), ["1", "2", "5", "10", "20", "50", "100", "200"]);
        assert!(axis.place(1.2) > 0.0 && axis.place(110.0) < 1.0);
        let equal = [axis.place(10.0) - axis.place(1.0), axis.place(100.0) - axis.place(10.0)];
        assert!((equal[0] - equal[1]).abs() < 1e-9);
        assert_eq!(labels(&Axis::log([0.3, 4.0].into_iter())), ["0.2", "0.5", "1", "2", "5"]);
        assert_eq!(labels(&Axis::log([0.02, 50.0].into_iter())), ["0.1", "1", "10"]);
        for odd in
            [vec![], vec![0.0, -1.0], vec![f64::NAN], vec![5e-324, 9e6], vec![1e-308], vec![5.0]]
        {
            let axis = Axis::log(odd.into_iter());
            assert!((1..40).contains(&axis.ticks().len()), "{axis:?}");
            assert!(axis.place(0.0) == 0.0 && axis.place(1e300) == 1.0, "{axis:?}");
        }
    }
}
