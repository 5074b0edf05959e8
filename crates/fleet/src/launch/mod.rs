//! How nodes are reached. One file a launcher: it starts one process a node, passes orders on and
//! hands back what the nodes say.

mod carried;
mod kubernetes;
mod pipes;
mod slurm;
mod ssh;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::SyncSender;

use proofmark_model::{clean_excerpt, shell_word};

pub use kubernetes::{Cluster, Kubernetes, KubernetesOptions, NodeLabels, manifest};
pub use slurm::{Slurm, SlurmOptions, allocation};
pub use ssh::Ssh;

use crate::protocol::Order;

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

/// Starts a command whose standard input, output and errors reach us.
fn start_piped(command: &[String]) -> Result<Child, String> {
    let (program, arguments) = command.split_first().ok_or("no command is given")?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run {program}: {e}"))
}

/// A process's last words.
fn last_line(text: &[u8]) -> Option<String> {
    const LETTERS: usize = 200;
    let text = String::from_utf8_lossy(text);
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(clean_excerpt(last.trim(), LETTERS))
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|w| (*w).to_owned()).collect()
}
