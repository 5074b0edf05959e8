//! A series: figures that differ in threads and trial alone.

use std::collections::BTreeMap;

use proofmark_model::Subsystem;

use crate::figure::{Figure, Order};
use crate::quantity::{Metric, Statistic};

/// Most numbers of threads that are looked at; no report has as many, a hostile file may.
const MOST_CELLS: usize = 64;

/// What the figures of a series have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub subsystem: Subsystem,
    pub tool: String,
    pub order: Order,
    pub work: String,
    pub metric: Metric,
    /// The name of a [`Metric::Other`]: jitter and loss are not one series.
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

/// The mean of numbers that were added.
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

/// The figures of one number of threads.
#[derive(Debug, Default)]
struct Cell {
    means: Mean,
    trials: Mean,
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
            Statistic::Deviation | Statistic::Other => {}
        }
    }

    /// Threads and level in base units, by threads: the printed mean, else that of the trials.
    pub fn levels(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.cells.iter().take(MOST_CELLS).filter_map(|(threads, cell)| {
            let level = cell.means.value().or_else(|| cell.trials.value())?;
            (level > 0.0).then_some((*threads as f64, level))
        })
    }
}
