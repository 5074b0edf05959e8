//! Other load before a run, and the wait until the machine is quiet.

use std::thread::sleep;
use std::time::{Duration, Instant};

use proofmark_host::{CpuTicks, Root};
use proofmark_model::{Host, format_percent, format_seconds};

use crate::text::say;

/// The time over which the load is measured.
const INTERVAL: Duration = Duration::from_millis(300);
/// Shares of the CPUs' time, busy and stolen, from which a machine is not quiet.
const BUSY: f64 = 0.05;
const STOLEN: f64 = 0.01;
/// Consecutive quiet measurements that end a wait.
const IN_A_ROW: u32 = 5;

/// The load of the CPUs, as shares of their time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CpuLoad {
    busy: f64,
    stolen: f64,
}

impl CpuLoad {
    /// Measures the CPUs that the run may use; `None` if the system does not count their time.
    fn measure(host: &Host) -> Option<Self> {
        let (root, cpus) = (Root::live(), &host.limits.usable_cpus);
        let before = CpuTicks::now(&root, cpus)?;
        sleep(INTERVAL);
        let [busy, stolen] = CpuTicks::now(&root, cpus)?.since(before)?;
        Some(Self { busy, stolen })
    }

    fn is_quiet(self) -> bool {
        self.busy < BUSY && self.stolen < STOLEN
    }

    /// Describes the load: `CPUs 85.2 % busy, 3.1 % stolen, load 2.7 on 2 CPUs`.
    fn words(self, host: &Host) -> String {
        let mut parts = vec![format!("CPUs {} busy", format_percent(self.busy))];
        if self.stolen >= STOLEN {
            parts.push(format!("{} stolen", format_percent(self.stolen)));
        }
        let cpus = host.cpu.logical_cpus.get().copied().unwrap_or(0);
        if let Some([load, ..]) = host.load.average.get().filter(|_| cpus > 0) {
            parts.push(format!("load {load:.1} on {cpus} CPUs"));
        }
        parts.join(", ")
    }
}

/// Warns of other load that would change the figures. With `wait`, waits for a quiet machine
/// instead. Returns how long it waited.
pub fn look(host: &Host, wait: Option<Duration>) -> Duration {
    let first = CpuLoad::measure(host);
    let Some(longest) = wait else {
        if let Some(first) = first.filter(|first| !first.is_quiet()) {
            let words = first.words(host);
            say(&format!(
                "proofmark: warning: {words}: expect disturbed figures; --wait-quiet 5m waits for a \
                 quiet machine"
            ));
        }
        return Duration::ZERO;
    };
    if let Some(first) = first {
        let patience = format_seconds(longest.as_secs_f64());
        let words = first.words(host);
        say(&format!("proofmark: {words}: waiting up to {patience} for a quiet machine"));
    }
    let begun = Instant::now();
    let waited = first.map_or(Waited::Uncounted, |first| {
        wait_until_quiet(first, longest, || CpuLoad::measure(host))
    });
    let took = begun.elapsed();
    say(&waited.words(host, &format_seconds(took.as_secs_f64())));
    took
}

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Waited {
    Quiet,
    /// Time ran out; the last load.
    NotQuiet(CpuLoad),
    /// The system does not count the CPUs' time.
    Uncounted,
}

fn wait_until_quiet(
    first: CpuLoad,
    longest: Duration,
    mut measure: impl FnMut() -> Option<CpuLoad>,
) -> Waited {
    let begun = Instant::now();
    let longest = longest.max(INTERVAL * IN_A_ROW);
    let (mut last, mut in_a_row) = (first, u32::from(first.is_quiet()));
    while in_a_row < IN_A_ROW && (begun.elapsed() < longest || in_a_row > 0) {
        let Some(now) = measure() else { return Waited::Uncounted };
        in_a_row = if now.is_quiet() { in_a_row + 1 } else { 0 };
        last = now;
    }
    if in_a_row == IN_A_ROW { Waited::Quiet } else { Waited::NotQuiet(last) }
}

impl Waited {
    fn words(self, host: &Host, took: &str) -> String {
        match self {
            Self::Quiet => format!("proofmark: CPUs quiet after {took}"),
            Self::NotQuiet(last) => format!(
                "proofmark: warning: not quiet after {took} ({}): expect disturbed figures",
                last.words(host)
            ),
            Self::Uncounted => {
                "proofmark: warning: this system does not count the CPUs' time: cannot wait for a \
                 quiet machine"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;

    #[test]
    fn a_busy_machine_is_reported_with_its_load() {
        let mut host = Host::unknown("test");
        let look = CpuLoad { busy: 0.85, stolen: 0.03 };
        assert!(!look.is_quiet());
        assert_eq!(look.words(&host), "CPUs 85.0 % busy, 3.0 % stolen");
        host.cpu.logical_cpus = Probe::known(2, "test");
        host.load.average = Probe::known([2.66, 1.0, 1.0], "test");
        let quiet = CpuLoad { busy: 0.5, stolen: 0.0 };
        assert_eq!(quiet.words(&host), "CPUs 50.0 % busy, load 2.7 on 2 CPUs");
        assert!(CpuLoad { busy: 0.04, stolen: 0.0 }.is_quiet());
        assert!(!CpuLoad { busy: 0.04, stolen: 0.02 }.is_quiet());
    }

    #[test]
    fn a_wait_ends_with_its_cause() {
        let host = Host::unknown("test");
        let (quiet, stolen) =
            (CpuLoad { busy: 0.0, stolen: 0.0 }, CpuLoad { busy: 0.04, stolen: 0.03 });
        let waited = wait_until_quiet(stolen, Duration::ZERO, || Some(quiet));
        assert_eq!(waited.words(&host, "2 s"), "proofmark: CPUs quiet after 2 s");
        let look = || {
            sleep(INTERVAL);
            Some(stolen)
        };
        let waited = wait_until_quiet(stolen, Duration::ZERO, look);
        assert_eq!(
            waited.words(&host, "2 s"),
            "proofmark: warning: not quiet after 2 s (CPUs 4.0 % busy, 3.0 % stolen): expect disturbed \
             figures"
        );
        let waited = wait_until_quiet(stolen, Duration::ZERO, || None);
        assert!(waited.words(&host, "2 s").contains("does not count the CPUs' time"));
    }
}
