//! `proofmark tool`: becomes another program, on some CPUs, that ends with the run.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::cli::ToolArgs;
use crate::error::{Outcome, Usage};

/// Runs the command; returns only if it could not.
pub fn run(args: &ToolArgs) -> Result<Outcome> {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut set = CpuSet::new();
    args.cpu.iter().for_each(|cpu| set.set(*cpu as usize));
    if !args.cpu.is_empty() {
        sched_setaffinity(None, &set).context("it cannot be put on its CPUs")?;
    }
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(Usage::error("no program was named"));
    };
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}
