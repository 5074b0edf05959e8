//! All figures of a report with the machine, and the indexes that rules look things up in.

use std::collections::{BTreeMap, HashMap};

use crate::equal_columns::{self, EqualColumns};
use crate::figure::{Figure, Metric, Statistic};
use crate::machine::Machine;
use crate::products::{self, Product};
use crate::series::{Key, Series};
use crate::tallies::{self, Tallies, Tally};
use crate::trials::Trials;

/// A series' number, and threads.
pub(crate) type Point = (usize, Option<u64>);

#[derive(Debug, Clone, Copy)]
struct Position {
    series: usize,
    /// Which it is of the figures with its point and statistic: these are distinguished by order.
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

    /// What is known of the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
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

    /// The numbered trials of a figure's point, if there are two or more and none is missing.
    pub(crate) fn trials(&self, figure: &Figure) -> Option<&Trials> {
        self.numbers.get(&self.point(figure))
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

    /// What ties a latency to a throughput.
    pub(crate) fn product(&self, figure: &Figure) -> Option<&Product> {
        self.products.get(&figure.index)
    }

    /// The same trial in another column that holds the same numbers.
    pub(crate) fn same_trial_of_equal_column(&self, figure: &Figure) -> Option<&Figure> {
        Some(&self.figures[*self.equal_columns.get(&figure.index)?])
    }

    /// How a disk figure's tool did at the same setting, all operations and trials together.
    pub(crate) fn tally(&self, figure: &Figure) -> Option<&Tally> {
        self.tallies.get(&tallies::setting(figure))
    }

    /// The best memory copy of one thread in the same report, in B/s read and written together.
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
            let of = |n| ["threads", "trial"].map(|what| format!("disk r throughput 1 {what}={n}"));
            let rows: String = (1..=count).flat_map(of).map(|text| row(&text)).collect();
            let sheet = Sheet::new(machine(MACHINE), figures(&rows));
            let second = &sheet.figures()[1];
            (sheet.trial_indexes(second).len(), sheet.series(second).levels().count())
        };
        assert_eq!(looked_at(20), (21, 20));
        assert_eq!(looked_at(1000), (1001, 64));
    }
}
