//! `proofmark tool`: runs a program on some CPUs. What it starts outlives neither it nor the run.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};

use anyhow::{Context as _, Result};
use proofmark_engine::pin_to;
use proofmark_reference::spawn;
use rustix::process::{
    Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::worker::go_first;
use crate::cli::ToolArgs;
use crate::descendants;
use crate::error::{Outcome, usage};

/// Runs the command; ends as the program does.
pub fn run(args: &ToolArgs) -> Result<Outcome> {
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::TERM))
        .context("cannot watch the parent process")?;
    // What its children leave behind becomes a child of this process.
    set_child_subreaper(Some(getpid())).context("cannot track the program's children")?;
    // SIGHUP is what the kernel sends, with SIGCONT, to a stopped group whose run is gone.
    let numbers = [SIGCHLD, SIGTERM, SIGINT, SIGHUP];
    let mut signals = Signals::new(numbers).context("cannot handle signals")?;
    if getppid() != parent {
        return Ok(Outcome::Failed); // The run ended before it could be followed.
    }
    // What it starts inherits that.
    go_first();
    pin(&args.cpu)?;
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(usage("no program given"));
    };
    let started = spawn(Command::new(program).args(arguments));
    let mut child = started.with_context(|| format!("cannot run {}", program.display()))?;
    let ended = wait_for(&mut child, &mut signals);
    descendants::end_all();
    Ok(match ended {
        Some(status) => Outcome::Status(status.code().unwrap_or_else(|| killed_by(status))),
        None => Outcome::Stopped(SIGTERM),
    })
}

fn pin(cpus: &[u32]) -> Result<()> {
    match cpus {
        [] => Ok(()),
        _ => pin_to(cpus).context("cannot set its CPU affinity"),
    }
}

/// The status of the program; `None` if a signal ends this process first.
fn wait_for(child: &mut Child, signals: &mut Signals) -> Option<ExitStatus> {
    loop {
        // A signal that came before is kept.
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if signals.wait().any(|signal| signal != SIGCHLD) {
            return None;
        }
    }
}

/// As a shell reports it.
fn killed_by(status: ExitStatus) -> i32 {
    128 + status.signal().unwrap_or(0)
}
