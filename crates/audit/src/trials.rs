//! What the numbered trials of a point say about its mean and its deviation.

use crate::figure::Figure;
use crate::quantity::Statistic;

/// Numbers in one unit, taken together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub count: f64,
    pub least: f64,
    pub most: f64,
    pub mean: f64,
    /// Sum of the squares of what each is off the mean.
    squares: f64,
    /// Half a unit of the last digit that is printed, of the coarsest.
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

    /// The deviation of a sample, and that of a whole population.
    pub fn deviations(&self) -> (f64, f64) {
        ((self.squares / (self.count - 1.0)).sqrt(), (self.squares / self.count).sqrt())
    }
}

/// The trials of a point, as printed where all have one unit, and in base units where all have one.
#[derive(Debug)]
pub(crate) struct Trials {
    unit: Option<String>,
    printed: Numbers,
    in_base_units: Option<Numbers>,
}

impl Trials {
    /// The trials of a point if they are two or more and all that there were: each number once,
    /// from 0 or 1 on. Of others a mean may say something else.
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

    /// A number of the same point and its trials, in one unit.
    pub fn beside(&self, figure: &Figure) -> Option<(f64, &Numbers)> {
        if self.unit.as_ref() == Some(&figure.unit) {
            return Some((figure.value, &self.printed));
        }
        figure.size().zip(self.in_base_units.as_ref())
    }
}
