//! `proofmark worker`: the child process that measures one point.

use std::io;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::core_dumps;
use crate::error::Outcome;

/// Serves one job on standard input and output.
pub fn run() -> anyhow::Result<Outcome> {
    // A worker never outlives its run: it ends with its input, and is killed with its parent.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    core_dumps::turn_off();
    // Where memory ends, the system ends a worker first: that costs one measurement. Everybody may
    // raise this number; where it is refused, the system chooses as usual.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // A panic in any thread ends the process: the run sees a dead worker, not a silent one.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tell(info);
        std::process::abort();
    }));
    proofmark_engine::serve(&proofmark_workloads::find, io::stdin().lock(), io::stdout().lock())?;
    Ok(Outcome::Done)
}
