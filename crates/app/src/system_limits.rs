//! The limits of the system: the program names the limit that it reached, keeps its results and
//! ends with a status, instead of being killed or reporting a defect.

use std::io;
use std::panic;
use std::process::{ExitCode, exit};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;

use proofmark_engine::report_no_memory;
use proofmark_host::{Root, system_state};
use proofmark_model::{LimitReached, Seen, SystemState, limit_reached};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;

use crate::text::say;

/// Stack of the thread that does the work, in bytes. The stack of the first thread has the size of
/// RLIMIT_STACK, which may be too small: 64 KiB are.
const STACK: usize = 8 << 20;

/// The limits when the program started.
static AT_START: OnceLock<SystemState> = OnceLock::new();

fn now() -> SystemState {
    system_state(&Root::live())
}

/// Makes writes beyond RLIMIT_FSIZE fail instead of killing the process. The handler does nothing.
/// Programs that this one starts would inherit an ignored signal, but do not inherit a handler.
fn survive_large_files() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Lowers the soft limit of CPU time by a second if it equals the hard one. At the soft limit the
/// process gets a signal that it can handle, at the hard one SIGKILL.
fn lower_soft_limit_of_cpu_time() {
    let limit = getrlimit(Resource::Cpu);
    if let (Some(soft @ 3..), true) = (limit.current, limit.current == limit.maximum) {
        let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(soft - 1), ..limit });
    }
}

/// Runs the work on a stack of a fixed size and returns its status. The first thread does nothing
/// else: its own stack may be tiny.
pub fn within_limits(work: fn() -> ExitCode) -> ExitCode {
    let worker = thread::Builder::new().name("main".to_owned()).stack_size(STACK);
    match worker.spawn(move || prepared(work)) {
        // 101 is the status of a Rust program whose first thread panicked.
        Ok(working) => working.join().unwrap_or_else(|_| ExitCode::from(101)),
        Err(e) => {
            say(&format!("proofmark: {}", explained(&format!("cannot start a thread: {e}"))));
            ExitCode::FAILURE
        }
    }
}

/// Sets up the handling of limits, then does the work. A worker reports panics and failed
/// allocations as the standard library does, and its run explains them.
fn prepared(work: fn() -> ExitCode) -> ExitCode {
    // If this fails, such a write kills the process as before.
    let _ = survive_large_files();
    if std::env::args_os().nth(1).is_none_or(|command| command != "worker") {
        let _ = AT_START.set(now());
        lower_soft_limit_of_cpu_time();
        explain_panics();
        report_no_memory(no_memory);
    }
    work()
}

/// Returns the limit that caused an error.
pub fn limit_of(error: &str) -> Option<LimitReached> {
    limit_seen(&Seen { words: error, ..Seen::default() })
}

/// Returns the limit that caused a signal to this process.
pub fn limit_of_signal(signal: &str) -> Option<LimitReached> {
    limit_seen(&Seen { signal: Some(signal), ..Seen::default() })
}

fn limit_seen(seen: &Seen) -> Option<LimitReached> {
    let after = now();
    limit_reached(seen, AT_START.get().unwrap_or(&after), &after)
}

/// Adds to an error the limit that caused it, if one did.
pub fn explained(error: &str) -> String {
    limit_of(error).map_or_else(|| error.to_owned(), |limit| limit.explain(error))
}

/// Reports a panic that a limit caused as that limit. The standard library panics if it cannot
/// start a thread.
fn explain_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let words = info.payload_as_str().unwrap_or_default();
        match limit_of(words) {
            Some(limit) => {
                let words = words.lines().next().unwrap_or_default();
                say(&format!("proofmark: {}", limit.explain(words)));
                exit(1);
            }
            None => usual(info),
        }
    }));
}

fn no_memory(bytes: usize) {
    let error = format!("memory allocation of {bytes} bytes failed");
    say(&format!("proofmark: {}", explained(&error)));
    exit(1);
}
