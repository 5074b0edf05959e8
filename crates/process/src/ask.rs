//! One run of a program to its end, with its output.

use std::io::Write as _;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{ChildProcess, Input, STEP, StartError, StartOptions};
use crate::exit::Exit;

/// The time for the last output of a process that has ended: another process may hold its pipe
/// open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// The answer of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The exit; `None` if the program was killed, since its time was over or its output too long.
    pub exit: Option<Exit>,
    /// The kept part of the standard output.
    pub output: String,
    /// The kept part of the standard error.
    pub errors: String,
}

impl Answer {
    /// Returns true if the program ended by itself, and reported success.
    pub fn is_success(&self) -> bool {
        self.exit.is_some_and(Exit::is_success)
    }
}

/// Runs a program to its end, with `input` on its standard input if that is piped. Kills it when
/// the time is over, or when a [`Stream::Head`](crate::Stream::Head) exceeds its size.
pub fn ask(
    command: &mut Command,
    options: StartOptions,
    input: &[u8],
    within: Duration,
) -> Result<Answer, StartError> {
    let end = Instant::now() + within;
    let mut child = ChildProcess::start(command, options)?;
    if options.input == Input::Piped
        && let Some(mut pipe) = child.take_input()
    {
        let input = input.to_owned();
        // A program that does not read its input must not block this process.
        let write = move || drop(pipe.write_all(&input));
        thread::Builder::new().spawn(write).map_err(StartError::Thread)?;
    }
    let is_over = |child: &ChildProcess| child.output_is_cut() || Instant::now() >= end;
    let ended = loop {
        match child.wait(STEP) {
            None if is_over(&child) => break None,
            None => {}
            ended => break ended,
        }
    };
    if ended.is_none() {
        child.end(Duration::ZERO);
    }
    let (output, errors) = (child.output(LAST_OUTPUT), child.last_words(LAST_OUTPUT));
    Ok(Answer { exit: ended.map(|ended| ended.exit), output, errors })
}
