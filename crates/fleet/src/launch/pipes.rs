//! One process for each node, whose standard input and output reach the program there.

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

/// How long nodes may take to end.
const GRACE: Duration = Duration::from_secs(8);
/// How often it is looked whether a process has ended.
const STEP: Duration = Duration::from_millis(20);
/// Silence after which a process that has ended has no more to say: another one holds its output open.
const QUIET: Duration = Duration::from_secs(1);

/// Processes that start at a time: each counts until it has said something. A server of ssh refuses more
/// at random before they have shown who they are (its MaxStartups), and all may pass through one.
const STARTS: usize = 10;

/// The processes by node. All end with this value.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    links: BTreeMap<String, NodeProcess>,
    starts: Arc<Starts>,
}

/// Without its sender, the process gets the end of its input.
#[derive(Debug)]
struct NodeProcess {
    orders: Option<Sender<Vec<u8>>>,
    process: Arc<Mutex<Process>>,
}

#[derive(Debug)]
enum Process {
    Waits,
    Runs(ChildProcess),
    /// It ended before it began.
    Unwanted,
}

impl Pipes {
    /// Starts the process of a node as soon as few others start; what is in a file goes to its input
    /// first. `describe_exit` has words for its exit.
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
            let said = |line| events.send(Event::Said { node: node.clone(), line });
            let last = match begin(&own, &command) {
                Ok(None) => return,
                Ok(Some(pipes)) => talk(pipes, &own, first, orders, start, said),
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

/// Begins what waits.
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

/// How a process ended, once it has; nobody is kept from killing it meanwhile.
fn exit(process: &Mutex<Process>) -> Option<Exit> {
    loop {
        let mut held = lock(process);
        if held.is_over() {
            let Process::Runs(child) = &mut *held else { return None };
            return child.wait(Duration::ZERO).map(|ended| ended.exit);
        }
        drop(held);
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

    /// What has not begun never does.
    fn forget(&self) {
        if !matches!(*lock(&self.process), Process::Runs(_)) {
            self.kill();
        }
    }

    fn is_over(&self) -> bool {
        lock(&self.process).is_over()
    }
}

impl Drop for Pipes {
    /// Ends the input of all nodes, and after a while the processes that do not end by themselves.
    fn drop(&mut self) {
        // First those that would have the turn of others.
        self.links.values().for_each(NodeProcess::forget);
        self.links.values_mut().for_each(|link| link.orders = None);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && !self.links.values().all(NodeProcess::is_over) {
            thread::sleep(STEP);
        }
        self.links.values().for_each(NodeProcess::kill);
    }
}

/// What reaches a process, and what it says.
struct Talk {
    input: ChildStdin,
    output: Lines,
    errors: Capture,
}

/// Talks with a process until it says no more; its last words. Fails if this machine cannot.
fn talk<E>(
    talk: Talk,
    process: &Mutex<Process>,
    first: Option<PathBuf>,
    orders: Receiver<Vec<u8>>,
    start: Start,
    said: impl Fn(Vec<u8>) -> Result<(), E>,
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
                if said(line).is_err() {
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

/// Writes the file, and then the orders as they come.
fn feed(mut input: ChildStdin, first: Option<&Path>, orders: &Receiver<Vec<u8>>) -> io::Result<()> {
    if let Some(path) = first {
        io::copy(&mut File::open(path)?, &mut input)?;
    }
    orders.iter().try_for_each(|line| input.write_all(&line))
}

/// The processes that start.
#[derive(Debug)]
struct Starts {
    /// When each began.
    now: Mutex<Vec<Instant>>,
    fewer: Condvar,
    /// One that says nothing counts no longer than that: its server lets it in, and others are not held up.
    longest: Duration,
}

/// One of them, until it is dropped.
struct Start {
    all: Arc<Starts>,
    begun: Instant,
}

impl Starts {
    fn new(longest: Duration) -> Self {
        Self { now: Mutex::default(), fewer: Condvar::new(), longest }
    }

    /// Waits for its turn.
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
        // Without it, it has counted for long enough.
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

    /// Waits until so many have begun, and a moment more.
    fn begun(dir: &Path, wanted: usize) -> usize {
        let count = || std::fs::read_dir(dir).unwrap().count();
        let since = Instant::now();
        while count() < wanted && since.elapsed() < Duration::from_secs(20) {
            thread::sleep(STEP);
        }
        thread::sleep(10 * STEP);
        count()
    }

    /// Starts more than may start at a time: each leaves a file, says what it is told to, and stays.
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
        // Those that waited are not heard of.
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

    /// Starts the process of a node, and waits for what it says first.
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
        assert!(matches!(&event, Event::Said { line, .. } if line == b"hello"), "{event:?}");
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
