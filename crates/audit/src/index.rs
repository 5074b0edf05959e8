//! Indexes of the figures that rules use.

use std::collections::{BTreeMap, HashMap};
use std::iter;

use crate::figure::Figure;
use crate::quantity::{Metric, Statistic};
use crate::series::{Key, Series};

/// Index of a series, and threads.
pub(crate) type Point = (usize, Option<u64>);

#[derive(Debug, Clone, Copy)]
struct Position {
    series: usize,
    /// Position among the figures of the same point and statistic.
    nth: usize,
}

/// The figures of a file, indexed once.
#[derive(Debug, Default)]
pub struct Index {
    figures: Vec<Figure>,
    keys: HashMap<Key, usize>,
    series: Vec<Series>,
    positions: Vec<Position>,
    statistics: HashMap<(Point, Statistic), Vec<usize>>,
    trials: BTreeMap<Point, Vec<usize>>,
}

impl Index {
    pub(crate) fn new(figures: Vec<Figure>) -> Self {
        let mut index = Self::default();
        for figure in &figures {
            let next = index.series.len();
            let id = *index.keys.entry(Key::from_figure(figure)).or_insert(next);
            if id == next {
                index.series.push(Series::default());
            }
            index.series[id].add(figure);
            let point = (id, figure.threads);
            let same = index.statistics.entry((point, figure.statistic)).or_default();
            index.positions.push(Position { series: id, nth: same.len() });
            same.push(figure.index);
            if matches!(figure.statistic, Statistic::Trial(_)) {
                index.trials.entry(point).or_default().push(figure.index);
            }
        }
        Self { figures, ..index }
    }

    /// Returns the figures, in the order of the file.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Returns the indexes of the numbered trials of every point.
    pub(crate) fn all_trials(&self) -> &BTreeMap<Point, Vec<usize>> {
        &self.trials
    }

    /// Returns the series that a figure belongs to.
    pub(crate) fn series(&self, figure: &Figure) -> &Series {
        &self.series[self.positions[figure.index].series]
    }

    /// Returns the figures of a series at these threads with this statistic, in the order of the
    /// file.
    fn at(&self, key: &Key, threads: Option<u64>, statistic: Statistic) -> &[usize] {
        let point = self.keys.get(key).map(|series| (*series, threads));
        let found = point.and_then(|point| self.statistics.get(&(point, statistic)));
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the figure with the same block, threads and trial in another series. If one of the
    /// two states no statistic, it matches a summary of that point.
    pub(crate) fn partner(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let nth = self.positions[figure.index].nth;
        let at = |statistic| self.at(key, figure.threads, statistic);
        let others: &[Statistic] = match figure.statistic {
            Statistic::Trial(_) | Statistic::Deviation => &[],
            Statistic::Unstated => &[Statistic::Mean, Statistic::Most],
            _ => &[Statistic::Unstated],
        };
        let other = || others.iter().find_map(|other| at(*other).get(nth));
        self.figures.get(*at(figure.statistic).get(nth).or_else(other)?)
    }

    /// Returns the partner with the same operation and another metric.
    pub(crate) fn partner_in(&self, figure: &Figure, metric: Metric) -> Option<&Figure> {
        self.partner(figure, &Key { metric, ..Key::from_figure(figure) })
    }

    /// Returns the point that a figure belongs to.
    pub(crate) fn point(&self, figure: &Figure) -> Point {
        (self.positions[figure.index].series, figure.threads)
    }

    /// Returns the indexes of the numbered trials of a figure's point. There may be as many as
    /// rows: a rule that visits all of them for each figure takes quadratic time.
    pub(crate) fn trial_indexes(&self, figure: &Figure) -> &[usize] {
        self.trials.get(&self.point(figure)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Iterates over the figures of the same point and statistic, in the order of the file: the
    /// number in another unit, or another run. There may be as many as rows.
    pub(crate) fn same_number(&self, figure: &Figure) -> impl Iterator<Item = &Figure> {
        let same = self.statistics.get(&(self.point(figure), figure.statistic));
        same.into_iter().flatten().map(|i| &self.figures[*i])
    }

    /// Returns the mean of a figure's point, else the figure whose statistic is not stated.
    pub(crate) fn mean(&self, figure: &Figure) -> Option<&Figure> {
        let point = self.point(figure);
        let of = |statistic| self.statistics.get(&(point, statistic))?.first();
        let found = of(Statistic::Mean).or_else(|| of(Statistic::Unstated))?;
        Some(&self.figures[*found])
    }

    /// Returns another series' figure at the same threads and statistic, else its printed mean or
    /// best: a row of sums may name its statistic differently.
    pub(crate) fn summary(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let others = [
            Statistic::Unstated,
            Statistic::Most,
            Statistic::Least,
            Statistic::Other,
            Statistic::Mean,
        ];
        let statistics = iter::once(figure.statistic).chain(others);
        let mut same = statistics.filter_map(|s| self.at(key, figure.threads, s).first());
        self.figures.get(*same.next()?)
    }

    /// True if the report has a figure of the series.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.keys.contains_key(key)
    }
}
