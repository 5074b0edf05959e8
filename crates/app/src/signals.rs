//! Ctrl-C and SIGTERM stop a run, which then keeps what it has.

use proofmark_engine::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signals that stop a run, by name.
const STOPPING: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

/// From now on these signals stop the run instead of the process.
///
/// # Errors
/// If the system refuses the handlers.
pub fn stop_on_signals(stop: &Stop) -> std::io::Result<()> {
    let mut signals = Signals::new(STOPPING.map(|(number, _)| number))?;
    let stop = stop.clone();
    std::thread::spawn(move || {
        for number in signals.forever() {
            stop.stop(name(number));
        }
    });
    Ok(())
}

fn name(number: i32) -> &'static str {
    STOPPING.iter().find(|(n, _)| *n == number).map_or("a signal", |(_, name)| name)
}

/// The number of a signal that [`stop_on_signals`] named.
pub fn number(name: &str) -> i32 {
    STOPPING.iter().find(|(_, n)| *n == name).map_or(SIGTERM, |(number, _)| *number)
}
