//! `scaling`: more threads gave more than their number, or than the CPUs there are.

use proofmark_model::{Better, Finding, Measurement, Pace, Severity, Summary, Unit};

use super::{Check, Class};
use crate::Context;
use crate::capacity::Capacity;
use crate::execution::Execution;
use crate::statistics::median;
use crate::words::counted;

/// The least uncertainty of one point: what a clock that moves between two points
/// leaves after it was divided out.
const FLOOR: f64 = 0.02;
/// What a memory workload may gain because its data is divided: each thread's part is
/// smaller than the whole was for one, so that translation buffers and the caches of
/// each core hold more of it.
const DIVIDED: f64 = 0.1;

/// What threads that wait for a device may gain beyond their number: a CPU that waits for one I/O at a time goes to
/// sleep and takes time to wake, and the device is not the same from point to point.
const AWAKE: f64 = 0.25;

/// The rate for each Hz of the clock where all trials know it, else the rate.
fn rate(m: &Measurement, by_clock: bool) -> Option<f64> {
    let values: Vec<f64> = m
        .trials
        .iter()
        .filter_map(|t| {
            let clock = if by_clock { t.conditions.clock_hz? } else { 1.0 };
            (clock > 0.0).then(|| t.value / clock)
        })
        .collect();
    median(&values).filter(|v| *v > 0.0)
}

/// Half of the interval of the median, or of the range where there is no interval.
fn uncertainty(m: &Measurement) -> f64 {
    let range = |s: &Summary| (s.max - s.min) / 2.0 / s.median.abs();
    let half = m.summary.as_ref().map(|s| s.half_width().unwrap_or_else(|| range(s)));
    half.filter(|u| u.is_finite() && *u >= 0.0).unwrap_or(0.0).max(FLOOR)
}

pub(super) static CHECK: Check = Check {
    id: "scaling",
    class: Class::Claim,
    title: "More than linear scaling",
    about: "Compares the rate of several threads with that of one thread of the same workload and \
         parameters, each divided by its own clock where known. The limit is the number of \
         threads, of usable CPUs or of the CPU quota, whichever is less. A ratio above it by more \
         than the uncertainty of both results (half their 95 % intervals, at least 2 % each) is \
         invalid: the rate was multiplied by the threads, or the clock counted CPU time. Memory \
         workloads and warm reads are not divided by the clock and may gain 10 % more, since each \
         thread's part of the data is smaller. Threads that wait for a disk may gain up to their \
         number, whatever the CPUs, plus 25 %. Beyond that they are only suspect, since the device \
         may have changed between the results. Times are not examined, nor results whose \
         one-thread result is suspect.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::of(ctx.host, m).ok()?;
    let rates = m.better == Better::Higher && m.unit != Unit::Second;
    if capacity.threads < 2 || m.params.int("threads").is_none() || !rates {
        return None;
    }
    let one = ctx.on_one_thread(m).filter(|one| one.undisturbed())?;
    let has_clock = |m: &Measurement| m.trials.iter().all(|t| t.conditions.clock_hz.is_some());
    let pace = Execution::of(ctx, m).pace;
    let by_clock = pace == Pace::Core && has_clock(m) && has_clock(one);
    let ratio = rate(m, by_clock)? / rate(one, by_clock)?;
    let quota = capacity.quota.unwrap_or(f64::INFINITY);
    // One thread too had no more than the quota.
    let by_cpus = (capacity.threads.min(capacity.cpus) as f64).min(quota) / quota.min(1.0);
    let (most, more, severity) = match pace {
        Pace::Core => (by_cpus, 0.0, Severity::Invalid),
        Pace::Memory => (by_cpus, DIVIDED, Severity::Invalid),
        Pace::Device => (capacity.threads as f64, AWAKE, Severity::Suspect),
    };
    let slack = capacity.quota_slack(&m.trials) + more;
    let allowed = most * (1.0 + uncertainty(m) + uncertainty(one) + slack);
    if !ratio.is_finite() || ratio <= allowed {
        return None;
    }
    Some(
        Finding::new(
            CHECK.id,
            severity,
            format!(
                "{} threads do {ratio:.2} times the work of one thread in the same time, but \
                 at most {most:.1} times is possible on {}",
                capacity.threads,
                counted(capacity.cpus, "usable CPU")
            ),
            "check that the work of all threads is counted once, and that the time is from the \
             first start to the last finish",
        )
        .with("ratio", ratio)
        .with("most", most)
        .with("usable_cpus", capacity.cpus),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Probe};

    use super::*;
    use crate::testing::{
        around, at_rate, disk, each, flops, found_on, fsync, host, host_with_disk, latency,
        linpack, stream, with_values,
    };

    fn says(threads: u64, factor: f64) -> Option<Finding> {
        let m = with_values(flops(threads), &around(factor * 0.99 * 64e9));
        found_on(&host(), &CHECK, m, &[flops(1)])
    }

    #[test]
    fn more_than_the_threads_or_the_cpus_is_invalid() {
        assert_eq!(says(2, 2.2).unwrap().severity, Severity::Invalid);
        // Eight threads on two CPUs: eight times is as impossible as 2.2 times.
        assert!(says(8, 8.0).is_some());
        assert!(says(8, 2.2).is_some());
    }

    #[test]
    fn linear_is_silent() {
        assert!(says(2, 2.0).is_none());
        assert!(says(8, 2.03).is_none());
        assert!(says(2, 1.0).is_none());
    }

    #[test]
    fn a_solve_gains_what_the_same_system_gains_on_one_thread() {
        let says = |n: u64, factor: f64| {
            let m = at_rate(linpack(n, 2), factor * 0.9 * 64e9);
            found_on(&host(), &CHECK, m, &[linpack(5000, 1)])
        };
        assert_eq!(says(5000, 2.2).unwrap().severity, Severity::Invalid);
        assert!(says(5000, 1.95).is_none());
        assert!(says(10_000, 2.2).is_none(), "another system is another measure");
    }

    #[test]
    fn a_faster_clock_is_divided_out() {
        let m = with_values(flops(2), &around(2.2 * 0.99 * 64e9));
        let m = each(m, |_, t| t.conditions.clock_hz = Some(4.4e9));
        assert!(found_on(&host(), &CHECK, m, &[flops(1)]).is_none());
    }

    #[test]
    fn a_disturbed_single_thread_is_no_measure() {
        let mut one = with_values(flops(1), &around(0.4 * 64e9));
        one.findings.push(Finding::new("other_cpu", Severity::Suspect, "", ""));
        assert!(found_on(&host(), &CHECK, flops(2), &[one]).is_none());
        assert!(found_on(&host(), &CHECK, flops(2), &[]).is_none());
    }

    #[test]
    fn under_a_quota_of_one_cpu_two_threads_gain_nothing() {
        let mut h = host();
        h.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(1.0) }, "cpu.max");
        let mut m = flops(2);
        for t in &mut m.trials {
            t.seconds = 10.0;
            t.work = t.value * t.seconds;
        }
        assert!(found_on(&h, &CHECK, m, &[flops(1)]).is_some());
    }

    #[test]
    fn memory_scales_with_its_threads_and_a_tenth_more_at_most() {
        let says = |threads: u64, factor: f64| {
            let m = with_values(stream("read", threads), &around(factor * 1e10));
            found_on(&host(), &CHECK, m, &[stream("read", 1)])
        };
        assert!(says(2, 2.15).is_none(), "smaller parts for each thread");
        assert!(says(2, 2.4).is_some());
        assert!(says(8, 2.05).is_none() && says(8, 4.0).is_some(), "two CPUs");
        // A clock that falls with two threads is not memory's.
        let slow = each(with_values(stream("read", 2), &around(2e10)), |_, t| {
            t.conditions.clock_hz = Some(3e9);
        });
        assert!(found_on(&host(), &CHECK, slow, &[stream("read", 1)]).is_none());
    }

    #[test]
    fn a_disk_scales_with_its_threads_and_not_with_the_cpus() {
        let h = host_with_disk();
        let says = |threads: u64, factor: f64| {
            let m = with_values(fsync(threads), &around(factor * 4000.0));
            found_on(&h, &CHECK, m, &[fsync(1)]).map(|f| f.severity)
        };
        assert_eq!(says(8, 8.0), None, "eight wait on two CPUs");
        assert_eq!(says(8, 9.5), None, "a CPU that does not sleep");
        assert_eq!(says(8, 12.0), Some(Severity::Suspect));
        assert_eq!(says(2, 3.0), Some(Severity::Suspect));
        let warm = || disk("seq_read", 4096, "warm");
        let mut eight = with_values(warm(), &around(8.0 * 5e9));
        eight.params = eight.params.with("threads", 8);
        let found = found_on(&h, &CHECK, eight, &[warm()]).unwrap();
        assert_eq!(found.severity, Severity::Invalid, "two CPUs copy from the cache");
    }

    #[test]
    fn a_longer_time_on_several_threads_is_no_gain() {
        let loaded = |threads: u64, seconds: f64| {
            let mut m = latency(1 << 30, seconds);
            m.workload = "memory.loaded_latency".to_owned();
            m.params = m.params.with("threads", threads);
            m
        };
        let others = [loaded(1, 1e-7)];
        assert!(found_on(&host(), &CHECK, loaded(2, 5e-7), &others).is_none());
    }
}
