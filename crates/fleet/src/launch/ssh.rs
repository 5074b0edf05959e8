//! One ssh a node. The user's configuration applies, host keys are checked, nothing is asked.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::carried::script;
use super::{Event, Launcher, Program, last_line, typed, words};
use crate::lines::next_line;
use crate::protocol::{LONGEST_LINE, Order};

/// How long nodes may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Ends an ssh whose node does not answer any more within 20 s.
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
    links: BTreeMap<String, Link>,
}

/// To a node's process. Without its sender, the process gets the end of its input.
#[derive(Debug)]
struct Link {
    orders: Option<Sender<Vec<u8>>>,
    process: std::sync::Arc<std::sync::Mutex<Child>>,
}

impl Ssh {
    /// Nodes by the names that ssh knows; `command` is ssh with the user's own options.
    pub fn new(nodes: Vec<String>, command: &str, program: Program) -> Self {
        let command = command.split_whitespace().map(str::to_owned).collect();
        Self { nodes, command, program, links: BTreeMap::new() }
    }

    /// The command for a node that gets a program of so many bytes.
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

    fn start_on(&self, node: &str, size: u64, events: &Sender<Event>) -> io::Result<Link> {
        let command = self.command(node, size);
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let errors = child.stderr.take();
        let process = std::sync::Arc::new(std::sync::Mutex::new(child));
        let (to, orders) = channel();
        let file = match &self.program {
            Program::Copied(path) => Some(path.clone()),
            Program::Installed(_) => None,
        };
        thread::spawn(move || input.map(|input| feed(input, file.as_deref(), &orders)));
        let (node, events, ended) = (node.to_owned(), events.clone(), process.clone());
        thread::spawn(move || {
            if let Some(output) = output {
                listen(&node, output, &events);
            }
            let mut last = Vec::new();
            let _ = errors.map(|errors| errors.take(64 << 10).read_to_end(&mut last));
            let status = ended.lock().map(|mut child| child.wait());
            let status = status.ok().and_then(Result::ok).and_then(|s| s.code());
            let _ = events.send(Event::Ended { node, reason: how_it_ended(status, &last) });
        });
        Ok(Link { orders: Some(to), process })
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

    fn start(&mut self, events: Sender<Event>) -> Result<(), String> {
        let size = self.size().map_err(|e| format!("cannot read this program's own file: {e}"))?;
        for node in self.nodes.clone() {
            let link = self.start_on(&node, size, &events);
            let name = self.command.first().map_or("ssh", String::as_str);
            let link = link.map_err(|e| format!("cannot run {name}: {e}"))?;
            self.links.insert(node, link);
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) {
        let Ok(mut line) = serde_json::to_vec(order) else { return };
        line.push(b'\n');
        let links = order.nodes.iter().filter_map(|node| self.links.get(node)?.orders.as_ref());
        links.for_each(|orders| drop(orders.send(line.clone())));
    }

    fn end(&mut self, node: &str) {
        if let Some(mut link) = self.links.remove(node) {
            link.orders = None;
            link.kill();
        }
    }
}

impl Link {
    fn kill(&self) {
        // Who waits for it holds the lock, and it has ended its output then.
        if let Ok(mut child) = self.process.try_lock() {
            let _ = child.kill();
        }
    }

    fn is_over(&self) -> bool {
        self.process.try_lock().is_ok_and(|mut child| matches!(child.try_wait(), Ok(Some(_))))
    }
}

impl Drop for Ssh {
    /// Ends the input of all nodes, and after a while those that do not end by themselves.
    fn drop(&mut self) {
        self.links.values_mut().for_each(|link| link.orders = None);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && !self.links.values().all(Link::is_over) {
            thread::sleep(Duration::from_millis(20));
        }
        self.links.values().for_each(Link::kill);
    }
}

/// Writes the program, and then the orders as they come.
fn feed(
    mut input: ChildStdin,
    program: Option<&Path>,
    orders: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    if let Some(path) = program {
        io::copy(&mut File::open(path)?, &mut input)?;
    }
    orders.iter().try_for_each(|line| input.write_all(&line))
}

/// Hands on what a node says.
fn listen(node: &str, output: ChildStdout, events: &Sender<Event>) {
    let mut output = BufReader::new(output);
    while let Ok(Some(line)) = next_line(&mut output, LONGEST_LINE) {
        if events.send(Event::Said { node: node.to_owned(), line }).is_err() {
            return;
        }
    }
}

/// `ssh ended with status 255: Permission denied (publickey).`
fn how_it_ended(status: Option<i32>, errors: &[u8]) -> String {
    let last = last_line(errors);
    let how = match status {
        Some(0) => "its process ended".to_owned(),
        Some(255) => "ssh lost it or never reached it".to_owned(),
        Some(status) => format!("its process ended with status {status}"),
        None => "its process was killed".to_owned(),
    };
    last.map_or(how.clone(), |last| format!("{how}: {last}"))
}
