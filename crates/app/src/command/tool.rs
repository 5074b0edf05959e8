//! `proofmark tool`: runs another program on some CPUs. Nothing that it starts stays: not when it
//! ends, nor when the run does.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};

use anyhow::{Context as _, Result};
use proofmark_engine::pin_to;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::ToolArgs;
use crate::error::{Outcome, Usage};

/// Runs the command; ends as the program does.
pub fn run(args: &ToolArgs) -> Result<Outcome> {
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::TERM)).context("cannot follow the run's end")?;
    // What its children leave behind becomes a child of this process.
    set_child_subreaper(Some(getpid())).context("cannot look after the program's children")?;
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGINT]).context("cannot handle signals")?;
    if getppid() != parent {
        return Ok(Outcome::Failed); // The run ended before it could be followed.
    }
    pin(&args.cpu)?;
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(Usage::error("no program was named"));
    };
    let started = Command::new(program).args(arguments).spawn();
    let mut child = started.with_context(|| format!("cannot run {}", program.display()))?;
    let ended = wait_for(&mut child, &mut signals);
    end_all();
    Ok(match ended {
        Some(status) => Outcome::Status(status.code().unwrap_or_else(|| killed_by(status))),
        None => Outcome::Stopped(SIGTERM),
    })
}

fn pin(cpus: &[u32]) -> Result<()> {
    match cpus {
        [] => Ok(()),
        _ => pin_to(None, cpus).context("it cannot be put on its CPUs"),
    }
}

/// The status of the program; `None` if this process was told to end first.
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

/// As a shell tells it.
fn killed_by(status: ExitStatus) -> i32 {
    128 + status.signal().unwrap_or(0)
}

/// Kills all descendants, and waits until there are none.
fn end_all() {
    loop {
        let left = descendants();
        if left.is_empty() {
            return;
        }
        for pid in left {
            // It may have just ended.
            let _ = kill_process(pid, Signal::KILL);
        }
        if wait(WaitOptions::empty()).is_err() {
            return; // None is left.
        }
    }
}

/// Processes below this one that are not over.
fn descendants() -> Vec<Pid> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // `pid (name) state parent ...`: a name may hold anything.
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(1);
        if let (Some(pid), Some(parent)) = (pid, fields.next().and_then(|p| p.parse().ok())) {
            parents.push((pid, parent));
        }
    }
    let mut below = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    let own = below.clone();
    while parents.iter().any(|(pid, parent)| below.contains(parent) && below.insert(*pid)) {}
    below.difference(&own).copied().filter_map(Pid::from_raw).collect()
}
