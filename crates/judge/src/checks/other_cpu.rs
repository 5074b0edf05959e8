//! `other_cpu`: another process ran on the trial's CPUs.

use proofmark_model::{Finding, Measurement, Trial};

use super::share::Share;
use super::{Check, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::disk::waits;

/// The target interval: kernel housekeeping takes a tenth of this.
const THRESHOLD: f64 = 0.02;
/// On many CPUs one competitor is a small share of all their time and yet holds
/// back the thread that everybody waits for; a quarter of one CPU counts as such.
const THRESHOLD_OF_ONE_CPU: f64 = 0.25;
/// Where threads take turns, only the CPUs' own account tells what others took: it
/// goes by ticks of 10 ms and holds the run's own work between the trials too. A
/// busy competitor takes a third or more even from two threads.
const THRESHOLD_OVERSUBSCRIBED: f64 = 0.25;

/// Seconds that a thread waits for its CPU after each I/O without any competitor: to be
/// woken takes a quarter of a microsecond of a small I/O, 3 us where a journal's thread has
/// its say too, and some 30 us of 1 MiB, whose pages the kernel's own threads work off.
const WAKE_S: f64 = 50e-6;
/// Deep queues complete many I/Os in one go: no more than this share of the CPU time.
const WAKE_SHARE: f64 = 0.1;

pub(super) struct OtherCpu;

/// What others took, less what being woken by a device takes.
fn taken(m: &Measurement, t: &Trial, capacity: &Capacity) -> Option<f64> {
    let all = t.conditions.other_cpu_s?;
    let Some(device) = t.device.as_ref().filter(|_| waits(m)) else {
        return Some(all);
    };
    let wakes = device.reads as f64 + device.writes as f64;
    let waking = (WAKE_S * wakes).min(WAKE_SHARE * capacity.cpu_seconds(t));
    Some(all - waking).filter(|rest| *rest > 0.0).or(Some(0.0))
}

impl Check for OtherCpu {
    fn id(&self) -> &'static str {
        "other_cpu"
    }

    fn title(&self) -> &'static str {
        "Competing process"
    }

    fn about(&self) -> &'static str {
        "CPU time that other processes took on the trial's CPUs, over the CPU time of all trials. More \
         than 2 % of it, or than a quarter of one CPU, is suspect; a note where that is so only with the \
         worst tenth of the trials counted. With more threads than CPUs the account is coarse, and the \
         threshold is 25 %. For a disk 50 us an I/O are left out, 10 % at most, which being woken takes, \
         and with more threads than CPUs nothing is said: the account then holds the kernel's own threads \
         that carry the I/O. Stop the other process, or give the run CPUs of its own."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let capacity = Capacity::of(ctx.host, m).ok()?;
        if waits(m) && capacity.oversubscribed() {
            return None;
        }
        let cpus = capacity.threads.min(capacity.cpus) as f64;
        let threshold = if capacity.oversubscribed() {
            THRESHOLD_OVERSUBSCRIBED
        } else {
            THRESHOLD.min(THRESHOLD_OF_ONE_CPU / cpus)
        };
        let share = Share::of(&m.trials, |t| taken(m, t, &capacity), |t| capacity.cpu_seconds(t))?;
        let severity = share.severity(threshold)?;
        let finding = Finding::new(
            self.id(),
            severity,
            format!("a competing process took {} of the trials' CPU time", percent(share.all)),
            "stop what else runs (top shows it), or give the run CPUs of its own",
        );
        Some(share.told(finding, "other_cpu_s"))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::{each, flops, found, found_on, fsync, host, rand_read, severity};

    fn taking(threads: u64, seconds: f64) -> Measurement {
        each(flops(threads), |_, t| t.conditions.other_cpu_s = Some(seconds))
    }

    #[test]
    fn a_busy_neighbour_is_suspect_and_named() {
        let (severity, message) = found(&OtherCpu, taking(1, 0.05)).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("competing process"));
    }

    #[test]
    fn to_be_woken_by_a_device_is_no_competitor() {
        let waiting = |m: Measurement, seconds: f64| {
            severity(&OtherCpu, each(m, |_, t| t.conditions.other_cpu_s = Some(seconds)))
        };
        // 1300 I/Os in a trial of 0.1 s.
        assert_eq!(waiting(rand_read(1), 0.005), None);
        assert_eq!(waiting(rand_read(1), 0.02), Some(Severity::Suspect));
        assert_eq!(waiting(rand_read(32), 0.02), Some(Severity::Suspect), "10 000 I/Os");
        assert_eq!(waiting(fsync(8), 0.19), None, "threads that carry the I/O");
        let broken = each(rand_read(1), |_, t| t.seconds = f64::NAN);
        assert!(broken.trials.iter().all(|t| {
            taken(&broken, t, &Capacity::of(&host(), &broken).unwrap()).unwrap() >= 0.0
        }));
    }

    #[test]
    fn housekeeping_is_silent_and_one_trial_a_note() {
        assert_eq!(severity(&OtherCpu, taking(1, 0.0005)), None);
        let one = each(flops(1), |i, t| {
            t.conditions.other_cpu_s = Some(if i == 5 { 0.06 } else { 0.0 });
        });
        assert_eq!(severity(&OtherCpu, one), Some(Severity::Note));
    }

    #[test]
    fn one_competitor_on_many_cpus_is_seen() {
        let mut h = host();
        h.limits.usable_cpus = (0..64).collect();
        h.limits.usable_cores = 64;
        // Half of one CPU of 64 is 0.8 % of their time.
        let finding = found_on(&h, &OtherCpu, taking(64, 0.05), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
    }

    #[test]
    fn threads_that_take_turns_are_no_competitor() {
        // Eight threads on two CPUs, 0.2 CPU-seconds a trial: a coarse account.
        assert_eq!(severity(&OtherCpu, taking(8, 0.03)), None);
        assert_eq!(severity(&OtherCpu, taking(8, 0.07)), Some(Severity::Suspect));
    }
}
