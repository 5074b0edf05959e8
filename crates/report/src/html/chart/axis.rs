//! A value axis: from zero, in steps of 1, 2 or 5.

/// Ticks that an axis aims at.
const TICKS: f64 = 5.0;

/// A linear axis over values that are finite and below 10 million.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// An axis that holds zero and all values.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((0.0_f64, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let span = high - low;
        if span < 1e-9 {
            return Self { low: 0.0, high: 1.0, step: 0.5 };
        }
        let rough = span / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|s| s * power)
            .find(|s| *s >= rough)
            .unwrap_or(10.0 * power);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// Where a value lies, 0 at the low end and 1 at the high one.
    pub fn place(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Values with their labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let count = ((self.high - self.low) / self.step).round().clamp(1.0, 50.0) as u32;
        let digits = (-self.step.log10().floor()).clamp(0.0, 9.0) as usize;
        (0..=count)
            .map(|i| {
                let value = self.low + f64::from(i) * self.step;
                let value = if value.abs() < self.step * 1e-6 { 0.0 } else { value };
                (value, format!("{value:.digits$}"))
            })
            .collect()
    }
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
}
