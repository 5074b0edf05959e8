//! Clock of the trials, as the kernel names it. The run adds its resolution and overhead.

use proofmark_model::{Probe, Timer};

use crate::root::{Root, probe};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

pub(crate) fn detect(root: &Root) -> Timer {
    Timer {
        clock_source: probe(root.line(SOURCE), SOURCE),
        resolution_s: Probe::missing("measured when a run starts"),
        overhead_s: Probe::missing("measured when a run starts"),
        interrupted_share: Probe::missing("measured when a run starts"),
    }
}
