//! `proofmark tool`: runs a program on given CPUs. Its descendants end with it and with the run.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use proofmark_engine::pin_to;
use proofmark_process::{
    ChildProcess, Exit, Input, Origin, StartOptions, Stream, end_descendants, end_with_parent,
};
use rustix::process::{Signal, getpid, set_child_subreaper};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::worker::prefer_for_oom_kill;
use crate::cli::ToolArgs;
use crate::error::{Outcome, usage};

/// Runs the program; ends with its exit status.
pub fn run(args: &ToolArgs) -> Result<Outcome> {
    if !end_with_parent(Signal::TERM).context("cannot watch the parent process")? {
        return Ok(Outcome::Failed); // The run has already ended.
    }
    // Orphans of the program become children of this process, which ends them.
    set_child_subreaper(Some(getpid())).context("cannot track the program's children")?;
    // The kernel sends SIGHUP, with SIGCONT, to a stopped process group whose run has ended.
    let numbers = [SIGCHLD, SIGTERM, SIGINT, SIGHUP];
    let mut signals = Signals::new(numbers).context("cannot handle signals")?;
    // The program inherits this.
    prefer_for_oom_kill();
    pin(&args.cpu)?;
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(usage("no program given"));
    };
    let inherited = StartOptions {
        origin: Origin::Other,
        own_group: false,
        input: Input::Inherited,
        output: Stream::Inherited,
        errors: Stream::Inherited,
        grace: Duration::ZERO,
    };
    let started = ChildProcess::start(Command::new(program).args(arguments), inherited);
    let mut child = started.with_context(|| format!("cannot run {}", program.display()))?;
    let exit = wait_for(&mut child, &mut signals);
    end_descendants();
    Ok(match exit {
        Some(exit) => Outcome::Status(exit.shell_status()),
        None => Outcome::Stopped(SIGTERM),
    })
}

fn pin(cpus: &[u32]) -> Result<()> {
    match cpus {
        [] => Ok(()),
        _ => pin_to(cpus).context("cannot set the CPU affinity"),
    }
}

/// Waits for the end of the program; `None` if a signal ends this process first.
fn wait_for(child: &mut ChildProcess, signals: &mut Signals) -> Option<Exit> {
    loop {
        // A signal that arrived earlier is still in the queue.
        if let Some(ended) = child.wait(Duration::ZERO) {
            return Some(ended.exit);
        }
        if signals.wait().any(|signal| signal != SIGCHLD) {
            return None;
        }
    }
}
