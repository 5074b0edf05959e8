//! Variances that are estimated from a few values, as few as they are.

use proofmark_model::student;

/// Degrees of freedom of the prior: a few runs that agree by chance count less than that (Smyth,
/// *Linear models and empirical Bayes methods*, 2004).
const PRIOR_FREEDOM: f64 = 4.0;

/// A variance and its degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variance {
    pub(super) value: f64,
    pub(super) freedom: f64,
}

impl Variance {
    /// Variances of one quantity as one, by their degrees of freedom.
    pub(super) fn pooled(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(|a, b| {
            let freedom = a.freedom + b.freedom;
            let sum = a.value * a.freedom + b.value * b.freedom;
            let value = if freedom > 0.0 { sum / freedom } else { a.value.max(b.value) };
            Self { value, freedom }
        })
    }

    /// The variance together with the prior deviation, where it is less than that.
    pub(super) fn with_prior(self, deviation: f64) -> Self {
        let prior = Self { value: deviation.ln_1p().powi(2), freedom: PRIOR_FREEDOM };
        match Self::pooled([self, prior]) {
            Some(both) if both.value > self.value => both,
            _ => self,
        }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, ..self }
    }

    /// The variance of a sum (Satterthwaite, *An approximate distribution of estimates of variance
    /// components*, 1946).
    pub(super) fn sum(parts: &[Self]) -> Self {
        let value: f64 = parts.iter().map(|v| v.value).sum();
        let shares = parts.iter().map(|v| v.value.powi(2) / v.freedom);
        let freedom = value.powi(2) / shares.sum::<f64>();
        let least = parts.iter().map(|v| v.freedom).fold(f64::INFINITY, f64::min);
        Self { value, freedom: if freedom.is_finite() { freedom } else { least } }
    }

    /// Half of an interval, each end of which misses so often.
    pub(super) fn half(self, misses: f64) -> f64 {
        let half = student(misses, self.freedom.clamp(1.0, 1e9)) * self.value.sqrt();
        if half.is_nan() { f64::INFINITY } else { half }
    }
}
