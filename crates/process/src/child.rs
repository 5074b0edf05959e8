//! A child process from its start to its end.

use std::io::{self, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::capture::{Capture, Part};
use crate::exit::{Ended, Exit};
use crate::lines::{BoundedLines, Line, Lines};
use crate::spawn::spawn_other;

/// The number of lines read ahead. A child that writes faster than they are taken waits.
const AHEAD: usize = 16;

/// The longest pause between two polls of a child: polling must not cost CPU time during a
/// measurement.
pub(crate) const STEP: Duration = Duration::from_millis(10);

/// The time the kernel gets to end a killed process. One that waits for a device that does not
/// answer ends later, unobserved.
const KILLED: Duration = Duration::from_secs(5);

/// The origin of a command's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// proofmark itself, or a program that needs its environment.
    Own,
    /// Another program. It gets none of proofmark's variables, and the user's limit of open files.
    Other,
}

/// Standard input of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// No input.
    Empty,
    /// A pipe. Closing it asks the child to end.
    Piped,
    /// The standard input of this process.
    Inherited,
}

/// An output stream of a child. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The stream goes to `/dev/null`.
    Discarded,
    /// The stream of this process.
    Inherited,
    /// Lines of at most this size each.
    Lines(usize),
    /// The beginning of the stream, up to this size.
    Head(usize),
    /// The end of the stream, up to this size.
    Tail(usize),
}

impl Stream {
    fn stdio(self) -> Stdio {
        match self {
            Self::Discarded => Stdio::null(),
            Self::Inherited => Stdio::inherit(),
            Self::Lines(_) | Self::Head(_) | Self::Tail(_) => Stdio::piped(),
        }
    }
}

/// The options with which a child is started.
#[derive(Debug, Clone, Copy)]
pub struct StartOptions {
    /// The origin of the program.
    pub origin: Origin,
    /// True if the child gets its own process group. Ctrl-C then reaches this process alone. When
    /// the child ends, the rest of its group is killed.
    pub own_group: bool,
    /// Standard input.
    pub input: Input,
    /// Standard output.
    pub output: Stream,
    /// Standard error.
    pub errors: Stream,
    /// The time that a dropped child has to end.
    pub grace: Duration,
}

impl Default for StartOptions {
    /// Proofmark itself, in its own group, without streams and grace.
    fn default() -> Self {
        Self {
            origin: Origin::Own,
            own_group: true,
            input: Input::Empty,
            output: Stream::Discarded,
            errors: Stream::Discarded,
            grace: Duration::ZERO,
        }
    }
}

/// The reason why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system refused the program.
    #[error(transparent)]
    Program(io::Error),
    /// The system refused a thread.
    #[error("cannot start a thread for it: {0}")]
    Thread(io::Error),
}

/// A child process. It ends when this value is dropped.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    options: StartOptions,
    state: State,
    input: Option<ChildStdin>,
    output: Reading,
    errors: Reading,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Running,
    Ended(Ended),
    /// Another caller reaped it, so its exit is unknown.
    Gone,
}

#[derive(Debug)]
enum Reading {
    Nothing,
    Lines(Lines),
    Kept(Capture),
}

impl ChildProcess {
    /// Starts a command with the streams of the options.
    pub fn start(command: &mut Command, options: StartOptions) -> Result<Self, StartError> {
        command.stdin(match options.input {
            Input::Empty => Stdio::null(),
            Input::Piped => Stdio::piped(),
            Input::Inherited => Stdio::inherit(),
        });
        command.stdout(options.output.stdio()).stderr(options.errors.stdio());
        if options.own_group {
            command.process_group(0);
        }
        let child = match options.origin {
            Origin::Own => command.spawn(),
            Origin::Other => spawn_other(command),
        };
        let mut child = child.map_err(StartError::Program)?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on, dropping `process` ends the child, even where a thread is refused.
        let (state, nothing) = (State::Running, Reading::Nothing);
        let mut process =
            Self { child, options, state, input, output: nothing, errors: Reading::Nothing };
        process.output = read(output, options.output).map_err(StartError::Thread)?;
        process.errors = read(errors, options.errors).map_err(StartError::Thread)?;
        Ok(process)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the standard input, if it is piped and was not taken.
    pub fn input(&mut self) -> Option<&mut ChildStdin> {
        self.input.as_mut()
    }

    /// Takes the standard input for another thread. Dropping it asks the child to end.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.input.take()
    }

    /// Waits for a line of the standard output.
    pub fn line(&self, within: Duration) -> Line {
        match &self.output {
            Reading::Lines(lines) => lines.next(within),
            Reading::Nothing | Reading::Kept(_) => Line::End,
        }
    }

    /// Takes the lines of the standard output for another thread.
    pub fn take_lines(&mut self) -> Option<Lines> {
        self.output.take_lines()
    }

    /// Takes the lines of the standard error for another thread.
    pub fn take_error_lines(&mut self) -> Option<Lines> {
        self.errors.take_lines()
    }

    /// Waits for the end of the standard output; returns the part kept until then.
    pub fn output(&self, within: Duration) -> String {
        self.output.text(within)
    }

    /// Waits for the end of the standard error; returns the part kept until then.
    pub fn last_words(&self, within: Duration) -> String {
        self.errors.text(within)
    }

    /// Returns the standard error as it arrives, if it is kept.
    pub fn errors(&self) -> Option<Capture> {
        match &self.errors {
            Reading::Kept(capture) => Some(capture.clone()),
            Reading::Nothing | Reading::Lines(_) => None,
        }
    }

    /// Returns true if a [`Stream::Head`] exceeded its size.
    pub fn output_is_cut(&self) -> bool {
        let cut = |stream, reading: &Reading| matches!(stream, Stream::Head(_)) && reading.is_cut();
        cut(self.options.output, &self.output) || cut(self.options.errors, &self.errors)
    }

    /// Returns true if the child has ended.
    pub fn is_over(&mut self) -> bool {
        self.look();
        !matches!(self.state, State::Running)
    }

    /// Waits for the child's end. `None` if it still runs, or if another caller reaped it. In the
    /// second case it pauses, so that a caller in a loop does not spin.
    pub fn wait(&mut self, within: Duration) -> Option<Ended> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        while !self.is_over() && begun.elapsed() < within {
            thread::sleep(pause.min(within.saturating_sub(begun.elapsed())));
            pause = STEP.min(2 * pause);
        }
        match self.state {
            State::Ended(ended) => Some(ended),
            State::Running => None,
            State::Gone => {
                thread::sleep(STEP.min(within.saturating_sub(begun.elapsed())));
                None
            }
        }
    }

    /// Asks the child to end: closes its input if that is piped, otherwise sends SIGTERM. After the
    /// grace, kills it, with its own group. Returns how it ended, unless it was killed here.
    pub fn end(&mut self, grace: Duration) -> Option<Ended> {
        if !self.is_over() && !grace.is_zero() {
            match self.options.input {
                Input::Piped => self.input = None,
                // The signal fails if the child has just ended by itself.
                Input::Empty | Input::Inherited => drop(kill_process(self.pid(), Signal::TERM)),
            }
        }
        let ended = self.wait(grace);
        if !self.is_over() {
            self.kill();
            self.wait(KILLED);
        }
        ended
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn kill(&mut self) {
        match self.options.own_group {
            true => drop(kill_process_group(self.pid(), Signal::KILL)),
            false => drop(self.child.kill()),
        }
    }

    /// Records the child's end, if it has ended.
    fn look(&mut self) {
        if !matches!(self.state, State::Running) {
            return;
        }
        let only_ask = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid()), only_ask) {
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Ok(Some(_)) => {
                // Before the child is reaped, its CPU time can be read, and its pid still names its
                // group.
                let cpu_s = cpu_seconds(self.child.id());
                if self.options.own_group {
                    self.kill();
                }
                let ended =
                    self.child.wait().map(|status| Ended { exit: Exit::from(status), cpu_s });
                self.state = ended.map_or(State::Gone, State::Ended);
            }
            Err(_) => self.state = State::Gone,
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.end(self.options.grace);
    }
}

impl Reading {
    fn take_lines(&mut self) -> Option<Lines> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Lines(lines) => Some(lines),
            other => {
                *self = other;
                None
            }
        }
    }

    fn text(&self, within: Duration) -> String {
        match self {
            Self::Kept(capture) => capture.text_within(within),
            Self::Nothing | Self::Lines(_) => String::new(),
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self, Self::Kept(capture) if capture.is_cut())
    }
}

/// Reads a stream in a thread. The thread ends with the stream: a process that left the child's
/// group may hold the stream open.
fn read(from: Option<impl Read + Send + 'static>, stream: Stream) -> io::Result<Reading> {
    let Some(from) = from else { return Ok(Reading::Nothing) };
    match stream {
        Stream::Discarded | Stream::Inherited => Ok(Reading::Nothing),
        Stream::Head(most) => keep(from, Part::Head, most),
        Stream::Tail(most) => keep(from, Part::Tail, most),
        Stream::Lines(longest) => {
            let (to, lines) = sync_channel(AHEAD);
            let from = BoundedLines::new(BufReader::new(from), longest);
            start_thread(move || from.pass_on(&to)).map(|()| Reading::Lines(Lines(lines)))
        }
    }
}

fn keep(from: impl Read + Send + 'static, part: Part, most: usize) -> io::Result<Reading> {
    let capture = Capture::default();
    let to = capture.clone();
    start_thread(move || to.read(from, part, most)).map(|()| Reading::Kept(capture))
}

fn start_thread(read: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("child's output".to_owned()).spawn(read).map(drop)
}

/// Returns the user and system time of a process with all its threads.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in parentheses, may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let all = ticks()?.saturating_add(ticks()?);
    Some(all as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests;
