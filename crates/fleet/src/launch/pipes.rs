//! One process per node, whose standard input and output reach the program there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proofmark_model::lock;
use proofmark_process::{Capture, ChildProcess, Exit, Line, Lines, Stream, last_line};

use super::carried::READY;
use super::starts::{Start, Starts, Tries};
use super::{Copied, Event, WORDS, start_piped};
use crate::protocol::Order;

/// Time limit for nodes to end.
const GRACE: Duration = Duration::from_secs(8);
/// Interval between checks whether a process has ended.
const STEP: Duration = Duration::from_millis(20);
/// Silence after which the output of an ended process is complete: another process may hold it
/// open.
const QUIET: Duration = Duration::from_secs(1);
/// Interval between reports about a copy.
const REPORT: Duration = Duration::from_millis(500);

/// The way to a node.
pub(super) trait Way: Send + 'static {
    /// Returns the command that starts the program there.
    fn command(&mut self) -> Vec<String>;

    /// File that goes to the command's input when it prints [`READY`], before orders.
    fn program(&self) -> Option<&Path>;

    /// Describes how the command ended.
    fn describe(&self, end: &ProcessEnd) -> String;

    /// Returns the line of its error output that tells most.
    fn last_words(&self, errors: &str) -> Option<String> {
        last_line(errors)
    }

    /// Returns true if another try may succeed, since a server refused this one.
    fn is_refused(&self, end: &ProcessEnd) -> bool;
}

/// End of a node's process.
#[derive(Debug, Clone)]
pub(super) struct ProcessEnd {
    /// How it ended; `None` if this program ended it.
    pub(super) exit: Option<Exit>,
    /// True if it had printed a line: the node was reached.
    pub(super) was_reached: bool,
    /// The end of its error output.
    pub(super) errors: String,
    /// Number of tries so far.
    pub(super) tries: u32,
}

/// Processes by node. All end when this value is dropped.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    links: BTreeMap<String, NodeProcess>,
    starts: Arc<Starts>,
}

/// Process of a node. Dropping `orders` closes its input.
#[derive(Debug)]
struct NodeProcess {
    orders: Option<Sender<Vec<u8>>>,
    process: Arc<Mutex<Process>>,
}

#[derive(Debug)]
enum Process {
    Waits,
    Runs(ChildProcess),
    /// It is to run no more.
    Unwanted,
}

impl Pipes {
    /// Starts the process of a node as soon as few others start.
    pub(super) fn start(
        &mut self,
        node: &str,
        way: impl Way,
        events: &SyncSender<Event>,
    ) -> Result<(), String> {
        let process = Arc::new(Mutex::new(Process::Waits));
        let (to, orders) = channel();
        let talk = Talk {
            node: node.to_owned(),
            process: Arc::clone(&process),
            orders: Some(orders),
            starts: Arc::clone(&self.starts),
            events: events.clone(),
        };
        let started = thread::Builder::new().spawn(move || talk.run(way));
        started.map_err(|e| format!("cannot start a thread for {node}: {e}"))?;
        self.links.insert(node.to_owned(), NodeProcess { orders: Some(to), process });
        Ok(())
    }

    /// Sends an order to the nodes that it names.
    pub(super) fn order(&self, order: &Order) {
        for node in &order.nodes {
            let own = Order { nodes: vec![node.clone()], ..order.clone() };
            if let Some((link, line)) = self.links.get(node).zip(own.line()) {
                link.send(line);
            }
        }
    }

    /// Sends an empty line to every node.
    pub(super) fn keep_alive(&self) {
        self.links.values().for_each(|link| link.send(b"\n".to_vec()));
    }

    /// Ends the process of a node at once.
    pub(super) fn end(&mut self, node: &str) {
        if let Some(link) = self.links.remove(node) {
            link.kill();
        }
    }
}

/// The methods of a launcher that its field `pipes` does.
macro_rules! by_pipes {
    () => {
        fn order(&mut self, order: &Order) {
            self.pipes.order(order);
        }

        fn keep_alive(&mut self) {
            self.pipes.keep_alive();
        }

        fn end(&mut self, node: &str) {
            self.pipes.end(node);
        }
    };
}
pub(super) use by_pipes;

impl Process {
    fn is_over(&mut self) -> bool {
        match self {
            Self::Runs(child) => child.is_over(),
            Self::Waits | Self::Unwanted => true,
        }
    }
}

impl NodeProcess {
    fn send(&self, line: Vec<u8>) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(line);
        }
    }

    fn kill(&self) {
        let mut process = lock(&self.process);
        if let Process::Runs(child) = &mut *process {
            child.end(Duration::ZERO);
        }
        *process = Process::Unwanted;
    }

    /// Prevents the start of a process that still waits.
    fn prevent_start(&self) {
        if !matches!(*lock(&self.process), Process::Runs(_)) {
            self.kill();
        }
    }

    fn is_over(&self) -> bool {
        lock(&self.process).is_over()
    }
}

impl Drop for Pipes {
    /// Closes the input of all nodes, and kills the processes that do not end in time.
    fn drop(&mut self) {
        // First those that would start when others end.
        self.starts.close();
        self.links.values().for_each(NodeProcess::prevent_start);
        self.links.values_mut().for_each(|link| link.orders = None);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && !self.links.values().all(NodeProcess::is_over) {
            thread::sleep(STEP);
        }
        self.links.values().for_each(NodeProcess::kill);
    }
}

/// The thread of a node: it starts the process, and exchanges lines with it.
struct Talk {
    node: String,
    process: Arc<Mutex<Process>>,
    /// Orders for the node, until another thread writes them.
    orders: Option<Receiver<Vec<u8>>>,
    starts: Arc<Starts>,
    events: SyncSender<Event>,
}

/// Pipes to and from a process.
struct Streams {
    input: Option<ChildStdin>,
    output: Lines,
    errors: Capture,
}

impl Talk {
    /// Runs the process, again if a server refused it, and reports its end.
    fn run(mut self, mut way: impl Way) {
        let mut tries = Tries::new();
        let event = loop {
            let Some(start) = self.starts.next() else { return };
            let end = match self.attempt(&mut way, start, tries.count) {
                Ok(Some(end)) => end,
                Ok(None) => return,
                Err(why) => break Event::Failed(why),
            };
            if !end.was_reached && way.is_refused(&end) {
                self.starts.slow_down();
                if let Some(pause) = tries.pause() {
                    if self.wait(pause) {
                        continue;
                    }
                    return;
                }
            }
            let how = way.describe(&end);
            let reason = match way.last_words(&end.errors) {
                Some(last) => format!("{how}: {last}"),
                None => how,
            };
            break Event::Ended { node: self.node, reason };
        };
        let _ = self.events.send(event);
    }

    /// Waits between two tries. Returns false if no further one is wanted.
    fn wait(&self, pause: Duration) -> bool {
        {
            let mut process = lock(&self.process);
            if matches!(*process, Process::Unwanted) {
                return false;
            }
            *process = Process::Waits;
        }
        let begun = Instant::now();
        while begun.elapsed() < pause && !matches!(*lock(&self.process), Process::Unwanted) {
            thread::sleep(STEP);
        }
        true
    }

    /// Runs the process once; `None` if it is unwanted.
    fn attempt(
        &mut self,
        way: &mut impl Way,
        start: Start,
        tries: u32,
    ) -> Result<Option<ProcessEnd>, String> {
        let Some(mut streams) = self.begin(&way.command())? else { return Ok(None) };
        let was_reached = self.listen(&mut streams, way.program(), start)?;
        let exit = self.exit();
        let errors = streams.errors.text_within(QUIET);
        Ok(Some(ProcessEnd { exit, was_reached, errors, tries }))
    }

    /// Starts the process; `None` if it is unwanted.
    fn begin(&self, command: &[String]) -> Result<Option<Streams>, String> {
        let mut process = lock(&self.process);
        if matches!(*process, Process::Unwanted) {
            return Ok(None);
        }
        let mut child = start_piped(command, Stream::Tail(WORDS))?;
        let input = child.take_input();
        let pipes = child.take_lines().zip(child.errors());
        *process = Process::Runs(child);
        Ok(pipes.map(|(output, errors)| Streams { input, output, errors }))
    }

    /// Passes lines on until the output ends. Returns true if there was one.
    ///
    /// # Errors
    ///
    /// Fails if this machine cannot start a thread.
    fn listen(
        &mut self,
        streams: &mut Streams,
        program: Option<&Path>,
        start: Start,
    ) -> Result<bool, String> {
        let mut start = Some(start);
        loop {
            let was_over = lock(&self.process).is_over();
            match streams.output.next(QUIET) {
                Line::Text(line) => {
                    // The node has accepted the login.
                    start = None;
                    let asks = line == READY.as_bytes();
                    if asks || program.is_none() {
                        self.feed(streams.input.take(), program.map(Path::to_owned))?;
                    }
                    let event = Event::Line { node: self.node.clone(), line };
                    if !asks && self.events.send(event).is_err() {
                        break;
                    }
                }
                Line::Silence if !was_over => self.close_unwanted(streams),
                Line::Silence | Line::End => break,
            }
        }
        Ok(start.is_none())
    }

    /// Closes an input that nothing was written to once no order can come.
    fn close_unwanted(&self, streams: &mut Streams) {
        let next = self.orders.as_ref().map(Receiver::try_recv);
        // Before the first answer only keep-alive lines come, which a node without program cannot
        // read.
        if next.is_some_and(|next| next == Err(TryRecvError::Disconnected)) {
            streams.input = None;
        }
    }

    /// Starts the thread that writes the program and the orders, if there is none yet.
    fn feed(&mut self, input: Option<ChildStdin>, program: Option<PathBuf>) -> Result<(), String> {
        let Some((input, orders)) = input.zip(self.orders.take()) else { return Ok(()) };
        let (node, events) = (self.node.clone(), self.events.clone());
        let feed = move || {
            let report = |copied| drop(events.send(Event::Copying { node: node.clone(), copied }));
            write_all(input, program.as_deref(), &orders, report)
        };
        let started = thread::Builder::new().spawn(feed);
        started.map(drop).map_err(|e| format!("cannot start a thread: {e}"))
    }

    /// Waits until the process has ended and returns how. Other threads can kill it meanwhile.
    fn exit(&self) -> Option<Exit> {
        loop {
            let mut process = lock(&self.process);
            if process.is_over() {
                let Process::Runs(child) = &mut *process else { return None };
                return child.wait(Duration::ZERO).map(|ended| ended.exit);
            }
            drop(process);
            thread::sleep(STEP);
        }
    }
}

/// Writes the file, then the orders as they come.
fn write_all(
    mut input: ChildStdin,
    program: Option<&Path>,
    orders: &Receiver<Vec<u8>>,
    report: impl Fn(Copied),
) -> io::Result<()> {
    if let Some(path) = program {
        copy(&mut File::open(path)?, &mut input, report)?;
    }
    orders.iter().try_for_each(|line| input.write_all(&line))
}

/// Copies a file, and reports how far it is: at once, and then from time to time.
pub(super) fn copy(
    from: &mut File,
    to: &mut impl io::Write,
    report: impl Fn(Copied),
) -> io::Result<()> {
    let size = from.metadata()?.len();
    let mut copied = Copied { bytes: 0, size };
    let mut buffer = vec![0; 64 << 10];
    let mut last: Option<Instant> = None;
    loop {
        if last.is_none_or(|last| last.elapsed() >= REPORT) {
            report(copied);
            last = Some(Instant::now());
        }
        let read = from.read(&mut buffer)?;
        if read == 0 {
            report(copied);
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        copied.bytes += read as u64;
    }
}

#[cfg(test)]
mod tests;
