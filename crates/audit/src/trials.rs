//! Bounds that the numbered trials of a point set for its mean and its deviation.

use crate::figure::Figure;
use crate::quantity::Statistic;

/// Summary of numbers in one unit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub count: f64,
    pub least: f64,
    pub most: f64,
    pub mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    /// Half a unit of the last printed digit, of the coarsest number.
    pub rounding: f64,
}

impl Numbers {
    fn collect(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut all = Self { least: f64::INFINITY, ..Self::default() };
        for (value, rounding) in values {
            all.count += 1.0;
            let off = value - all.mean;
            all.mean += off / all.count;
            all.squares += off * (value - all.mean);
            all.least = all.least.min(value);
            all.most = all.most.max(value);
            all.rounding = all.rounding.max(rounding);
        }
        all
    }

    /// Returns the deviation of a sample and that of a population.
    pub fn deviations(&self) -> (f64, f64) {
        ((self.squares / (self.count - 1.0)).sqrt(), (self.squares / self.count).sqrt())
    }
}

/// Trials of a point: as printed if all have one unit, and in base units if all have one.
#[derive(Debug)]
pub(crate) struct Trials {
    unit: Option<String>,
    printed: Numbers,
    in_base_units: Option<Numbers>,
}

impl Trials {
    /// Collects the trials of a point if there are at least two and none is missing: each number
    /// once, from 0 or 1 on. A mean of other trials may differ.
    pub fn new(figures: &[Figure], trials: &[usize]) -> Option<Self> {
        let all = || trials.iter().filter_map(|i| figures.get(*i));
        let mut numbers: Vec<Statistic> = all().map(|f| f.statistic).collect();
        numbers.sort_unstable();
        let follow = |first| (first..).zip(&numbers).all(|(n, s)| *s == Statistic::Trial(n));
        if numbers.len() < 2 || !follow(0) && !follow(1) {
            return None;
        }
        let unit = all().next().map(|f| f.unit.clone());
        let based = || all().filter_map(|f| Some((f.size()?, f.rounding() * f.size()?)));
        Some(Self {
            unit: unit.filter(|unit| all().all(|f| f.unit == *unit)),
            printed: Numbers::collect(all().map(|f| (f.value, f.rounding() * f.value))),
            in_base_units: (based().count() == trials.len()).then(|| Numbers::collect(based())),
        })
    }

    /// Returns a number of the same point and its trials, both in one unit.
    pub fn in_unit_of(&self, figure: &Figure) -> Option<(f64, &Numbers)> {
        if self.unit.as_ref() == Some(&figure.unit) {
            return Some((figure.value, &self.printed));
        }
        figure.size().zip(self.in_base_units.as_ref())
    }
}
