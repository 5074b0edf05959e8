//! The signals that stop a run, which keeps its results, or a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// The signals that stop the program's work, by name.
const STOPPING: [(i32, &str); 4] = [
    (SIGINT, "SIGINT"),
    (SIGTERM, "SIGTERM"),
    (SIGHUP, "SIGHUP"),
    // Its CPU time (RLIMIT_CPU) is almost used up.
    (SIGXCPU, "SIGXCPU"),
];

/// The time after the first signal in which another one is the same request: timeout(1) signals the
/// process and then its group, and a closing terminal may do so, too.
const SAME_REQUEST: Duration = Duration::from_millis(100);

/// Calls `stop` with the name of the first of these signals. The second one ends the process at
/// once with status 128 + its number, even if `stop` hangs.
pub fn on_signals(stop: impl Fn(&'static str) + Send + 'static) -> std::io::Result<()> {
    let stopped = Arc::new(AtomicBool::new(false));
    for number in numbers() {
        flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&stopped))?;
    }
    let mut signals = Signals::new(numbers())?;
    let handle = move || {
        for number in signals.forever() {
            // A thread of its own: `stop` may hang, too.
            let armed = Arc::clone(&stopped);
            let arm = move || {
                std::thread::sleep(SAME_REQUEST);
                armed.store(true, Ordering::Relaxed);
            };
            // If the thread cannot start, only the second signal has no effect.
            let _ = std::thread::Builder::new().spawn(arm);
            stop(name(number));
        }
    };
    let started = std::thread::Builder::new().name("signals".to_owned()).spawn(handle);
    started
        .map(drop)
        .map_err(|e| std::io::Error::new(e.kind(), format!("cannot start a thread: {e}")))
}

fn numbers() -> impl Iterator<Item = i32> {
    let ignored = hangup_is_ignored();
    STOPPING.into_iter().map(|(number, _)| number).filter(move |n| *n != SIGHUP || !ignored)
}

/// Returns true if this process was started to outlive its terminal, such as by `nohup`.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

fn name(number: i32) -> &'static str {
    STOPPING.iter().find(|(n, _)| *n == number).map_or("a signal", |(_, name)| name)
}

/// Returns the number of a signal that [`on_signals`] named.
pub fn number(name: &str) -> Option<i32> {
    STOPPING.iter().find(|(_, n)| *n == name).map(|(number, _)| *number)
}
