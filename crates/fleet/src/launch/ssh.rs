//! One ssh per node. The user's configuration applies, host keys are checked, and ssh asks no
//! questions.

use std::io;
use std::sync::mpsc::SyncSender;

use proofmark_process::Exit;

use super::carried::script;
use super::pipes::Pipes;
use super::{Event, Launcher, Program, typed, words};
use crate::protocol::Order;

/// Options of ssh. They end an ssh whose node has not answered for 20 s.
const OPTIONS: [&str; 8] = [
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=15",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oControlMaster=no",
    "-oControlPath=none",
    "-oForwardAgent=no",
];

/// Reaches nodes by ssh.
#[derive(Debug)]
pub struct Ssh {
    nodes: Vec<String>,
    command: Vec<String>,
    program: Program,
    pipes: Pipes,
}

impl Ssh {
    /// Reaches nodes by the names that ssh knows. `command` is ssh with the user's own options.
    pub fn new(nodes: Vec<String>, command: &str, program: Program) -> Self {
        let command = command.split_whitespace().map(str::to_owned).collect();
        Self { nodes, command, program, pipes: Pipes::default() }
    }

    /// Returns the command for a node. `size` is that of the program which it gets, in bytes.
    fn command(&self, node: &str, size: u64) -> Vec<String> {
        let arguments = format!("fleet node --name {node}");
        let remote = match &self.program {
            Program::Copied(_) => {
                format!("sh -c '{}'", script(size, &format!("{arguments} --copied")))
            }
            Program::Installed(path) => format!("{path} {arguments}"),
        };
        let options = words(&OPTIONS);
        [self.command.clone(), options, vec!["--".to_owned(), node.to_owned(), remote]].concat()
    }

    fn size(&self) -> io::Result<u64> {
        match &self.program {
            Program::Copied(path) => Ok(path.metadata()?.len()),
            Program::Installed(_) => Ok(0),
        }
    }
}

impl Launcher for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn commands(&self) -> Vec<String> {
        let size = self.size().unwrap_or(0);
        self.nodes.iter().map(|node| typed(&self.command(node, size))).collect()
    }

    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String> {
        let size = self.size().map_err(|e| format!("cannot read this program's own file: {e}"))?;
        for node in &self.nodes {
            let first = match &self.program {
                Program::Copied(path) => Some(path.clone()),
                Program::Installed(_) => None,
            };
            self.pipes.start(node, self.command(node, size), first, &events, describe_exit)?;
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) {
        self.pipes.order(order);
    }

    fn keep_alive(&mut self) {
        self.pipes.keep_alive();
    }

    fn end(&mut self, node: &str) {
        self.pipes.end(node);
    }
}

fn describe_exit(exit: Option<Exit>) -> String {
    match exit {
        Some(Exit::Status(0)) => "its process ended".to_owned(),
        Some(Exit::Status(255)) => "ssh could not connect, or lost the connection".to_owned(),
        Some(exit) => format!("its process {exit}"),
        None => "its process was killed".to_owned(),
    }
}
