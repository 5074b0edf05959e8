//! All figures of a report, its machine, and what follows from all of them together.

use std::collections::HashMap;
use std::ops::Deref;

use crate::equal_columns::{self, EqualColumns};
use crate::figure::Figure;
use crate::index::{Index, Point};
use crate::machine::Machine;
use crate::products::{self, Product};
use crate::quantity::Metric;
use crate::tallies::{self, Tallies, Tally};
use crate::trials::Trials;

/// Figures and machine, indexed once, so that rules can look up the others of a point.
#[derive(Debug, Default)]
pub struct Sheet {
    machine: Machine,
    index: Index,
    numbers: HashMap<Point, Trials>,
    products: HashMap<usize, Product>,
    equal_columns: EqualColumns,
    tallies: Tallies,
    copy_bandwidth: Option<f64>,
}

impl Deref for Sheet {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl Sheet {
    /// Indexes the figures.
    pub fn new(machine: Machine, figures: Vec<Figure>) -> Self {
        let index = Index::new(figures);
        let (figures, trials) = (index.figures(), index.all_trials());
        let numbers = trials.iter();
        let numbers = numbers.filter_map(|(p, all)| Some((*p, Trials::new(figures, all)?)));
        Self {
            numbers: numbers.collect(),
            products: products::find(&index),
            equal_columns: equal_columns::find(figures, trials.values()),
            tallies: tallies::count(&machine, figures),
            copy_bandwidth: copy_bandwidth(figures),
            machine,
            index,
        }
    }

    /// Returns the facts about the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the numbered trials of a figure's point, if there are at least two and none is
    /// missing.
    pub(crate) fn trials(&self, figure: &Figure) -> Option<&Trials> {
        self.numbers.get(&self.point(figure))
    }

    /// Returns the product that ties a latency to a throughput.
    pub(crate) fn product(&self, figure: &Figure) -> Option<&Product> {
        self.products.get(&figure.index)
    }

    /// Returns the same trial in another column with equal numbers.
    pub(crate) fn same_trial_of_equal_column(&self, figure: &Figure) -> Option<&Figure> {
        Some(&self.figures()[*self.equal_columns.get(&figure.index)?])
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
            (sheet.trial_indexes(second).len(), sheet.series(second).levels().len())
        };
        assert_eq!(looked_at(20), (21, 20));
        assert_eq!(looked_at(1000), (1001, 64));
    }
}
