//! The system clock at another rate. All programs share it, so this fault is planted only if the
//! environment marks the machine as disposable.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use super::*;

/// The variable that marks the machine as disposable.
const DISPOSABLE: &str = "PROOFMARK_DISPOSABLE_MACHINE";

/// A process that sets the clock back when this one ends, in any way.
struct Adjusted(Child);

impl Adjusted {
    /// Sets the microseconds per tick, which the clock counts as 10,000.
    fn ticks_of(microseconds: u32) -> Option<Self> {
        if std::env::var_os(DISPOSABLE).is_none() {
            skip(format!("{DISPOSABLE} is not set: the system's clock stays as it is"));
            return None;
        }
        const GUARD: &str =
            "adjtimex --tick \"$0\" || exit 1; echo set; cat; adjtimex --tick 10000";
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD]).arg(microseconds.to_string()).process_group(0);
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut guard = Self(guard.unwrap());
        let mut answer = [0; 4];
        if guard.0.stdout.as_mut().unwrap().read_exact(&mut answer).is_err() {
            skip("the system's clock cannot be set (adjtimex, CAP_SYS_TIME)");
            return None;
        }
        Some(guard)
    }
}

impl Drop for Adjusted {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        wait("the clock to be set back", &mut self.0);
    }
}

/// Measures the clock rate of a core. Returns it with the findings of the run.
fn measured() -> (f64, Vec<String>) {
    let mut command = proofmark();
    command.args(["run", "cpu.flops", "--threads", "1"]).args(SHORT);
    let (run, _) = run_json(&mut command);
    let summary = run.measurements[0].summary.as_ref().unwrap();
    (summary.value(), run.findings.iter().map(|f| f.message.clone()).collect())
}

#[test]
fn a_clock_that_was_adjusted_changes_no_rate_and_is_named() {
    let _turn = alone();
    let is_named = |all: &[String]| all.iter().any(|m| m.starts_with("CLOCK_MONOTONIC ran"));
    let (usual, found) = measured();
    assert!(!is_named(&found), "{found:?}");
    for microseconds in [9000, 11000] {
        let Some(adjusted) = Adjusted::ticks_of(microseconds) else { return };
        let (rate, found) = measured();
        drop(adjusted);
        assert!(is_named(&found), "{found:?}");
        assert!((rate / usual - 1.0).abs() < 0.05, "ticks of {microseconds} us: {rate}, {usual}");
    }
}
