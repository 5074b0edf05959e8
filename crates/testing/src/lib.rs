//! Waits for tests: every wait has a name and a deadline.
//!
//! A wait that exceeds its deadline panics with its name, so a hanging test fails and shows what it
//! waited for. Deadlines are long because other load may occupy every CPU: they end hanging tests
//! and assert no speed.

#![allow(clippy::panic, reason = "these functions exist to end tests")]

mod child;

use std::fmt::Display;
use std::io::Write as _;
use std::panic::{Location, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use child::{PROCESS_DEADLINE, output, output_of, output_within, wait, wait_within};

/// Time limit of waits for events.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Time between the first two polls, doubled after each.
const POLL: Duration = Duration::from_millis(1);
/// Maximum time between polls. Some polls read large run files, which must not disturb a
/// measurement.
const LONGEST_POLL: Duration = Duration::from_millis(32);

/// Result of a poll: `bool`, `Option` with the expected value, or `Result` with a description of
/// the state.
pub trait Polled {
    /// Type that the wait returns.
    type Value;
    /// Returns the value if it is there, else a description of the state, perhaps empty.
    fn value(self) -> Result<Self::Value, String>;
}

impl Polled for bool {
    type Value = ();
    fn value(self) -> Result<(), String> {
        self.then_some(()).value()
    }
}

impl<T> Polled for Option<T> {
    type Value = T;
    fn value(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

impl<T> Polled for Result<T, String> {
    type Value = T;
    fn value(self) -> Self {
        self
    }
}

/// Reports that a test cannot run on this machine, as `skipped: TEST: REASON`. Bypasses the test
/// harness's capture, so that `.ci/run` counts it. If the thread lacks the test's name, as with
/// `--test-threads=1`, it prints the caller's line.
#[track_caller]
pub fn skip(reason: impl Display) {
    let (this, here) = (thread::current(), Location::caller());
    let line = match this.name().filter(|name| *name != "main") {
        Some(test) => format!("skipped: {test}: {reason}\n"),
        None => format!("skipped: {}:{}: {reason}\n", here.file(), here.line()),
    };
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Polls until `poll` returns true or a value. After [`DEADLINE`] it panics with `what` and the
/// last state.
#[track_caller]
pub fn wait_until<P: Polled>(what: &str, poll: impl FnMut() -> P) -> P::Value {
    wait_until_within(DEADLINE, what, poll)
}

/// Polls like [`wait_until`] with another deadline, `limit`.
#[track_caller]
pub fn wait_until_within<P: Polled>(
    limit: Duration,
    what: &str,
    poll: impl FnMut() -> P,
) -> P::Value {
    poll_for(limit, poll).unwrap_or_else(|seen| {
        let seen = if seen.is_empty() { seen } else { format!("; seen last: {seen}") };
        panic!("{}{seen}", missed(what, limit))
    })
}

/// Returns the value of a poll within the limit, else the last state.
fn poll_for<P: Polled>(limit: Duration, mut poll: impl FnMut() -> P) -> Result<P::Value, String> {
    let (start, mut pause) = (Instant::now(), POLL);
    loop {
        // Read the clock first: a poll that succeeds late still succeeds.
        let late = start.elapsed() >= limit;
        let value = poll().value();
        if value.is_ok() || late {
            return value;
        }
        thread::sleep(pause);
        pause = LONGEST_POLL.min(2 * pause);
    }
}

/// Waits for a thread and returns its value. After [`DEADLINE`] it panics with `what`; a panic of
/// the thread is passed on.
#[track_caller]
pub fn join<T>(what: &str, thread: JoinHandle<T>) -> T {
    wait_until(what, || thread.is_finished());
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits for a message. Panics with `what` after [`DEADLINE`], or if the sender is gone.
#[track_caller]
pub fn recv<T>(what: &str, receiver: &Receiver<T>) -> T {
    match receiver.recv_timeout(DEADLINE) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("{}", missed(what, DEADLINE)),
        Err(RecvTimeoutError::Disconnected) => panic!("the sender of {what} has gone"),
    }
}

fn missed(what: &str, limit: Duration) -> String {
    format!("waited {} s for {what}", limit.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::{Command, Stdio};
    use std::sync::mpsc::channel;

    use super::*;

    /// Enough for a process to start on a busy machine.
    const SHORT: Duration = Duration::from_millis(300);

    fn panic_of<T>(with: impl FnOnce() -> T) -> String {
        let panic = catch_unwind(AssertUnwindSafe(with)).err().expect("it should have panicked");
        match panic.downcast::<String>() {
            Ok(said) => *said,
            Err(panic) => panic.downcast_ref::<&str>().unwrap().to_string(),
        }
    }

    #[test]
    fn a_wait_returns_the_value() {
        let mut polls = 0;
        let third = || {
            polls += 1;
            (polls == 3).then_some("ready")
        };
        assert_eq!(wait_until("three polls", third), "ready");
        assert_eq!(join("a sum", thread::spawn(|| 1 + 1)), 2);
        let (sender, receiver) = channel();
        sender.send(7).unwrap();
        assert_eq!(recv("a number", &receiver), 7);
    }

    #[test]
    fn a_wait_that_exceeds_its_deadline_fails_with_its_name() {
        let message = panic_of(|| wait_until_within(SHORT, "the moon", || false));
        assert_eq!(message, "waited 0.3 s for the moon");
        let mut polls = 0;
        let message = panic_of(|| {
            wait_until_within(SHORT, "the moon", || {
                polls += 1;
                Err::<(), _>(format!("cloud {polls}"))
            })
        });
        assert_eq!(message, format!("waited 0.3 s for the moon; seen last: cloud {polls}"));
    }

    #[test]
    fn a_thread_that_panics_panics_the_one_that_joins_it() {
        let message = panic_of(|| join("a thread", thread::spawn(|| panic!("{} was wrong", 7))));
        assert_eq!(message, "7 was wrong");
        let (sender, receiver) = channel::<()>();
        drop(sender);
        assert_eq!(panic_of(|| recv("a word", &receiver)), "the sender of a word has gone");
    }

    #[test]
    fn a_process_that_hangs_is_killed_and_named_with_its_output() {
        let script = "echo early; echo wrong >&2; exec sleep 1000";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let message = panic_of(|| output_within(Duration::from_secs(2), &mut command));
        assert!(message.starts_with("waited 2 s for \"sh\" \"-c\""), "{message}");
        assert!(message.contains("early\n") && message.contains("wrong\n"), "{message}");
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id();
        let message = panic_of(|| wait_within(SHORT, "the sleeper", &mut child));
        assert_eq!(message, "waited 0.3 s for the sleeper (process killed)");
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it was not reaped");
    }

    #[test]
    fn a_process_that_ends_gives_its_output_and_status() {
        let mut command = Command::new("sh");
        let out = output(command.args(["-c", "cat; seq 100000; echo no >&2; exit 3"]));
        assert_eq!((out.status.code(), &out.stderr[..]), (Some(3), &b"no\n"[..]));
        assert!(out.stdout.ends_with(b"\n100000\n"));
        let mut command = Command::new("echo");
        assert!(output(command.stdin(Stdio::null())).status.success());
    }

    #[test]
    fn output_does_not_wait_for_a_grandchild_that_keeps_the_pipe_open() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 3 &"]);
        let message = panic_of(|| output_within(SHORT, &mut command));
        assert!(
            message.starts_with("waited 0.3 s for the end of the output of \"sh\""),
            "{message}"
        );
    }
}
