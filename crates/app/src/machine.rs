//! The host, with what only the engine can measure filled in.

use std::path::Path;

use proofmark_engine::chain::read_clock;
use proofmark_engine::{interrupted_share, precision, usable_cpus};
use proofmark_model::{Host, Probe};

/// Looks at the machine, at the disk under a folder (the current one, if none is
/// given), and measures the clocks; takes some tens of milliseconds.
pub fn look(disk_path: Option<&Path>) -> Host {
    let folder = std::path::absolute(disk_path.unwrap_or(Path::new("."))).unwrap_or_default();
    let root = proofmark_host::Root::live().with_affinity(usable_cpus(None));
    let mut host = proofmark_host::look(&root, &folder.to_string_lossy());
    let p = precision();
    host.timer.resolution_s = p.resolution_s.map_or_else(
        || Probe::missing("CLOCK_MONOTONIC did not advance in 16000 readings"),
        |r| Probe::known(r, "least step of CLOCK_MONOTONIC seen"),
    );
    host.timer.overhead_s = Probe::known(p.overhead_s, "successive readings of CLOCK_MONOTONIC");
    host.timer.interrupted_share = Probe::known(
        interrupted_share(),
        "gaps between successive readings of CLOCK_MONOTONIC, median of ten windows of 10 ms",
    );
    host.cpu.clock.measured_hz = measured_clock();
    host
}

/// One core's clock with nothing else to do, or why it is not known.
fn measured_clock() -> Probe<f64> {
    const SLICE_S: f64 = 0.5e-3;
    const ROUNDS: u32 = 40;
    const TOLERANCE: f64 = 0.02;
    match read_clock(SLICE_S, ROUNDS) {
        None => Probe::missing("this architecture has no instruction chain of known latency"),
        Some(r) if r.disagreement() > TOLERANCE => Probe::missing(format!(
            "two instruction chains disagree: {:.3} GHz and {:.3} GHz",
            r.by_adds / 1e9,
            r.by_second / 1e9
        )),
        Some(r) => {
            Probe::known(r.by_adds, "chain of dependent register adds, checked by a second chain")
        }
    }
}
