//! Before a run: what else the machine does, and waiting until it is quiet.

use std::thread::sleep;
use std::time::{Duration, Instant};

use proofmark_host::{CpuTicks, Root};
use proofmark_model::{Host, format_seconds};

use crate::text::say;

/// How long a look takes.
const LOOK: Duration = Duration::from_millis(300);
/// Shares of the CPUs' time from which on a machine is not quiet: that others work, and that is stolen.
const BUSY: f64 = 0.05;
const STOLEN: f64 = 0.01;
/// Looks in a row that must be quiet.
const IN_A_ROW: u32 = 5;

/// What a look found.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    busy: f64,
    stolen: f64,
}

impl Look {
    /// At the CPUs that the run may use; `None` where the system does not count them.
    fn take(host: &Host) -> Option<Self> {
        let (root, cpus) = (Root::live(), &host.limits.usable_cpus);
        let before = CpuTicks::now(&root, cpus)?;
        sleep(LOOK);
        let [busy, stolen] = CpuTicks::now(&root, cpus)?.since(before)?;
        Some(Self { busy, stolen })
    }

    fn is_quiet(self) -> bool {
        self.busy < BUSY && self.stolen < STOLEN
    }

    /// `CPUs 85 % busy, 3 % stolen, load 2.7 on 2 CPUs`.
    fn words(self, host: &Host) -> String {
        let [busy, stolen] = [self.busy, self.stolen].map(|share| 100.0 * share);
        let mut parts = vec![format!("CPUs {busy:.0} % busy")];
        if self.stolen >= STOLEN {
            parts.push(format!("{stolen:.0} % stolen"));
        }
        let cpus = host.cpu.logical_cpus.get().copied().unwrap_or(0);
        if let Some([load, ..]) = host.load.average.get().filter(|_| cpus > 0) {
            parts.push(format!("load {load:.1} on {cpus} CPUs"));
        }
        parts.join(", ")
    }
}

/// Says what else the machine does, if that will show in the figures; waits if it was asked to.
pub fn look(host: &Host, wait: Option<Duration>) {
    let Some(mut last) = Look::take(host) else { return };
    let Some(longest) = wait else {
        if last.is_quiet() {
            return;
        }
        let words = last.words(host);
        say(&format!(
            "proofmark: warning: {words}: expect disturbed figures; --wait-quiet 5m waits for a quiet \
             machine"
        ));
        return;
    };
    let patience = format_seconds(longest.as_secs_f64());
    say(&format!("proofmark: {}: waiting up to {patience} for a quiet machine", last.words(host)));
    let begun = Instant::now();
    let longest = longest.max(LOOK * IN_A_ROW);
    let mut in_a_row = u32::from(last.is_quiet());
    while in_a_row < IN_A_ROW && (begun.elapsed() < longest || in_a_row > 0) {
        let Some(now) = Look::take(host) else { return };
        in_a_row = if now.is_quiet() { in_a_row + 1 } else { 0 };
        last = now;
    }
    let took = format_seconds(begun.elapsed().as_secs_f64());
    match in_a_row {
        IN_A_ROW => say(&format!("proofmark: CPUs idle after {took}")),
        _ => say(&format!(
            "proofmark: warning: not quiet after {took} (CPUs {:.0} % busy): expect disturbed figures",
            100.0 * last.busy
        )),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;

    #[test]
    fn a_busy_machine_is_told_with_its_load() {
        let mut host = Host::unknown("test");
        let look = Look { busy: 0.85, stolen: 0.03 };
        assert!(!look.is_quiet());
        assert_eq!(look.words(&host), "CPUs 85 % busy, 3 % stolen");
        host.cpu.logical_cpus = Probe::known(2, "test");
        host.load.average = Probe::known([2.66, 1.0, 1.0], "test");
        let quiet = Look { busy: 0.5, stolen: 0.0 };
        assert_eq!(quiet.words(&host), "CPUs 50 % busy, load 2.7 on 2 CPUs");
        assert!(Look { busy: 0.04, stolen: 0.0 }.is_quiet());
        assert!(!Look { busy: 0.04, stolen: 0.02 }.is_quiet());
    }
}
