//! Series of figures: they differ only in threads and trial.

use std::collections::BTreeMap;

use proofmark_model::Subsystem;

use crate::figure::{Figure, Order};
use crate::quantity::{Metric, Statistic};

/// Maximum of thread counts per series: no report has as many, but a hostile file may.
const MAX_CELLS: usize = 64;

/// Properties that all figures of a series share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub subsystem: Subsystem,
    pub tool: String,
    pub order: Order,
    pub work: String,
    pub metric: Metric,
    /// Name of a [`Metric::Other`], which keeps jitter and loss in separate series.
    pub other: String,
    pub block: Option<u64>,
}

impl Key {
    pub fn from_figure(figure: &Figure) -> Self {
        let other = match figure.metric {
            Metric::Other => figure.metric_name.clone(),
            _ => String::new(),
        };
        Self {
            subsystem: figure.subsystem,
            tool: figure.tool.clone(),
            order: figure.order,
            work: figure.work.clone(),
            metric: figure.metric,
            other,
            block: figure.block,
        }
    }
}

/// Running mean.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

/// Figures with the same number of threads.
#[derive(Debug, Default)]
struct Cell {
    means: Mean,
    trials: Mean,
    unstated: Mean,
    most: Mean,
    least: Mean,
}

impl Cell {
    /// Returns the usual level: the printed mean, else that of the trials, else a figure whose
    /// statistic is not stated.
    fn usual(&self) -> Option<f64> {
        [&self.means, &self.trials, &self.unstated].into_iter().find_map(Mean::value)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Series {
    cells: BTreeMap<u64, Cell>,
}

impl Series {
    pub fn add(&mut self, figure: &Figure) {
        let (Some(threads), Some(level)) = (figure.threads, figure.level()) else { return };
        let cell = self.cells.entry(threads).or_default();
        match figure.statistic {
            Statistic::Mean => cell.means.add(level),
            Statistic::Trial(_) => cell.trials.add(level),
            Statistic::Unstated => cell.unstated.add(level),
            Statistic::Most => cell.most.add(level),
            Statistic::Least => cell.least.add(level),
            Statistic::Deviation | Statistic::Other => {}
        }
    }

    /// Returns the levels above 0 in base units by threads, of one statistic: the usual ones, else
    /// the best, else the worst, whichever has several first.
    pub fn levels(&self) -> Vec<(f64, f64)> {
        let statistics: [fn(&Cell) -> Option<f64>; 3] =
            [Cell::usual, |cell| cell.most.value(), |cell| cell.least.value()];
        let all = statistics.map(|of| self.of(of));
        let several = all.iter().position(|levels| levels.len() > 1).unwrap_or(0);
        all.into_iter().nth(several).unwrap_or_default()
    }

    fn of(&self, level: impl Fn(&Cell) -> Option<f64>) -> Vec<(f64, f64)> {
        let cells = self.cells.iter().take(MAX_CELLS);
        let levels = cells.filter_map(|(threads, cell)| Some((*threads as f64, level(cell)?)));
        levels.filter(|(_, level)| *level > 0.0).collect()
    }
}
