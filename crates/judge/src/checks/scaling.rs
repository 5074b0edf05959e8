//! `scaling`: several threads gained more than their number, or more than the number of CPUs.

use proofmark_model::{Better, Finding, Measurement, Pace, Severity, Summary, Unit, key};

use super::{Check, Class, Examine};
use crate::capacity::{Bound, Capacity};
use crate::execution::Execution;
use crate::words::counted;
use crate::{Context, by_stretch};

/// Smallest uncertainty of a result: the error that remains after division by a varying clock.
const FLOOR: f64 = 0.02;
/// Gain that a memory workload may have because its data is divided. Each thread's part is smaller,
/// so translation buffers and each core's caches hold more of it.
const DIVIDED: f64 = 0.1;

/// Gain beyond their number that threads may have if they wait for a device. A CPU that waits for
/// one I/O takes time to wake up, and the device may change between results.
const WAKE_UP: f64 = 0.25;

/// The rate, per Hz of the clock if `by_clock`.
fn rate(m: &Measurement, by_clock: bool) -> Option<f64> {
    let rate = by_stretch(m, |value, clock| {
        let clock = if by_clock { clock? } else { 1.0 };
        (clock > 0.0).then(|| value / clock)
    });
    rate.filter(|v| *v > 0.0)
}

/// Half of the median's interval, or of the range if there is no interval, as a share of the
/// figure.
fn uncertainty(m: &Measurement) -> f64 {
    let range = |s: &Summary| (s.trials.max - s.trials.min) / 2.0 / s.value().abs();
    let half = m.summary.as_ref().map(|s| s.half_width().unwrap_or_else(|| range(s)));
    half.filter(|u| u.is_finite() && *u >= 0.0).unwrap_or(0.0).max(FLOOR)
}

pub(super) static CHECK: Check = Check {
    id: "scaling",
    class: Class::claim("a device may have changed between the two results"),
    title: "More than linear scaling",
    about: "Compares the rate of several threads with that of one thread of the same workload and \
         parameters, each divided by its own clock where known. The limit is the number of \
         threads, of usable CPUs or of the CPU quota, whichever is less. A ratio above it by more \
         than the uncertainty of both results (half their 95 % intervals, at least 2 % each) is \
         invalid: the rate was multiplied by the threads, or the clock counted CPU time. Memory \
         workloads and warm reads are not divided by the clock. They may gain 10 % more, since \
         each thread's part of the data is smaller. Threads that wait for a disk may gain up to \
         their number, whatever the CPUs, plus 25 %. Beyond that they are only suspect, since the \
         device may have changed between the results. Times are not examined, nor results whose \
         one-thread result is suspect.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let rates = m.better == Better::Higher && m.unit != Unit::Second;
    if capacity.threads < 2 || m.params.get(key::THREADS).is_none() || !rates {
        return None;
    }
    let one = ctx.on_one_thread(m).filter(|one| one.undisturbed())?;
    let has_clock = |m: &Measurement| m.trials.iter().all(|t| t.conditions.clock_hz.is_some());
    let pace = Execution::derive(ctx, m).pace;
    let by_clock = pace == Pace::Core && has_clock(m) && has_clock(one);
    let ratio = rate(m, by_clock)? / rate(one, by_clock)?;
    let quota = capacity.quota.filter(|_| capacity.bound == Bound::Quota).unwrap_or(f64::INFINITY);
    // The quota limited the one thread, too.
    let by_cpus = (capacity.threads.min(capacity.cpus) as f64).min(quota) / quota.min(1.0);
    let (most, more, severity) = match pace {
        Pace::Core => (by_cpus, 0.0, Severity::Invalid),
        Pace::Memory => (by_cpus, DIVIDED, Severity::Invalid),
        Pace::Device => (capacity.threads as f64, WAKE_UP, Severity::Suspect),
    };
    let slack = capacity.quota_slack(&m.trials) + more;
    let allowed = most * (1.0 + uncertainty(m) + uncertainty(one) + slack);
    if !ratio.is_finite() || ratio <= allowed {
        return None;
    }
    let message = format!(
        "{} threads do {ratio:.2} times the work of one thread in the same time, but \
         at most {most:.1} times is possible {}",
        capacity.threads,
        match (pace, quota.is_finite()) {
            (Pace::Device, _) => "with as many threads that wait for a device".to_owned(),
            (_, true) => format!("under a CPU quota of {}", counted(quota, "CPU")),
            _ => format!("on {}", counted(capacity.cpus, "usable CPU")),
        }
    );
    let advice = "check that the work of all threads is counted once, and that the time is from the \
                  first start to the last finish";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("ratio", ratio).with("most", most).with("usable_cpus", capacity.cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn faster(threads: u64, factor: f64) -> Measurement {
        with_values(flops(threads), &around(factor * 0.99 * 64e9))
    }

    #[test]
    fn more_than_the_threads_or_the_cpus_is_invalid() {
        let clocked = each_condition(faster(2, 2.2), |_, c| c.clock_hz = Some(4.4e9));
        CHECK.on(&host(), &[flops(1)]).expect([
            ("more than two", faster(2, 2.2), INVALID),
            // Eight threads on two CPUs: eight times is as impossible as 2.2 times.
            ("eight on two CPUs", faster(8, 8.0), INVALID),
            ("more than the CPUs", faster(8, 2.2), INVALID),
            ("linear", faster(2, 2.0), SILENT),
            ("linear on two CPUs", faster(8, 2.03), SILENT),
            ("no gain", faster(2, 1.0), SILENT),
            ("a faster clock", clocked, SILENT),
        ]);
        let solve = |n: u64, factor: f64| at_rate(linpack(n, 2), factor * 0.9 * 64e9);
        CHECK.on(&host(), &[linpack(5000, 1)]).expect([
            ("a solve", solve(5000, 2.2), INVALID),
            ("linear", solve(5000, 1.95), SILENT),
            ("another system is another measure", solve(10_000, 2.2), SILENT),
        ]);
        let one = suspected(with_values(flops(1), &around(0.4 * 64e9)), "other_cpu");
        CHECK.on(&host(), &[one]).expect([("a disturbed one", flops(2), SILENT)]);
        let foreign = Measurement { workload: "cpu.iops".to_owned(), ..flops(1) };
        let m = faster(2, 2.2);
        CHECK.on(&host(), &[foreign]).expect([("another workload", m, SILENT)]);
    }

    #[test]
    fn time_taken_from_one_thread_is_no_gain_of_two() {
        use proofmark_model::{FigureKind, Round};
        // The one thread lost half of its time; its windows show what its core does.
        let mut one = with_values(flops(1), &around(0.5 * 63e9));
        let round = Round { attainable: Some(63e9), clock_hz: Some(4e9), ..Round::default() };
        one = each(one, |_, t| t.rounds = vec![round.clone()]);
        let s = one.summary.as_mut().unwrap();
        (s.headline, s.attainable.value) = (FigureKind::Attainable, Some(63e9));
        CHECK.on(&host(), &[one.clone()]).expect([
            ("twice its windows", faster(2, 2.0), SILENT),
            ("more", faster(2, 4.0), INVALID),
        ]);
    }

    #[test]
    fn under_a_quota_of_one_cpu_two_threads_gain_nothing() {
        let h = with_quota(host(), 1.0);
        let m = each(flops(2), |_, t| (t.seconds, t.work) = (10.0, t.value * 10.0));
        let quota = invalid("at most 1.0 times is possible under a CPU quota of 1 CPU$");
        CHECK.on(&h, &[flops(1)]).expect([("twice", m, quota)]);
    }

    #[test]
    fn memory_scales_with_its_threads_and_a_tenth_more_at_most() {
        let read = |threads: u64, factor: f64| {
            with_values(stream("read", threads), &around(factor * 1e10))
        };
        CHECK.on(&host(), &[stream("read", 1)]).expect([
            ("smaller parts for each thread", read(2, 2.15), SILENT),
            ("more", read(2, 2.4), INVALID),
            ("two CPUs", read(8, 2.05), SILENT),
            ("more than two CPUs", read(8, 4.0), INVALID),
            // A clock that falls with two threads is not memory's.
            ("slow", each_condition(read(2, 2.0), |_, c| c.clock_hz = Some(3e9)), SILENT),
        ]);
        let loaded = |threads: u64, seconds: f64| {
            let mut m = with_param(latency(1 << 30, seconds), "threads", threads);
            m.workload = "memory.loaded_latency".to_owned();
            m
        };
        let longer = loaded(2, 5e-7);
        CHECK.on(&host(), &[loaded(1, 1e-7)]).expect([("a longer time", longer, SILENT)]);
    }

    #[test]
    fn a_disk_scales_with_its_threads_and_not_with_the_cpus() {
        let commits =
            |threads: u64, factor: f64| with_values(fsync(threads), &around(factor * 4000.0));
        CHECK.on(&host_with_disk(), &[fsync(1)]).expect([
            ("eight wait on two CPUs", commits(8, 8.0), SILENT),
            ("a CPU that does not sleep", commits(8, 9.5), SILENT),
            ("more", commits(8, 12.0), SUSPECT),
            ("two", commits(2, 3.0), SUSPECT),
        ]);
        let warm = || disk("seq_read", 4096, "warm");
        let eight = with_param(with_values(warm(), &around(8.0 * 5e9)), "threads", 8);
        CHECK.on(&host_with_disk(), &[warm()]).expect([("two CPUs copy", eight, INVALID)]);
    }
}
