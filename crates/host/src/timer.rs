//! The clock that trials are timed with, as far as the kernel names it. Its
//! resolution and overhead are added by who measures them.

use proofmark_model::{Probe, Timer};

use crate::root::{Root, probe};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

pub(crate) fn look(root: &Root) -> Timer {
    Timer {
        clock_source: probe(root.line(SOURCE), SOURCE),
        resolution_s: Probe::missing("measured when a run starts"),
        overhead_s: Probe::missing("measured when a run starts"),
        interrupted_share: Probe::missing("measured when a run starts"),
    }
}
