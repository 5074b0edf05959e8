//! Child processes of tests.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{missed, poll_for};

/// Time limit of a process: the longest run of a test, on a busy machine.
pub const PROCESS_DEADLINE: Duration = Duration::from_secs(240);

/// Waits for a process to end. After [`PROCESS_DEADLINE`] it kills the process and panics with
/// `what`.
#[track_caller]
pub fn wait(what: &str, child: &mut Child) -> ExitStatus {
    wait_within(PROCESS_DEADLINE, what, child)
}

/// Waits like [`wait`] with another deadline, `limit`.
#[track_caller]
pub fn wait_within(limit: Duration, what: &str, child: &mut Child) -> ExitStatus {
    ended(limit, child).unwrap_or_else(|| panic!("{} (process killed)", missed(what, limit)))
}

/// Runs a command with an empty standard input and returns its output. After [`PROCESS_DEADLINE`]
/// it kills the process and panics with the command and its output.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    output_within(PROCESS_DEADLINE, command)
}

/// Runs a command like [`output`] with another deadline, `limit`.
#[track_caller]
pub fn output_within(limit: Duration, command: &mut Command) -> Output {
    let what = format!("{command:?}");
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
    collect(limit, &what, child)
}

/// Waits for a process with piped output to end and returns the output. After [`PROCESS_DEADLINE`]
/// it kills the process and panics with `what` and the output.
#[track_caller]
pub fn output_of(what: &str, child: Child) -> Output {
    collect(PROCESS_DEADLINE, what, child)
}

#[track_caller]
fn collect(limit: Duration, what: &str, mut child: Child) -> Output {
    let (stdout, stderr) = (child.stdout.take().map(read), child.stderr.take().map(read));
    let status = ended(limit, &mut child);
    // A descendant can keep the pipes open.
    let is_read = |pipe: &Option<JoinHandle<_>>| pipe.as_ref().is_none_or(JoinHandle::is_finished);
    if poll_for(limit, || is_read(&stdout) && is_read(&stderr)).is_err() {
        panic!("{}", missed(&format!("the end of the output of {what}"), limit));
    }
    let bytes = |pipe: Option<JoinHandle<Vec<u8>>>| pipe.and_then(|p| p.join().ok());
    let [stdout, stderr] = [stdout, stderr].map(|pipe| bytes(pipe).unwrap_or_default());
    let Some(status) = status else {
        let [stdout, stderr] = [stdout, stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        let missed = missed(what, limit);
        panic!("{missed} (process killed)\nstdout:\n{stdout}\nstderr:\n{stderr}");
    };
    Output { status, stdout, stderr }
}

/// Reads a pipe to its end in a thread, so that the process never blocks on it.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes); // What it read before an error counts.
        bytes
    })
}

/// Returns the status of a process that ends within the limit; kills any other.
fn ended(limit: Duration, child: &mut Child) -> Option<ExitStatus> {
    let status = poll_for(limit, || child.try_wait().transpose()).ok();
    if status.is_none() {
        // Both fail only if the process has just ended.
        let _ = child.kill();
        let _ = child.wait();
    }
    status.map(|status| status.unwrap_or_else(|error| panic!("wait: {error}")))
}
