//! What a disk tool did at one point (block and threads) in all operations and trials.

use std::collections::HashMap;

use proofmark_model::Subsystem;

use crate::figure::{Figure, Metric};
use crate::machine::Machine;

/// Tool, block, threads.
type Place = (String, Option<u64>, Option<u64>);
pub(crate) type Siblings = HashMap<Place, Sibling>;

/// Disk rates of a tool at one point.
#[derive(Debug, Default)]
pub(crate) struct Sibling {
    /// All of them.
    pub figures: usize,
    /// Those above what the disk can carry.
    pub above: usize,
}

pub(crate) fn place(figure: &Figure) -> Place {
    (figure.tool.clone(), figure.block, figure.threads)
}

pub(crate) fn find(machine: &Machine, figures: &[Figure]) -> Siblings {
    let (limit, _) = machine.disk_limit();
    let mut siblings = Siblings::new();
    for figure in figures.iter().filter(|f| f.is(Subsystem::Disk, Metric::Throughput)) {
        if let Some(rate) = figure.device_rate() {
            let sibling = siblings.entry(place(figure)).or_default();
            sibling.figures += 1;
            sibling.above += usize::from(rate > limit);
        }
    }
    siblings
}
