//! All figures of a report with the machine, and the indexes that rules look things up in.

use std::collections::HashMap;

use crate::copies::{self, Copies};
use crate::figure::{Figure, Metric, Trial};
use crate::machine::Machine;
use crate::products::{self, Product};
use crate::series::{Key, Series};
use crate::siblings::{self, Sibling, Siblings};

/// Most trials of a point that are looked at.
const MOST_TRIALS: usize = 1000;

/// One figure's place in a series; several figures of one place are told apart by order.
type Place = (usize, Option<u64>, Trial);

/// Figures and machine, indexed once.
#[derive(Debug)]
pub struct Sheet {
    machine: Machine,
    figures: Vec<Figure>,
    keys: HashMap<Key, usize>,
    series: Vec<Series>,
    /// Series of each figure, and which of its place's figures it is.
    places: Vec<(usize, usize)>,
    points: HashMap<Place, Vec<usize>>,
    /// Numbered trials by series and threads.
    trials: HashMap<(usize, Option<u64>), Vec<usize>>,
    products: HashMap<usize, Product>,
    copies: Copies,
    siblings: Siblings,
    copy_bandwidth: Option<f64>,
}

impl Sheet {
    /// Indexes the figures.
    pub fn new(machine: Machine, figures: Vec<Figure>) -> Self {
        let mut sheet = Self {
            machine,
            figures: Vec::new(),
            keys: HashMap::new(),
            series: Vec::new(),
            places: Vec::with_capacity(figures.len()),
            points: HashMap::new(),
            trials: HashMap::new(),
            products: HashMap::new(),
            copies: Copies::new(),
            siblings: Siblings::new(),
            copy_bandwidth: None,
        };
        for (index, figure) in figures.iter().enumerate() {
            let next = sheet.series.len();
            let id = *sheet.keys.entry(Key::of(figure)).or_insert(next);
            if id == next {
                sheet.series.push(Series::default());
            }
            if let Some(series) = sheet.series.get_mut(id) {
                series.add(index, figure);
            }
            let point = sheet.points.entry((id, figure.threads, figure.trial)).or_default();
            sheet.places.push((id, point.len()));
            point.push(index);
            if matches!(figure.trial, Trial::Number(_)) {
                sheet.trials.entry((id, figure.threads)).or_default().push(index);
            }
        }
        sheet.siblings = siblings::find(&sheet.machine, &figures);
        sheet.copy_bandwidth = copy_bandwidth(&figures);
        sheet.figures = figures;
        sheet.products = products::find(&sheet);
        sheet.copies = copies::find(&sheet.figures, &sheet.series);
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

    pub(crate) fn figure(&self, index: usize) -> Option<&Figure> {
        self.figures.get(index)
    }

    /// The series that a figure belongs to.
    pub(crate) fn series(&self, index: usize) -> Option<&Series> {
        self.series.get(self.places.get(index)?.0)
    }

    /// The figure of the same tool, block, threads and trial in another series.
    pub(crate) fn partner(&self, index: usize, operation: &str, metric: Metric) -> Option<&Figure> {
        let (figure, (_, nth)) = (self.figure(index)?, self.places.get(index)?);
        let key = Key { operation: operation.to_owned(), metric, ..Key::of(figure) };
        let id = *self.keys.get(&key)?;
        let point = self.points.get(&(id, figure.threads, figure.trial))?;
        self.figure(*point.get(*nth)?)
    }

    /// The numbered trials of a figure's point, by index; none where there are more than any
    /// report lists, so that a hostile file cannot make every row look at every other.
    pub(crate) fn trials(&self, index: usize) -> &[usize] {
        let threads = self.figure(index).and_then(|f| f.threads);
        let id = self.places.get(index).map_or(usize::MAX, |p| p.0);
        self.trials
            .get(&(id, threads))
            .map(Vec::as_slice)
            .filter(|t| t.len() <= MOST_TRIALS)
            .unwrap_or_default()
    }

    /// What ties a latency to a throughput.
    pub(crate) fn product(&self, index: usize) -> Option<&Product> {
        self.products.get(&index)
    }

    /// Another figure whose column holds the same numbers.
    pub(crate) fn copy_of(&self, index: usize) -> Option<&Figure> {
        self.figure(*self.copies.get(&index)?)
    }

    /// How a disk figure's tool did at the same point, all operations and trials together.
    pub(crate) fn sibling(&self, index: usize) -> Option<&Sibling> {
        self.siblings.get(&siblings::place(self.figure(index)?))
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
    use crate::testing::{MACHINE, figures, machine};

    #[test]
    fn a_row_does_not_look_at_every_other() {
        let trials = |count: usize| {
            let rows: String = (1..=count)
                .map(|n| {
                    format!(
                        "disk,x,r,throughput,1,{n},1,1,x,1,y\ndisk,x,r,throughput,1,1,{n},1,x,1,y\n"
                    )
                })
                .collect();
            let sheet = Sheet::new(machine(MACHINE), figures(&rows));
            (sheet.trials(1).len(), sheet.series(1).map_or(0, |s| s.levels().count()))
        };
        assert_eq!(trials(20), (21, 20));
        assert_eq!(trials(1000), (0, 64));
    }
}
