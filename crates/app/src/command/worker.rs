//! `proofmark worker`: the child process that measures one point.

use std::io;

use proofmark_process::end_with_parent;
use rustix::process::Signal;

use crate::core_dumps;
use crate::error::Outcome;

/// Where memory ends, the system's out-of-memory killer takes this process first: it costs one
/// measurement, and not the run, or another program of the machine.
pub(super) fn go_first() {
    // A process may always raise its own.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Serves one job on standard input and output.
pub fn run() -> anyhow::Result<Outcome> {
    // A worker never outlives its run: it ends with its input, and is killed with its parent.
    let _ = end_with_parent(Signal::KILL);
    core_dumps::turn_off();
    go_first();
    // A panic in any thread ends the process: the run sees a dead worker, not a silent one.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tell(info);
        std::process::abort();
    }));
    proofmark_engine::serve(&proofmark_workloads::find, io::stdin().lock(), io::stdout().lock())?;
    Ok(Outcome::Done)
}
