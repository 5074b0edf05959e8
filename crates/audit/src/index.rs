//! The indexes that rules look figures up in.

use std::collections::{BTreeMap, HashMap};

use crate::figure::Figure;
use crate::quantity::{Metric, Statistic};
use crate::series::{Key, Series};

/// A series' number, and threads.
pub(crate) type Point = (usize, Option<u64>);

#[derive(Debug, Clone, Copy)]
struct Position {
    series: usize,
    /// Which it is of the figures with its point and statistic: these are distinguished by order.
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

    /// The figures, in the order of the file.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// The numbered trials of every point, by the figures' index.
    pub(crate) fn all_trials(&self) -> &BTreeMap<Point, Vec<usize>> {
        &self.trials
    }

    /// The series that a figure belongs to.
    pub(crate) fn series(&self, figure: &Figure) -> &Series {
        &self.series[self.positions[figure.index].series]
    }

    /// The figures of a statistic at the threads of a figure in a series, in the order of the file.
    fn at(&self, key: &Key, threads: Option<u64>, statistic: Statistic) -> &[usize] {
        let point = self.keys.get(key).map(|series| (*series, threads));
        let found = point.and_then(|point| self.statistics.get(&(point, statistic)));
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// The figure of the same block, threads and trial in another series.
    pub(crate) fn partner(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let same = self.at(key, figure.threads, figure.statistic);
        self.figures.get(*same.get(self.positions[figure.index].nth)?)
    }

    /// The partner of the same operation that has another metric.
    pub(crate) fn partner_in(&self, figure: &Figure, metric: Metric) -> Option<&Figure> {
        self.partner(figure, &Key { metric, ..Key::from_figure(figure) })
    }

    /// The point that a figure belongs to.
    pub(crate) fn point(&self, figure: &Figure) -> Point {
        (self.positions[figure.index].series, figure.threads)
    }

    /// The numbered trials of a figure's point, by index. There may be as many as rows: who
    /// looks at all of them for each figure makes every row look at every other.
    pub(crate) fn trial_indexes(&self, figure: &Figure) -> &[usize] {
        self.trials.get(&self.point(figure)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The figures of the same point and statistic, in the order of the file: the same number
    /// in another unit, or another run. There may be as many as rows.
    pub(crate) fn same_number(&self, figure: &Figure) -> impl Iterator<Item = &Figure> {
        let same = self.statistics.get(&(self.point(figure), figure.statistic));
        same.into_iter().flatten().map(|i| &self.figures[*i])
    }

    /// The mean of a figure's point.
    pub(crate) fn mean(&self, figure: &Figure) -> Option<&Figure> {
        let means = self.statistics.get(&(self.point(figure), Statistic::Mean))?;
        means.first().map(|i| &self.figures[*i])
    }

    /// The figure of another series at the same threads: of the same statistic, else its mean or
    /// the best that a report prints, as a row of sums may call itself otherwise.
    pub(crate) fn summary(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let statistics = [figure.statistic, Statistic::Other, Statistic::Mean].into_iter();
        let mut same = statistics.filter_map(|s| self.at(key, figure.threads, s).first());
        self.figures.get(*same.next()?)
    }

    /// Whether there is any figure of the series.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.keys.contains_key(key)
    }
}
