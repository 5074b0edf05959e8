//! One process for each node, whose standard input and output reach the program there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Event, last_line};
use crate::lines::next_line;
use crate::protocol::{LONGEST_LINE, Order};

/// How long nodes may take to end.
const GRACE: Duration = Duration::from_secs(8);
/// How often it is looked whether a process has ended.
const STEP: Duration = Duration::from_millis(20);
/// Bytes of a process's last words that are read.
const WORDS: u64 = 64 << 10;

/// The processes by node. All end with this value.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    links: BTreeMap<String, Link>,
}

/// Without its sender, the process gets the end of its input.
#[derive(Debug)]
struct Link {
    orders: Option<Sender<Vec<u8>>>,
    process: Arc<Mutex<Child>>,
}

impl Pipes {
    /// Starts the process of a node; what is in a file goes to its input first. `how_it_ended` has
    /// words for its exit status.
    pub(super) fn start(
        &mut self,
        node: &str,
        command: &[String],
        first: Option<PathBuf>,
        events: &SyncSender<Event>,
        how_it_ended: fn(Option<i32>) -> String,
    ) -> Result<(), String> {
        let (program, arguments) = command.split_first().ok_or("no command is given")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot run {program}: {e}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let errors = child.stderr.take();
        let process = Arc::new(Mutex::new(child));
        let (to, orders) = channel();
        let cannot = |e: io::Error| format!("cannot start a thread for {node}: {e}");
        let feeder = move || input.map(|input| feed(input, first.as_deref(), &orders));
        thread::Builder::new().spawn(feeder).map_err(cannot)?;
        let (name, events, ended) = (node.to_owned(), events.clone(), Arc::clone(&process));
        let listener = move || {
            if let Some(output) = output {
                listen(&name, output, &events);
            }
            let mut last = Vec::new();
            let _ = errors.map(|errors| errors.take(WORDS).read_to_end(&mut last));
            let how = how_it_ended(status(&ended));
            let reason = last_line(&last).map_or(how.clone(), |last| format!("{how}: {last}"));
            let _ = events.send(Event::Ended { node: name, reason });
        };
        thread::Builder::new().spawn(listener).map_err(cannot)?;
        self.links.insert(node.to_owned(), Link { orders: Some(to), process });
        Ok(())
    }

    /// Passes an order on to the nodes that it names.
    pub(super) fn order(&self, order: &Order) {
        for node in &order.nodes {
            let own = Order { nodes: vec![node.clone()], ..order.clone() };
            if let Some((link, line)) = self.links.get(node).zip(own.line()) {
                link.send(line);
            }
        }
    }

    /// Sends an empty line to every node.
    pub(super) fn wake(&self) {
        self.links.values().for_each(|link| link.send(b"\n".to_vec()));
    }

    /// Ends the process of a node at once.
    pub(super) fn end(&mut self, node: &str) {
        if let Some(link) = self.links.remove(node) {
            link.kill();
        }
    }
}

/// How a process ended, once it has; nobody is kept from killing it meanwhile.
fn status(process: &Mutex<Child>) -> Option<i32> {
    loop {
        let seen = process.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
        match seen {
            Ok(None) => thread::sleep(STEP),
            ended => return ended.ok().flatten()?.code(),
        }
    }
}

impl Link {
    fn send(&self, line: Vec<u8>) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(line);
        }
    }

    fn kill(&self) {
        let _ = self.process.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }

    fn is_over(&self) -> bool {
        let mut child = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(child.try_wait(), Ok(None))
    }
}

impl Drop for Pipes {
    /// Ends the input of all nodes, and after a while the processes that do not end by themselves.
    fn drop(&mut self) {
        self.links.values_mut().for_each(|link| link.orders = None);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && !self.links.values().all(Link::is_over) {
            thread::sleep(STEP);
        }
        self.links.values().for_each(Link::kill);
    }
}

/// Writes the file, and then the orders as they come.
fn feed(mut input: ChildStdin, first: Option<&Path>, orders: &Receiver<Vec<u8>>) -> io::Result<()> {
    if let Some(path) = first {
        io::copy(&mut File::open(path)?, &mut input)?;
    }
    orders.iter().try_for_each(|line| input.write_all(&line))
}

/// Hands on what a node says.
fn listen(node: &str, output: ChildStdout, events: &SyncSender<Event>) {
    let mut output = BufReader::new(output);
    while let Ok(Some(line)) = next_line(&mut output, LONGEST_LINE) {
        if events.send(Event::Said { node: node.to_owned(), line }).is_err() {
            return;
        }
    }
}
