//! All figures of a report, its machine, and the indexes that rules use.

use std::collections::{BTreeMap, HashMap};

use crate::equal_columns::{self, EqualColumns};
use crate::figure::{Figure, Metric, Statistic};
use crate::machine::Machine;
use crate::products::{self, Product};
use crate::series::{Key, Series};
use crate::tallies::{self, Tallies, Tally};
use crate::trials::Trials;

/// Index of a series, and threads.
pub(crate) type Point = (usize, Option<u64>);

#[derive(Debug, Clone, Copy)]
struct Position {
    series: usize,
    /// Position among the figures of the same point and statistic.
    nth: usize,
}

/// Figures and machine, indexed once.
#[derive(Debug, Default)]
pub struct Sheet {
    machine: Machine,
    figures: Vec<Figure>,
    keys: HashMap<Key, usize>,
    series: Vec<Series>,
    positions: Vec<Position>,
    statistics: HashMap<(Point, Statistic), Vec<usize>>,
    trials: BTreeMap<Point, Vec<usize>>,
    numbers: HashMap<Point, Trials>,
    products: HashMap<usize, Product>,
    equal_columns: EqualColumns,
    tallies: Tallies,
    copy_bandwidth: Option<f64>,
}

impl Sheet {
    /// Indexes the figures.
    pub fn new(machine: Machine, figures: Vec<Figure>) -> Self {
        let mut sheet = Self { machine, ..Self::default() };
        for figure in &figures {
            let next = sheet.series.len();
            let id = *sheet.keys.entry(Key::from_figure(figure)).or_insert(next);
            if id == next {
                sheet.series.push(Series::default());
            }
            sheet.series[id].add(figure);
            let point = (id, figure.threads);
            let same = sheet.statistics.entry((point, figure.statistic)).or_default();
            sheet.positions.push(Position { series: id, nth: same.len() });
            same.push(figure.index);
            if matches!(figure.statistic, Statistic::Trial(_)) {
                sheet.trials.entry(point).or_default().push(figure.index);
            }
        }
        sheet.tallies = tallies::count(&sheet.machine, &figures);
        sheet.copy_bandwidth = copy_bandwidth(&figures);
        sheet.figures = figures;
        let numbers = sheet.trials.iter();
        let numbers = numbers.filter_map(|(p, all)| Some((*p, Trials::new(&sheet.figures, all)?)));
        sheet.numbers = numbers.collect();
        sheet.products = products::find(&sheet);
        sheet.equal_columns = equal_columns::find(&sheet.figures, sheet.trials.values());
        sheet
    }

    /// The figures, in the order of the file.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Returns the facts about the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
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

    /// Returns the figure with the same block, threads and trial in another series.
    pub(crate) fn partner(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let same = self.at(key, figure.threads, figure.statistic);
        self.figures.get(*same.get(self.positions[figure.index].nth)?)
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

    /// Returns the numbered trials of a figure's point, if there are at least two and none is
    /// missing.
    pub(crate) fn trials(&self, figure: &Figure) -> Option<&Trials> {
        self.numbers.get(&self.point(figure))
    }

    /// Iterates over the figures of the same point and statistic, in the order of the file: the
    /// number in another unit, or another run. There may be as many as rows.
    pub(crate) fn same_number(&self, figure: &Figure) -> impl Iterator<Item = &Figure> {
        let same = self.statistics.get(&(self.point(figure), figure.statistic));
        same.into_iter().flatten().map(|i| &self.figures[*i])
    }

    /// Returns the mean of a figure's point.
    pub(crate) fn mean(&self, figure: &Figure) -> Option<&Figure> {
        let means = self.statistics.get(&(self.point(figure), Statistic::Mean))?;
        means.first().map(|i| &self.figures[*i])
    }

    /// Returns another series' figure at the same threads and statistic, else its printed mean or
    /// best: a row of sums may name its statistic differently.
    pub(crate) fn summary(&self, figure: &Figure, key: &Key) -> Option<&Figure> {
        let statistics = [figure.statistic, Statistic::Other, Statistic::Mean].into_iter();
        let mut same = statistics.filter_map(|s| self.at(key, figure.threads, s).first());
        self.figures.get(*same.next()?)
    }

    /// True if the report has a figure of the series.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.keys.contains_key(key)
    }

    /// Returns the product that ties a latency to a throughput.
    pub(crate) fn product(&self, figure: &Figure) -> Option<&Product> {
        self.products.get(&figure.index)
    }

    /// Returns the same trial in another column with equal numbers.
    pub(crate) fn same_trial_of_equal_column(&self, figure: &Figure) -> Option<&Figure> {
        Some(&self.figures[*self.equal_columns.get(&figure.index)?])
    }

    /// Counts a disk tool's rates at the figure's setting, over all operations and trials.
    pub(crate) fn tally(&self, figure: &Figure) -> Option<&Tally> {
        self.tallies.get(&tallies::setting(figure))
    }

    /// Returns the best memory copy of one thread in the report, in B/s read and written together.
    pub(crate) fn copy_bandwidth(&self) -> Option<f64> {
        self.copy_bandwidth
    }
}

fn copy_bandwidth(figures: &[Figure]) -> Option<f64> {
    use proofmark_model::Subsystem::Memory;
    figures
        .iter()
        .filter(|f| f.is(Memory, Metric::Throughput) && f.operation == "copy")
        .filter(|f| f.threads.is_none_or(|t| t == 1))
        .filter_map(Figure::level)
        .reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, figures, machine, row};

    #[test]
    fn threads_of_a_series_are_bounded_and_trials_of_a_point_are_not() {
        let looked_at = |count: usize| {
            let rows =
                |n| ["threads", "trial"].map(|what| format!("disk r throughput 1 {what}={n}"));
            let rows: String = (1..=count).flat_map(rows).map(|text| row(&text)).collect();
            let sheet = Sheet::new(machine(MACHINE), figures(&rows));
            let second = &sheet.figures()[1];
            (sheet.trial_indexes(second).len(), sheet.series(second).levels().count())
        };
        assert_eq!(looked_at(20), (21, 20));
        assert_eq!(looked_at(1000), (1001, 64));
    }
}
