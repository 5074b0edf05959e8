//! Second reading of the system's clocks and the machine when a run has ended.

use std::path::Path;

use proofmark_judge::compare::changes;
use proofmark_model::{Clocks, Finding, Host, RawRun, Severity};

use crate::machine::look_only;

/// Id, title and meaning of the findings.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        "adjusted_clock",
        "The system's clock runs at another rate than the hardware's",
        "proofmark reads CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW together when a run begins and when it \
         ends. A time service adjusts a clock by up to 500 ppm; a larger difference means that a user \
         or program set its rate (adjtimex(2)). proofmark's rates use the raw clock and are right. \
         Those of tools that use the other one are not. Set the clock's tick and frequency back, and \
         run again.",
    ),
    (
        "suspended",
        "The system was suspended",
        "CLOCK_BOOTTIME advanced more than CLOCK_MONOTONIC, which stops during a suspension. It \
         interrupted the measurement, and caches, clocks and connections were new afterwards. Run again.",
    ),
    (
        "clock_step",
        "The wall clock was set",
        "CLOCK_REALTIME and CLOCK_BOOTTIME differ by more than 10 ms over the run. Durations and rates \
         do not use CLOCK_REALTIME; the times of day in the run file do.",
    ),
    (
        "host_changed",
        "The machine changed during the run",
        "proofmark reads limits, CPUs and clock source again when a run ends. Results from before and \
         after the change do not belong to one machine. Run again.",
    ),
];

/// Maximum share by which a time service adjusts a clock.
const ADJUSTED: f64 = 500e-6;
/// Minimum seconds of a run: in shorter ones, the cost of reading the clocks exceeds that share.
const MIN_S: f64 = 1.0;
/// Differences of the clocks without a suspension or a step, in seconds.
const SUSPENDED_S: f64 = 1e-3;
const STEP_S: f64 = 0.01;

/// Adds the findings about a run that now ends, which took this long by each clock.
pub(crate) fn look_again(run: &mut RawRun, clocks: Clocks) {
    let disk = run.host.storage.get().map(|s| s.path.clone());
    let host = look_only(disk.as_deref().map(Path::new));
    run.findings.extend(clock_findings(&clocks).chain(host_finding(&run.host, &host)));
    run.clocks = Some(clocks);
}

fn clock_findings(c: &Clocks) -> impl Iterator<Item = Finding> {
    let adjusted = c.monotonic_s / c.raw_s - 1.0;
    let suspended_s = c.boottime_s - c.monotonic_s;
    let step_s = c.realtime_s - c.boottime_s;
    let found = [
        (c.raw_s >= MIN_S && adjusted.abs() > ADJUSTED).then(|| {
            let message = format!(
                "CLOCK_MONOTONIC ran {:.2} % {} than the hardware's clock: rates by proofmark are \
                 right, those of tools that use it are not",
                100.0 * adjusted.abs(),
                if adjusted > 0.0 { "faster" } else { "slower" },
            );
            let advice = "set the clock's tick and frequency back (adjtimex), then run again";
            Finding::new("adjusted_clock", Severity::Note, message, advice).with("share", adjusted)
        }),
        (suspended_s > SUSPENDED_S).then(|| {
            let message = format!("the system was suspended for {suspended_s:.1} s during the run");
            Finding::new("suspended", Severity::Suspect, message, "run again")
                .with("seconds", suspended_s)
        }),
        (step_s.abs() > STEP_S).then(|| {
            let message = format!("the wall clock was set by {step_s:+.2} s during the run");
            let advice = "durations and rates do not use it; times of day in the run file do";
            Finding::new("clock_step", Severity::Note, message, advice).with("seconds", step_s)
        }),
    ];
    found.into_iter().flatten()
}

fn host_finding(before: &Host, after: &Host) -> Option<Finding> {
    let changes = changes(before, after);
    let words = changes.iter().map(|d| format!("{}: {} before, {} after", d.what, d.a, d.b));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| {
        let message = format!("the machine changed during the run: {}", words.join("; "));
        Finding::new("host_changed", Severity::Suspect, message, "run again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_model::{CpuQuota, Probe};

    fn found(c: Clocks) -> Vec<String> {
        clock_findings(&c).map(|f| f.check.to_string()).collect()
    }

    fn clocks(monotonic_s: f64, suspended_s: f64, step_s: f64) -> Clocks {
        let boottime_s = monotonic_s + suspended_s;
        Clocks { raw_s: 10.0, monotonic_s, boottime_s, realtime_s: boottime_s + step_s }
    }

    #[test]
    fn clocks_that_differ_are_named_by_what_differs() {
        assert!(found(clocks(10.004, 0.0, 0.001)).is_empty(), "as time servers adjust them");
        assert_eq!(found(clocks(10.01, 0.0, 0.0)), ["adjusted_clock"]);
        assert_eq!(found(clocks(9.99, 0.0, 0.0)), ["adjusted_clock"]);
        assert_eq!(found(clocks(10.0, 2.0, 0.0)), ["suspended"]);
        assert_eq!(found(clocks(10.0, 0.0, -0.02)), ["clock_step"]);
        assert_eq!(found(clocks(11.0, 2.0, 5.0)), ["adjusted_clock", "suspended", "clock_step"]);
        let short = Clocks { raw_s: 0.1, monotonic_s: 0.101, boottime_s: 0.101, realtime_s: 0.101 };
        assert!(found(short).is_empty(), "too short to tell");
        let ids: Vec<&str> = FINDINGS.iter().map(|(id, ..)| *id).collect();
        for id in found(clocks(11.0, 2.0, 5.0)) {
            assert!(ids.contains(&id.as_str()), "{id} is explained");
        }
    }

    #[test]
    fn a_machine_that_changed_is_named_with_what_changed() {
        let before = Host::unknown("not looked at");
        assert!(host_finding(&before, &before).is_none());
        let mut after = before.clone();
        let quota = CpuQuota { cpus: Some(0.5), period_s: Some(0.1), burst_s: None };
        after.limits.cpu_quota = Probe::known(quota, "cpu.max");
        after.timer.clock_source = Probe::known("hpet".to_owned(), "sysfs");
        let message = host_finding(&before, &after).unwrap().message;
        assert!(message.contains("CPU quota: unknown before, "), "{message}");
        assert!(message.contains("clock source: unknown before, hpet after"), "{message}");
    }
}
