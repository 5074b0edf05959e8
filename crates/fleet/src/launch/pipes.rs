//! One process per node, whose standard input and output reach the program there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proofmark_model::lock;
use proofmark_process::{Capture, ChildProcess, Exit, Line, Lines, Stream, last_line};

use super::{Event, WORDS, start_piped};
use crate::protocol::Order;

/// Time limit for nodes to end.
const GRACE: Duration = Duration::from_secs(8);
/// Interval between checks whether a process has ended.
const STEP: Duration = Duration::from_millis(20);
/// Silence after which the output of an ended process is complete: another process may hold it
/// open.
const QUIET: Duration = Duration::from_secs(1);

/// Maximum number of processes that start at once. Each counts until its first line. An ssh server
/// randomly refuses more unauthenticated connections (MaxStartups), and all may pass through one
/// server.
const STARTS: usize = 10;

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
    /// It was ended before it started.
    Unwanted,
}

impl Pipes {
    /// Starts the process of a node as soon as few others start. The content of the file `first`
    /// goes to its input before orders. `describe_exit` puts its exit in words.
    pub(super) fn start(
        &mut self,
        node: &str,
        command: Vec<String>,
        first: Option<PathBuf>,
        events: &SyncSender<Event>,
        describe_exit: fn(Option<Exit>) -> String,
    ) -> Result<(), String> {
        let process = Arc::new(Mutex::new(Process::Waits));
        let (to, orders) = channel();
        let (starts, own) = (Arc::clone(&self.starts), Arc::clone(&process));
        let (node, name, events) = (node.to_owned(), node.to_owned(), events.clone());
        let run = move || {
            let start = starts.next();
            let pass_on = |line| events.send(Event::Line { node: node.clone(), line });
            let last = match begin(&own, &command) {
                Ok(None) => return,
                Ok(Some(pipes)) => talk(pipes, &own, first, orders, start, pass_on),
                Err(why) => Err(why),
            };
            let how = || describe_exit(exit(&own));
            let ended = last.map(|last| match last {
                Some(last) => format!("{}: {last}", how()),
                None => how(),
            });
            let _ = events.send(match ended {
                Ok(reason) => Event::Ended { node, reason },
                Err(why) => Event::Failed(why),
            });
        };
        let started = thread::Builder::new().spawn(run);
        started.map_err(|e| format!("cannot start a thread for {name}: {e}"))?;
        self.links.insert(name, NodeProcess { orders: Some(to), process });
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

/// Starts the process; `None` if it is unwanted.
fn begin(process: &Mutex<Process>, command: &[String]) -> Result<Option<Talk>, String> {
    let mut process = lock(process);
    if matches!(*process, Process::Unwanted) {
        return Ok(None);
    }
    let mut child = start_piped(command, Stream::Tail(WORDS))?;
    let talk = child.take_input().zip(child.take_lines()).zip(child.errors());
    *process = Process::Runs(child);
    Ok(talk.map(|((input, output), errors)| Talk { input, output, errors }))
}

/// Waits until a process has ended and returns how. Other threads can kill it meanwhile.
fn exit(process: &Mutex<Process>) -> Option<Exit> {
    loop {
        let mut process = lock(process);
        if process.is_over() {
            let Process::Runs(child) = &mut *process else { return None };
            return child.wait(Duration::ZERO).map(|ended| ended.exit);
        }
        drop(process);
        thread::sleep(STEP);
    }
}

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
        match &mut *lock(&self.process) {
            Process::Runs(child) => drop(child.end(Duration::ZERO)),
            process => *process = Process::Unwanted,
        }
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
        self.links.values().for_each(NodeProcess::prevent_start);
        self.links.values_mut().for_each(|link| link.orders = None);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && !self.links.values().all(NodeProcess::is_over) {
            thread::sleep(STEP);
        }
        self.links.values().for_each(NodeProcess::kill);
    }
}

/// Pipes to and from a process.
struct Talk {
    input: ChildStdin,
    output: Lines,
    errors: Capture,
}

/// Exchanges lines with a process until its output ends, and returns its last error line.
///
/// # Errors
///
/// Fails if this machine cannot start a thread.
fn talk<E>(
    talk: Talk,
    process: &Mutex<Process>,
    first: Option<PathBuf>,
    orders: Receiver<Vec<u8>>,
    start: Start,
    pass_on: impl Fn(Vec<u8>) -> Result<(), E>,
) -> Result<Option<String>, String> {
    let Talk { input, output, errors } = talk;
    let feeder = move || feed(input, first.as_deref(), &orders);
    thread::Builder::new().spawn(feeder).map_err(|e| format!("cannot start a thread: {e}"))?;
    let mut start = Some(start);
    loop {
        let was_over = lock(process).is_over();
        match output.next(QUIET) {
            Line::Text(line) => {
                start = None;
                if pass_on(line).is_err() {
                    break;
                }
            }
            Line::Silence if !was_over => {}
            Line::Silence | Line::End => break,
        }
    }
    drop(start);
    Ok(last_line(&errors.text_within(QUIET)))
}

/// Writes the file, then the orders as they come.
fn feed(mut input: ChildStdin, first: Option<&Path>, orders: &Receiver<Vec<u8>>) -> io::Result<()> {
    if let Some(path) = first {
        io::copy(&mut File::open(path)?, &mut input)?;
    }
    orders.iter().try_for_each(|line| input.write_all(&line))
}

/// Limit on the processes that start at once.
#[derive(Debug)]
struct Starts {
    /// Start of each one.
    now: Mutex<Vec<Instant>>,
    fewer: Condvar,
    /// Maximum time that a silent one counts: then its server has accepted it, and others must not
    /// wait longer.
    longest: Duration,
}

/// A process that counts as starting until this is dropped.
struct Start {
    all: Arc<Starts>,
    begun: Instant,
}

impl Starts {
    fn new(longest: Duration) -> Self {
        Self { now: Mutex::default(), fewer: Condvar::new(), longest }
    }

    /// Waits until fewer than [`STARTS`] processes start, and adds one.
    fn next(self: Arc<Self>) -> Start {
        let mut now = lock(&self.now);
        loop {
            now.retain(|begun| begun.elapsed() < self.longest);
            let oldest = now.iter().min().filter(|_| now.len() >= STARTS);
            let Some(oldest) = oldest else { break };
            let left = self.longest.saturating_sub(oldest.elapsed());
            now = self.fewer.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let begun = Instant::now();
        now.push(begun);
        drop(now);
        Start { all: self, begun }
    }
}

impl Default for Starts {
    fn default() -> Self {
        Self::new(Duration::from_secs(5))
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        let mut now = lock(&self.all.now);
        // If it is missing, it has counted for the maximum time.
        if let Some(place) = now.iter().position(|begun| *begun == self.begun) {
            now.remove(place);
        }
        drop(now);
        self.all.fewer.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// Waits until this many have started, and a moment more.
    fn begun(dir: &Path, wanted: usize) -> usize {
        let count = || std::fs::read_dir(dir).unwrap().count();
        let since = Instant::now();
        while count() < wanted && since.elapsed() < Duration::from_secs(20) {
            thread::sleep(STEP);
        }
        thread::sleep(10 * STEP);
        count()
    }

    /// Starts more than may start at once. Each leaves a file, prints a line when told to, and
    /// stays.
    fn started(dir: &Path, longest: Duration, events: &SyncSender<Event>) -> Pipes {
        let mut pipes = Pipes { links: BTreeMap::new(), starts: Arc::new(Starts::new(longest)) };
        for number in 0..STARTS + 5 {
            let script = format!("touch {}/{number}; exec cat", dir.display());
            let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
            pipes.start(&number.to_string(), command, None, events, |_| "ended".into()).unwrap();
        }
        pipes
    }

    #[test]
    fn few_start_at_a_time_and_what_never_began_ends() {
        let dir = tempfile::tempdir().unwrap();
        let (to, events) = sync_channel(100);
        let mut pipes = started(dir.path(), Duration::from_secs(3600), &to);
        assert_eq!(begun(dir.path(), STARTS), STARTS);
        let files = std::fs::read_dir(dir.path()).unwrap();
        let names: Vec<String> =
            files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        for name in &names[..2] {
            pipes.links[name].send(b"hello\n".to_vec());
        }
        pipes.end(&names[2]);
        assert_eq!(begun(dir.path(), STARTS + 3), STARTS + 3);
        drop(pipes);
        drop(to);
        // Those that waited send no events.
        let ended = events.iter().filter(|e| matches!(e, Event::Ended { .. })).count();
        assert_eq!(ended, STARTS + 3);
    }

    #[test]
    fn a_program_that_is_not_there_is_no_fault_of_a_node() {
        let (to, events) = sync_channel(9);
        let mut pipes = Pipes::default();
        let command = vec!["/no/such/program".to_owned()];
        pipes.start("n1", command, None, &to, |_| "ended".into()).unwrap();
        let event = proofmark_testing::recv("an event", &events);
        assert!(matches!(&event, Event::Failed(why) if why.contains("/no/such")), "{event:?}");
    }

    /// Starts the process of a node and waits for its first event.
    fn first_event(script: &str) -> (Pipes, Event) {
        let (to, events) = sync_channel(9);
        let mut pipes = Pipes::default();
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let exit = |status| format!("ended with {status:?}");
        pipes.start("n1", command, None, &to, exit).unwrap();
        let event = proofmark_testing::recv("an event", &events);
        (pipes, event)
    }

    #[test]
    fn errors_before_the_first_answer_do_not_hold_it_up() {
        let script = "head -c 1000000 /dev/zero >&2; echo hello; exec cat";
        let (_pipes, event) = first_event(script);
        assert!(matches!(&event, Event::Line { line, .. } if line == b"hello"), "{event:?}");
    }

    #[test]
    fn a_process_that_left_its_output_open_has_ended() {
        let (_pipes, event) = first_event("sleep 90 & echo no disk >&2; exit 3");
        let Event::Ended { reason, .. } = &event else { panic!("{event:?}") };
        assert_eq!(reason, "ended with Some(Status(3)): no disk");
    }

    #[test]
    fn those_that_say_nothing_do_not_hold_others_up_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let (to, _events) = sync_channel(100);
        let _pipes = started(dir.path(), Duration::from_millis(1), &to);
        assert_eq!(begun(dir.path(), STARTS + 5), STARTS + 5);
    }
}
