//! Other load before a run, and the wait until the machine is quiet.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use proofmark_host::{CpuTicks, Root};
use proofmark_model::{Host, OtherPrograms, counted, format_percent, format_seconds};
use proofmark_run::BusyPrograms;

use crate::cli::Before;
use crate::text::say;

/// The time over which the load is measured.
const INTERVAL: Duration = Duration::from_millis(300);
/// Shares of the CPUs' time, busy and stolen, from which a machine is not quiet.
const BUSY: f64 = 0.05;
const STOLEN: f64 = 0.01;
/// Consecutive quiet measurements that end a wait.
const IN_A_ROW: u32 = 5;
/// Time between two lines of a wait.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// Programs that a line names at most.
const NAMED: usize = 3;

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
            parts.push(format!("load {load:.1} on {}", counted(cpus, "CPU")));
        }
        parts.join(", ")
    }
}

/// Looks for other load, which would change the figures. Warns of it, waits for its end, or refuses
/// to measure, as the user asked. Returns how long it waited.
pub fn look(host: &Host, before: Before) -> Result<Duration> {
    let programs = BusyPrograms::begin();
    let first = CpuLoad::measure(host);
    let names = busiest(programs);
    let Before { wait_quiet, require_quiet, .. } = before;
    if wait_quiet.is_none() && !require_quiet {
        if let Some(first) = first.filter(|first| !first.is_quiet()) {
            let words = first.words(host);
            say(&format!(
                "proofmark: warning: {words}{names}: expect disturbed figures; --wait-quiet 5m waits for \
                 a quiet machine"
            ));
        }
        return Ok(Duration::ZERO);
    }
    let longest = wait_quiet.unwrap_or_default();
    if let Some(first) = first.filter(|_| wait_quiet.is_some()) {
        let patience = format_seconds(longest.as_secs_f64());
        let words = first.words(host);
        say(&format!("proofmark: {words}{names}: waiting up to {patience} for a quiet machine"));
    }
    let begun = Instant::now();
    let waited = match first {
        Some(first) => wait_until_quiet(first, longest, &mut Watched::begin(host)),
        None => Waited::Uncounted,
    };
    let elapsed = begun.elapsed();
    let took = format_seconds(elapsed.as_secs_f64());
    match waited {
        Waited::Quiet => say(&waited.words(host, &took)),
        _ if require_quiet => {
            return Err(anyhow!(
                "{}; nothing was measured (--require-quiet)",
                waited.words(host, &took)
            ));
        }
        _ => say(&format!(
            "proofmark: warning: {}: expect disturbed figures",
            waited.words(host, &took)
        )),
    }
    Ok(elapsed)
}

/// The programs with the most CPU time since then, after a separator.
fn busiest(since: BusyPrograms) -> String {
    let (named, all_of_one_cpu) = since.finish();
    busiest_of(OtherPrograms { named: &named, all_of_one_cpu })
}

/// `; busiest programs (100 % = one CPU): make 71.7 %, cp 20.0 %`. Empty without any.
fn busiest_of(programs: OtherPrograms) -> String {
    let named = programs.words(NAMED);
    named.map_or_else(String::new, |n| format!("; busiest programs (100 % = one CPU): {n}"))
}

/// What a wait reads.
trait Watch {
    /// Measures the load; `None` if the system does not count it.
    fn measure(&mut self) -> Option<CpuLoad>;
    /// The busiest programs since the last call.
    fn programs(&mut self) -> String;
    /// Prints that the wait goes on.
    fn still(&mut self, load: CpuLoad, programs: &str);
}

/// This machine during a wait.
struct Watched<'a> {
    host: &'a Host,
    programs: BusyPrograms,
}

impl<'a> Watched<'a> {
    fn begin(host: &'a Host) -> Self {
        Self { host, programs: BusyPrograms::begin() }
    }
}

impl Watch for Watched<'_> {
    fn measure(&mut self) -> Option<CpuLoad> {
        CpuLoad::measure(self.host)
    }

    fn programs(&mut self) -> String {
        busiest(std::mem::replace(&mut self.programs, BusyPrograms::begin()))
    }

    fn still(&mut self, load: CpuLoad, programs: &str) {
        say(&format!("proofmark: still waiting: {}{programs}", load.words(self.host)));
    }
}

/// The end of a wait.
#[derive(Debug, Clone, PartialEq)]
enum Waited {
    Quiet,
    /// Time ran out; the last load, and the programs that caused it.
    NotQuiet(CpuLoad, String),
    /// The system does not count the CPUs' time.
    Uncounted,
}

fn wait_until_quiet(first: CpuLoad, longest: Duration, watch: &mut impl Watch) -> Waited {
    let begun = Instant::now();
    let longest = longest.max(INTERVAL * IN_A_ROW);
    let (mut last, mut in_a_row) = (first, u32::from(first.is_quiet()));
    let mut said = begun;
    while in_a_row < IN_A_ROW && (begun.elapsed() < longest || in_a_row > 0) {
        let Some(now) = watch.measure() else { return Waited::Uncounted };
        in_a_row = if now.is_quiet() { in_a_row + 1 } else { 0 };
        last = now;
        if said.elapsed() >= SAY_EVERY && in_a_row == 0 {
            let programs = watch.programs();
            watch.still(last, &programs);
            said = Instant::now();
        }
    }
    match in_a_row == IN_A_ROW {
        true => Waited::Quiet,
        false => Waited::NotQuiet(last, watch.programs()),
    }
}

impl Waited {
    fn words(&self, host: &Host, took: &str) -> String {
        match self {
            Self::Quiet => format!("proofmark: CPUs quiet after {took}"),
            Self::NotQuiet(last, programs) => {
                format!("not quiet after {took} ({}{programs})", last.words(host))
            }
            Self::Uncounted => {
                "this system does not count the CPUs' time: cannot wait for a quiet machine"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Probe, Program};

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

    /// A machine with this load whose busy program is make.
    struct Fake(Option<CpuLoad>);

    impl Watch for Fake {
        fn measure(&mut self) -> Option<CpuLoad> {
            sleep(INTERVAL / 10);
            self.0
        }

        fn programs(&mut self) -> String {
            let of_one_cpu = |name: &str, of_one_cpu| Program {
                name: name.to_owned(),
                cpu_s: 1.0,
                of_one_cpu,
                io_bytes_per_s: 0.0,
            };
            let named = [of_one_cpu("make", 0.717), of_one_cpu("idle", 0.001)];
            busiest_of(OtherPrograms { named: &named, all_of_one_cpu: None })
        }

        fn still(&mut self, _: CpuLoad, _: &str) {}
    }

    #[test]
    fn a_wait_ends_with_its_cause() {
        let host = Host::unknown("test");
        let (quiet, stolen) =
            (CpuLoad { busy: 0.0, stolen: 0.0 }, CpuLoad { busy: 0.04, stolen: 0.03 });
        let waits = |load| wait_until_quiet(stolen, Duration::ZERO, &mut Fake(load));
        assert_eq!(waits(Some(quiet)).words(&host, "2 s"), "proofmark: CPUs quiet after 2 s");
        assert_eq!(
            waits(Some(stolen)).words(&host, "2 s"),
            "not quiet after 2 s (CPUs 4.0 % busy, 3.0 % stolen; busiest programs (100 % = one CPU): make \
             71.7 %)"
        );
        assert!(waits(None).words(&host, "2 s").contains("does not count the CPUs' time"));
        assert_eq!(busiest_of(OtherPrograms::default()), "");
        let short = OtherPrograms { named: &[], all_of_one_cpu: Some(1.4) };
        assert!(
            busiest_of(short)
                .starts_with("; busiest programs (100 % = one CPU): not named 140.0 %")
        );
    }
}
