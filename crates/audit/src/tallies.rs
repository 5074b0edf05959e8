//! Counts of a disk tool's rates above the disk's limit, by setting (block and threads).

use std::collections::HashMap;

use proofmark_model::Subsystem;

use crate::figure::Figure;
use crate::machine::Machine;
use crate::quantity::Metric;

/// Tool, block, threads.
type Setting = (String, Option<u64>, Option<u64>);
pub(crate) type Tallies = HashMap<Setting, Tally>;

/// Counts of a tool's disk rates at one setting.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// All rates.
    pub figures: usize,
    /// Rates above the disk's limit.
    pub above: usize,
}

pub(crate) fn setting(figure: &Figure) -> Setting {
    (figure.tool.clone(), figure.block, figure.threads)
}

pub(crate) fn count(machine: &Machine, figures: &[Figure]) -> Tallies {
    let mut tallies = Tallies::new();
    for figure in figures.iter().filter(|f| f.is(Subsystem::Disk, Metric::Throughput)) {
        if let Some(rate) = figure.device_rate() {
            let tally = tallies.entry(setting(figure)).or_default();
            tally.figures += 1;
            tally.above += usize::from(rate > machine.disk_limit(figure).most);
        }
    }
    tallies
}
