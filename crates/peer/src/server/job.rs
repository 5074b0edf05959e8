//! Job of the server: streams that wait for their data connections, and running ones.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use proofmark_model::lock;

use crate::bounds::{Allowance, Bounds};
use crate::message::OpenStream;
use crate::secret::Token;
use crate::work::{Ends, Task};

const MAX_STREAMS: usize = 256;

/// Streams of one `Open` message.
pub(crate) struct Job {
    pub(crate) bounds: Bounds,
    /// Ends of the channel that opened it: data connections come from the same address.
    ends: Ends,
    streams: Mutex<Streams>,
    changed: Condvar,
}

#[derive(Default)]
struct Streams {
    waiting: HashMap<Token, Box<dyn Task>>,
    running: HashMap<Token, TcpStream>,
}

impl Job {
    pub(crate) fn new(
        allowance: Arc<Allowance>,
        ends: Ends,
        tasks: Vec<Box<dyn Task>>,
    ) -> Result<(Self, Vec<OpenStream>), String> {
        if tasks.len() > MAX_STREAMS {
            let asked = tasks.len();
            return Err(format!("{asked} streams requested; the maximum is {MAX_STREAMS}"));
        }
        let mut waiting = HashMap::new();
        let mut open = Vec::new();
        for task in tasks {
            let token = Token::random().map_err(|e| e.to_string())?;
            open.push(OpenStream { token, description: task.describe_stream() });
            waiting.insert(token, task);
        }
        let streams = Mutex::new(Streams { waiting, running: HashMap::new() });
        Ok((
            Self { bounds: Bounds::within(allowance), ends, streams, changed: Condvar::new() },
            open,
        ))
    }

    /// Returns the task that waits for this token, once. The connection is shut down when the job
    /// ends. After an error the task still waits.
    pub(crate) fn claim(
        &self,
        token: Token,
        stream: &TcpStream,
        ends: Ends,
    ) -> io::Result<Option<Box<dyn Task>>> {
        if ends.peer.ip() != self.ends.peer.ip() {
            return Ok(None);
        }
        let mut streams = lock(&self.streams);
        // An ended job has no waiting tasks.
        if !streams.waiting.contains_key(&token) {
            return Ok(None);
        }
        streams.running.insert(token, stream.try_clone()?);
        Ok(streams.waiting.remove(&token))
    }

    /// Closes a task's connection, even if the task kept a clone.
    pub(crate) fn leave(&self, token: Token) {
        if let Some(stream) = lock(&self.streams).running.remove(&token) {
            shut(&stream);
        }
        self.changed.notify_all();
    }

    pub(crate) fn end(&self) {
        let waiting = {
            let mut streams = lock(&self.streams);
            self.bounds.end();
            streams.running.values().for_each(shut);
            std::mem::take(&mut streams.waiting)
        };
        // A task's own destructor runs without the lock, and may panic without harm.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(waiting)));
    }

    /// Waits until the tasks of an ended job are gone, so that they do not disturb the next. Gives
    /// up at a deadline, in case a task ignores its limits.
    pub(crate) fn wait_for_tasks(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let busy = |streams: &mut Streams| !streams.running.is_empty();
        drop(self.changed.wait_timeout_while(lock(&self.streams), left, busy));
    }
}

/// Shuts down a connection, which may be closed already.
pub(crate) fn shut(stream: &TcpStream) {
    let _: io::Result<()> = stream.shutdown(Shutdown::Both);
}
