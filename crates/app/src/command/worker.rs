//! `proofmark worker`: the child process that measures one configuration.

use std::io;

use proofmark_process::end_with_parent;
use rustix::process::Signal;

use crate::core_dumps;
use crate::error::Outcome;

/// Makes this process the first that the out-of-memory killer ends: that costs one measurement, not
/// the run or another program.
pub(super) fn prefer_for_oom_kill() {
    // Every process may raise its own score.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Serves one job on standard input and output.
pub fn run() -> anyhow::Result<Outcome> {
    // A worker never outlives its run: it ends with its input, and is killed with its parent.
    let _ = end_with_parent(Signal::KILL);
    core_dumps::turn_off();
    prefer_for_oom_kill();
    // A panic in any thread ends the process: the run sees a dead worker, not a silent one.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::abort();
    }));
    proofmark_engine::serve(&proofmark_workloads::find, io::stdin().lock(), io::stdout().lock())?;
    Ok(Outcome::Done)
}
