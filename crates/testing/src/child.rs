//! Processes that tests start.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{missed, poll_for};

/// The longest that a process may take: the longest run of a test, on a busy machine.
pub const PROCESS_DEADLINE: Duration = Duration::from_secs(240);

/// Waits for a process to end.
///
/// # Panics
/// After [`PROCESS_DEADLINE`], with `what`; the process is killed first.
#[track_caller]
pub fn wait(what: &str, child: &mut Child) -> ExitStatus {
    wait_within(PROCESS_DEADLINE, what, child)
}

/// As [`wait`], with another deadline.
///
/// # Panics
/// After `limit`, with `what`; the process is killed first.
#[track_caller]
pub fn wait_within(limit: Duration, what: &str, child: &mut Child) -> ExitStatus {
    ended(limit, child).unwrap_or_else(|| panic!("{} (process killed)", missed(what, limit)))
}

/// Runs a command to its end with an empty standard input, and returns what it printed.
///
/// # Panics
/// After [`PROCESS_DEADLINE`], with the command and what it printed; the process is killed first.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    output_within(PROCESS_DEADLINE, command)
}

/// As [`output`], with another deadline.
///
/// # Panics
/// After `limit`, with the command and what it printed; the process is killed first.
#[track_caller]
pub fn output_within(limit: Duration, command: &mut Command) -> Output {
    let what = format!("{command:?}");
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
    collect(limit, &what, child)
}

/// Waits for a process to end that was started with pipes, and returns what it printed.
///
/// # Panics
/// After [`PROCESS_DEADLINE`], with `what` and what it printed; the process is killed first.
#[track_caller]
pub fn output_of(what: &str, child: Child) -> Output {
    collect(PROCESS_DEADLINE, what, child)
}

#[track_caller]
fn collect(limit: Duration, what: &str, mut child: Child) -> Output {
    let (stdout, stderr) = (Printed::read(child.stdout.take()), Printed::read(child.stderr.take()));
    let printed = || format!("\nstdout:\n{}\nstderr:\n{}", stdout.text(), stderr.text());
    let status = ended(limit, &mut child)
        .unwrap_or_else(|| panic!("{} (process killed){}", missed(what, limit), printed()));
    // A process that it left behind can keep the pipes open.
    if poll_for(limit, || stdout.ended() && stderr.ended()).is_none() {
        panic!("{}{}", missed(&format!("the end of the output of {what}"), limit), printed());
    }
    Output { status, stdout: stdout.bytes(), stderr: stderr.bytes() }
}

/// The status of a process that ends within the limit. Kills one that does not.
fn ended(limit: Duration, child: &mut Child) -> Option<ExitStatus> {
    let status = poll_for(limit, || child.try_wait().transpose());
    if status.is_none() {
        // Either fails only if the process has just ended.
        let _ = child.kill();
        let _ = child.wait();
    }
    status.map(|status| status.unwrap_or_else(|error| panic!("wait: {error}")))
}

/// What a process prints, read by a thread so that the process never waits for its reader.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Printed {
    fn read(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut some = [0; 65_536];
            let mut pipe = pipe;
            while let Some(Ok(n @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut some)) {
                lock(&all).extend_from_slice(&some[..n]);
            }
        });
        Self { bytes, reader }
    }

    /// Whether the pipe is closed and all bytes are here.
    fn ended(&self) -> bool {
        self.reader.is_finished()
    }

    fn bytes(&self) -> Vec<u8> {
        lock(&self.bytes).clone()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}
