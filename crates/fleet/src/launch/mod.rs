//! How nodes are reached. One file a launcher: it starts one process a node, passes orders on and
//! hands back what the nodes say.

mod carried;
mod kubernetes;
mod pipes;
mod slurm;
mod ssh;

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

/// What comes from a node.
#[derive(Debug)]
pub enum Event {
    /// A line without its end.
    Said {
        /// The node.
        node: String,
        /// What it said.
        line: Vec<u8>,
    },
    /// Its process is gone.
    Ended {
        /// The node.
        node: String,
        /// How, in words.
        reason: String,
    },
    /// This machine cannot start or hear its processes, for no fault of a node.
    Failed(String),
}

/// Reaches the nodes of a fleet.
pub trait Launcher {
    /// Its name, as options and reports have it.
    fn name(&self) -> &'static str;

    /// All nodes by name.
    fn nodes(&self) -> &[String];

    /// The commands that it runs, as a person would type them.
    fn commands(&self) -> Vec<String>;

    /// Starts the process of every node. What they say goes to `events`.
    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String>;

    /// Passes an order on to the nodes that it names.
    fn order(&mut self, order: &Order);

    /// Sends an empty line to every node: one that hears nothing for long ends by itself.
    fn keep_alive(&mut self);

    /// Ends the process of a node, of which nothing more is wanted.
    fn end(&mut self, node: &str);
}

/// The program that nodes run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// This file, copied to each node; it is gone from there once it runs.
    Copied(PathBuf),
    /// The one that each node has under this path.
    Installed(String),
}

impl Program {
    /// Refuses a path that a shell would read as something else.
    pub fn installed(path: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
        match !path.is_empty() && !path.starts_with('-') && path.chars().all(fits) {
            true => Ok(Self::Installed(path.to_owned())),
            false => Err(format!("'{path}' is not a program's path")),
        }
    }
}

/// A command as a person types it.
pub fn typed(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Bytes of a process's last words that are kept.
const WORDS: usize = 64 << 10;
/// Bytes of an answer that are kept: 10 000 nodes as a cluster describes them.
const LONGEST: usize = 256 << 20;

/// Options of a launcher's process: in the terminal's group, so that Ctrl-C reaches it too.
fn in_group() -> StartOptions {
    StartOptions { own_group: false, ..StartOptions::default() }
}

fn command(words: &[String]) -> Result<(&str, Command), String> {
    let (program, arguments) = words.split_first().ok_or("no command is given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok((program, command))
}

/// Starts a command whose input is piped; `errors` is how its standard error is read.
fn start_piped(words: &[String], errors: Stream) -> Result<ChildProcess, String> {
    let (program, mut command) = command(words)?;
    let (input, output) = (Input::Piped, Stream::Lines(LONGEST_LINE));
    let options = StartOptions { input, output, errors, ..in_group() };
    ChildProcess::start(&mut command, options).map_err(|e| format!("cannot run {program}: {e}"))
}

/// Runs a command to its end.
fn ask(words: &[String], input: &[u8], within: Duration) -> Result<Answer, String> {
    let (program, mut command) = command(words)?;
    let (output, errors) = (Stream::Head(LONGEST), Stream::Tail(WORDS));
    let options = StartOptions { input: Input::Piped, output, errors, ..in_group() };
    proofmark_process::ask(&mut command, options, input, within)
        .map_err(|e| format!("cannot run {program}: {e}"))
}

/// Why a command gave no answer.
fn describe_failure(answer: &Answer, within: Duration) -> String {
    match answer.exit {
        Some(exit) => exit.with_last_line(&answer.errors),
        None => format!("did not answer within {} s", within.as_secs()),
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|w| (*w).to_owned()).collect()
}
