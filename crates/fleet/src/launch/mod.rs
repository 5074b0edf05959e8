//! Launchers, which reach the nodes; one file each. A launcher starts one process per node, sends
//! it orders and returns its answers.

mod carried;
mod deaths;
mod kubernetes;
mod pipes;
mod slurm;
mod ssh;
mod ssh_config;
mod starts;

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use proofmark_model::shell_word;
use proofmark_process::{Answer, ChildProcess, Input, StartOptions, Stream};

pub use kubernetes::{Cluster, Kubernetes, KubernetesOptions, NodeLabels, manifest};
pub use slurm::{Slurm, SlurmOptions, allocation};
pub use ssh::Ssh;

use crate::protocol::{LONGEST_LINE, Order};

/// Event from a node.
#[derive(Debug)]
pub enum Event {
    /// The node sent a line.
    Line {
        /// The node.
        node: String,
        /// The line without its newline.
        line: Vec<u8>,
    },
    /// The program is being copied to the node.
    Copying {
        /// The node.
        node: String,
        /// Part that is copied.
        copied: Copied,
    },
    /// The node's process has ended.
    Ended {
        /// The node.
        node: String,
        /// End of the process, in words.
        reason: String,
    },
    /// This machine cannot start or read its own processes. No node is at fault.
    Failed(String),
}

/// Part of a program that is copied to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Bytes that are sent.
    pub bytes: u64,
    /// Size of the program, in bytes.
    pub size: u64,
}

/// Reaches the nodes of a fleet.
pub trait Launcher {
    /// Name in options and reports.
    fn name(&self) -> &'static str;

    /// Names of all nodes.
    fn nodes(&self) -> &[String];

    /// The commands that it runs, as typed in a shell.
    fn commands(&self) -> Vec<String>;

    /// Starts the process of every node. Their lines go to `events`.
    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String>;

    /// Sends an order to the nodes that it names.
    fn order(&mut self, order: &Order);

    /// Sends an empty line to every node. A node without input ends after a while.
    fn keep_alive(&mut self);

    /// Ends the process of a node that gets no more orders.
    fn end(&mut self, node: &str);
}

/// Program that nodes run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// This file, copied to each node and removed there once it runs.
    Copied(PathBuf),
    /// The program at this path of each node.
    Installed(String),
}

impl Program {
    /// Accepts a path that no shell interprets in another way.
    pub fn installed(path: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
        match !path.is_empty() && !path.starts_with('-') && path.chars().all(fits) {
            true => Ok(Self::Installed(path.to_owned())),
            false => Err(format!("'{path}' is not a program's path")),
        }
    }
}

/// Splits a command as a shell does, with quotes and backslashes.
///
/// # Errors
///
/// Returns why it names no command.
pub fn command_words(text: &str) -> Result<Vec<String>, String> {
    match shlex::split(text) {
        Some(words) if words.first().is_some_and(|program| !program.is_empty()) => Ok(words),
        Some(_) => Err("it names no command".to_owned()),
        None => Err(format!("a quote or a backslash in '{text}' has no end")),
    }
}

/// Returns a command as typed in a shell.
pub fn typed(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Bytes of a process's error output that are kept.
const WORDS: usize = 64 << 10;
/// Maximum bytes of an answer: a cluster's description of 10 000 nodes.
const LONGEST: usize = 256 << 20;

fn command(words: &[String]) -> Result<(&str, Command), String> {
    let (program, arguments) = words.split_first().ok_or("no command is given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok((program, command))
}

/// Starts a command with piped input and output. `errors` is the way to read its standard error.
/// It has a process group of its own: Ctrl-C and timeout(1) stop this program, which then ends it.
fn start_piped(words: &[String], errors: Stream) -> Result<ChildProcess, String> {
    let (program, mut command) = command(words)?;
    let (input, output) = (Input::Piped, Stream::Lines(LONGEST_LINE));
    let options = StartOptions { input, output, errors, ..StartOptions::default() };
    ChildProcess::start(&mut command, options).map_err(|e| format!("cannot run {program}: {e}"))
}

/// Runs a command and returns its answer. It is in the terminal's process group, so that Ctrl-C ends
/// it too.
fn ask(words: &[String], input: &[u8], within: Duration) -> Result<Answer, String> {
    let (program, mut command) = command(words)?;
    let (output, errors) = (Stream::Head(LONGEST), Stream::Tail(WORDS));
    let options = StartOptions {
        input: Input::Piped,
        output,
        errors,
        own_group: false,
        ..StartOptions::default()
    };
    proofmark_process::ask(&mut command, options, input, within)
        .map_err(|e| format!("cannot run {program}: {e}"))
}

/// Explains why a command gave no answer.
fn describe_failure(answer: &Answer, within: Duration) -> String {
    match answer.exit {
        Some(exit) => exit.with_last_line(&answer.errors),
        None => format!("did not answer within {} s", within.as_secs()),
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|w| (*w).to_owned()).collect()
}
