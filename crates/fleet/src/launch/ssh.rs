//! One ssh per node. The user's configuration applies, host keys are checked, and ssh asks no
//! questions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use proofmark_model::clean_excerpt;
use proofmark_process::{Exit, last_line};

use super::carried::{script, waiting};
use super::deaths::describe;
use super::pipes::{Pipes, ProcessEnd, Way, by_pipes};
use super::ssh_config::SshConfig;
use super::{Event, Launcher, Program, ask, typed, words};
use crate::protocol::Order;

/// Words of an ssh whose jump host closed the connection.
const OF_JUMP: &str = "UNKNOWN port 65535";
/// Status with which ssh reports its own failures.
const OF_SSH: Exit = Exit::Status(255);
/// Time limit for this machine to resolve a name.
const RESOLVE: Duration = Duration::from_secs(20);
/// Maximum letters of a jump host.
const LONGEST_VIA: usize = 80;

/// Errors of a server that has too many connections, or of a network that lost one.
const REFUSED: [&str; 12] = [
    "connection closed by",
    "connection reset by",
    "closed by remote host",
    "connection refused",
    "banner exchange",
    "broken pipe",
    "not allowed at this time",
    "exceeded maxstartups",
    "session open refused",
    "stdio forwarding failed",
    "unknown port 65535 timed out",
    "temporary failure in name resolution",
];
/// Errors that no further try changes.
const FINAL: [&str; 5] = [
    "permission denied",
    "host key verification failed",
    "remote host identification has changed",
    "too many authentication failures",
    "bad configuration option",
];
/// Number of tries of a host without a server: it may be about to start.
const TRIES_WITHOUT_SERVER: u32 = 3;

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
    pub fn new(nodes: Vec<String>, command: Vec<String>, program: Program) -> Self {
        Self { nodes, command, program, pipes: Pipes::default() }
    }

    /// Returns true if ssh's configuration or this machine knows the host, or if that is not known.
    pub fn knows(command: &[String], host: &str) -> bool {
        let name = host.rsplit('@').next().unwrap_or(host);
        // A static program cannot load all of the system's ways to resolve a name.
        let resolve = || match ask(&words(&["getent", "ahosts", name]), &[], RESOLVE) {
            Ok(answer) => answer.exit.is_none() || answer.is_success(),
            Err(_) => true,
        };
        SshConfig::ask(command, host).leads_elsewhere(host) || resolve()
    }

    /// Returns the way to a node. `size` is that of the program which it gets, in bytes.
    fn way(&self, node: &str, size: u64) -> SshWay {
        let arguments = format!("fleet node --name {node}");
        let (script, program) = match &self.program {
            Program::Copied(path) => {
                (script(size, &format!("{arguments} --copied"), true), Some(path.clone()))
            }
            Program::Installed(path) => (waiting(path, &arguments), None),
        };
        SshWay {
            ssh: self.command.clone(),
            node: node.to_owned(),
            remote: format!("sh -c '{script}'"),
            program,
            config: SshConfig::default(),
        }
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
        self.nodes.iter().map(|node| typed(&self.way(node, size).command())).collect()
    }

    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String> {
        let size = self.size().map_err(|e| format!("cannot read this program's own file: {e}"))?;
        for node in &self.nodes {
            self.pipes.start(node, self.way(node, size), &events)?;
        }
        Ok(())
    }

    by_pipes!();
}

/// The way to a node by ssh.
struct SshWay {
    /// ssh with the user's own options.
    ssh: Vec<String>,
    node: String,
    /// Command for the node's login shell.
    remote: String,
    program: Option<PathBuf>,
    config: SshConfig,
}

impl Way for SshWay {
    fn command(&mut self) -> Vec<String> {
        self.config = SshConfig::ask(&self.ssh, &self.node);
        let target = ["--", &self.node, &self.remote].map(str::to_owned);
        [self.ssh.clone(), self.config.options(), target.to_vec()].concat()
    }

    fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    fn describe(&self, end: &ProcessEnd) -> String {
        match end.exit {
            Some(OF_SSH) if end.was_reached => "ssh lost the connection".to_owned(),
            Some(OF_SSH) => {
                let via = self.config.via();
                let via = via.map(|via| format!(" through {}", clean_excerpt(via, LONGEST_VIA)));
                let tries = match end.tries {
                    1 => String::new(),
                    tries => format!(" in {tries} tries"),
                };
                format!("ssh could not connect{}{tries}", via.unwrap_or_default())
            }
            Some(Exit::Status(status)) => describe(Exit::Status(status)),
            Some(exit) => format!("ssh {exit}"),
            None => "its process was killed".to_owned(),
        }
    }

    fn last_words(&self, errors: &str) -> Option<String> {
        // What the jump host's ssh said comes before it.
        let is_telling = |line: &&str| !line.contains(OF_JUMP);
        let telling: Vec<&str> = errors.lines().filter(is_telling).collect();
        last_line(&telling.join("\n")).or_else(|| last_line(errors))
    }

    fn is_refused(&self, end: &ProcessEnd) -> bool {
        let errors = end.errors.to_ascii_lowercase();
        let has = |all: &[&str]| all.iter().any(|one| errors.contains(one));
        let no_server = errors.contains("connection refused");
        end.exit == Some(OF_SSH)
            && has(&REFUSED)
            && !has(&FINAL)
            && !(no_server && end.tries >= TRIES_WITHOUT_SERVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(config: &str) -> SshWay {
        let program = Program::Installed("proofmark".to_owned());
        let ssh = Ssh::new(vec!["n1".to_owned()], vec!["false".to_owned()], program);
        SshWay { config: SshConfig::parse(config), ..ssh.way("n1", 0) }
    }

    fn end(exit: Exit, errors: &str, tries: u32) -> ProcessEnd {
        ProcessEnd { exit: Some(exit), was_reached: false, errors: errors.to_owned(), tries }
    }

    #[test]
    fn a_server_that_is_too_busy_is_asked_again_and_a_refused_key_is_not() {
        let refused = |errors: &str| way("").is_refused(&end(OF_SSH, errors, 1));
        for errors in [
            "kex_exchange_identification: Connection closed by remote host\n\
             Connection closed by UNKNOWN port 65535",
            "Connection reset by 10.0.0.1 port 22",
            "Connection timed out during banner exchange",
            "Not allowed at this time\nssh_dispatch_run_fatal: Broken pipe",
            "mux_client_request_session: session request failed: Session open refused by peer",
            "ssh: connect to host n1 port 22: Connection refused",
        ] {
            assert!(refused(errors), "{errors}");
        }
        for errors in [
            "root@n1: Permission denied (publickey).\nConnection closed by 10.0.0.1 port 22",
            "Host key verification failed.\nConnection closed by UNKNOWN port 65535",
            "ssh: connect to host n1 port 22: No route to host",
            "ssh: connect to host n1 port 22: Connection timed out",
            "",
        ] {
            assert!(!refused(errors), "{errors}");
        }
        let errors = "ssh: connect to host n1 port 22: Connection refused";
        assert!(!way("").is_refused(&end(OF_SSH, errors, TRIES_WITHOUT_SERVER)));
        let of_node = end(Exit::Status(1), "Connection closed by remote host", 1);
        assert!(!way("").is_refused(&of_node), "an error of the node's own program");
    }

    #[test]
    fn a_lost_node_is_described_by_what_failed() {
        let through = way("proxyjump gw\n");
        let described = |exit, reached, tries| {
            through.describe(&ProcessEnd { was_reached: reached, ..end(exit, "", tries) })
        };
        assert_eq!(described(OF_SSH, false, 1), "ssh could not connect through gw");
        assert_eq!(described(OF_SSH, false, 10), "ssh could not connect through gw in 10 tries");
        assert_eq!(described(OF_SSH, true, 1), "ssh lost the connection");
        assert_eq!(described(Exit::Signal(9), true, 1), "ssh was killed by SIGKILL");
        let jump = "connect to host gw port 22: Connection refused\nConnection closed by UNKNOWN \
                    port 65535\n";
        let words = through.last_words(jump);
        assert_eq!(words.as_deref(), Some("connect to host gw port 22: Connection refused"));
        let words = through.last_words("Connection closed by UNKNOWN port 65535");
        assert!(words.is_some());
        let killed = described(Exit::Status(137), true, 1);
        assert!(killed.starts_with("its process was killed by SIGKILL"), "{killed}");
    }
}
