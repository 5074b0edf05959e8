//! `io_during_load`: disks and networks moved bytes through memory during a memory load.
//!
//! Devices read and write memory without the CPUs. On a virtual machine the host often copies each
//! byte again, on CPUs that share the guest's caches. A guest sees neither as CPU time.

use proofmark_model::{Cut, Finding, Measurement, Trial, Unit, check_id, format_quantity};

use super::programs;
use super::share::Share;
use super::weight::{Weight, most_lost};
use super::{Check, Class, Examine, percent};
use crate::Context;

/// Crossings of the path to memory per byte of a paravirtual device, which the host copies.
/// Recorded on a guest with virtio disks (Zen 5), by I/O rate. Copies by one thread were 10 %
/// slower at 0.5 GB/s, 10 to 18 % at 1.1. They were 15 to 19 % slower at 1.7 to 2.1, and 30 to 33 %
/// at 2.7 to 3.8. Triads by all threads were 6 % slower at 1.0 GB/s, 12 % at 2.1, and 20 % at 3.5.
/// Other programs took 5 to 30 % of a CPU there.
const CROSSINGS: f64 = 7.0;

/// Slowdown of a load that waits for single lines, per byte that crosses per second. Recorded on
/// the same guest for latencies in caches and memory and for random reads. They were 4 to 10 %
/// slower at 0.8 to 1.1 GB/s, 7 to 12 % at 1.6 to 2.1, and 29 to 50 % at 2.5 to 3.6.
const SLOWDOWN_PER_BYTE_PER_S: f64 = 1e-11;

/// Smallest slowdown that is reported.
const REPORTED: f64 = 0.02;

pub(super) static CHECK: Check = Check {
    id: check_id::IO_DURING_LOAD,
    class: Class::DISTURBANCE,
    title: "Disk or network I/O during a memory load",
    about: "Applies to memory and cache loads. The check counts the bytes that all disks and \
         network interfaces moved during the trials, for any program (/proc/diskstats, \
         /proc/net/dev). They use the path to memory but no CPU time. Those of paravirtual devices \
         (virtio, Xen, Hyper-V) count 7 times, because the host copies them. Estimated slowdown: \
         for a stream, the share of these bytes in all bytes moved; for latency and random order, \
         1 % per GB/s; at most what the result lacks of its ceiling. More than 2 % is a note. More \
         than the tolerance (10 %) by paravirtual devices is suspect; what other devices cost is \
         not known well enough. Stop programs that use disks or networks.",
    examine: Examine::Both(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).cut() != Cut::Bus {
        return None;
    }
    let slowdown = |bytes: fn(&Trial) -> Option<f64>| {
        let lost_s = |t: &Trial| Some(estimated_slowdown(ctx, m, t, bytes(t)?) * t.seconds);
        Share::sum(&m.trials, lost_s, |t| t.seconds)
    };
    let (estimated, most) = (slowdown(crossed)?, most_lost(m));
    let share = estimated.at_most(most);
    share.severity(REPORTED)?;
    let by_host = slowdown(copied).map_or(0.0, |share| share.at_most(most).usual);
    let severity = Weight::derive(m).change(by_host);
    let rate = Share::sum(&m.trials, io_bytes, |t| t.seconds)?.all;
    let message = format!(
        "disk and network I/O moved {} through memory during the trials; estimated slowdown {}{}",
        format_quantity(rate, Unit::BytePerSecond),
        if most < estimated.all { "at most " } else { "" },
        percent(share.all)
    );
    let finding =
        CHECK.finding(severity, message, programs::stop_io(ctx)).with("io_bytes_per_s", rate);
    Some(share.add_to(finding, "estimated_lost_s"))
}

fn io_bytes(t: &Trial) -> Option<f64> {
    t.conditions.io_bytes.map(|bytes| bytes as f64)
}

fn paravirtual(t: &Trial) -> Option<f64> {
    t.conditions.paravirtual_io_bytes.map(|bytes| bytes as f64)
}

/// Bytes that cross the path to memory for paravirtual devices.
fn copied(t: &Trial) -> Option<f64> {
    Some(CROSSINGS * paravirtual(t)?)
}

/// The same for all devices; bytes of other devices cross it once.
fn crossed(t: &Trial) -> Option<f64> {
    Some(io_bytes(t)? + (CROSSINGS - 1.0) * paravirtual(t).unwrap_or(0.0))
}

/// The estimated slowdown of a trial by `crossed` bytes, as a share.
fn estimated_slowdown(ctx: &Context, m: &Measurement, t: &Trial, crossed: f64) -> f64 {
    let streams = m.unit == Unit::BytePerSecond && !ctx.work(m).is_random();
    // For a tool, only the counted bytes are known, not those that the hardware moved.
    match Some(t.moved.unwrap_or(t.work)).filter(|ours| streams && *ours > 0.0) {
        Some(ours) => crossed / (crossed + ours),
        None => SLOWDOWN_PER_BYTE_PER_S * crossed / t.seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// The result with I/O of that rate in bytes per second during the first `trials` trials.
    fn with_io(m: Measurement, paravirtual: bool, rate: f64, trials: usize) -> Measurement {
        each(m, |i, t| {
            let bytes = if i < trials { (rate * t.seconds) as u64 } else { 0 };
            t.conditions.io_bytes = Some(bytes);
            t.conditions.paravirtual_io_bytes = Some(if paravirtual { bytes } else { 0 });
        })
    }

    #[test]
    fn io_slows_a_memory_load_and_more_if_a_host_copies_it() {
        let triad = || stream("triad", 1);
        let own = triad().trials[0].moved.unwrap() / triad().trials[0].seconds;
        let seconds = || latency(1 << 30, 1e-7);
        CHECK.expect([
            ("a fifth", with_io(triad(), false, 0.2 * own, 10), note("estimated slowdown 16.7 %")),
            ("a hundredth", with_io(triad(), false, 0.01 * own, 10), SILENT),
            ("copied", with_io(triad(), true, 0.02 * own, 10), suspect("slowdown 12.3 %")),
            ("less", with_io(triad(), true, 0.01 * own, 10), note("slowdown 6.5 %")),
            ("in one trial", with_io(triad(), true, 0.2 * own, 1), NOTE),
            ("cores of their own", with_io(flops(1), true, own, 10), SILENT),
            ("not reported", triad(), SILENT),
            ("a latency", with_io(seconds(), false, 4e9, 10), note("slowdown 4.0 %")),
            ("copied by the host", with_io(seconds(), true, 2e9, 10), suspect("slowdown 14.0 %")),
            ("less of it", with_io(seconds(), true, 1e9, 10), note("slowdown 7.0 %")),
        ]);
        // Of a set in L1, 1.25 ns are the floor: nothing can have cost more than 3.8 %.
        let near = || with_io(latency(16 << 10, 1.3e-9), true, 2e9, 10);
        CHECK.on(&host_with_caches(), &[]).expect([
            ("near the floor", near(), note("estimated slowdown at most 4.")),
            ("far from it", with_io(latency(16 << 10, 2.5e-9), true, 2e9, 10), SUSPECT),
            ("at the floor", with_io(latency(16 << 10, 1.25e-9), true, 2e9, 10), SILENT),
        ]);
        let found = found_on(&host_with_caches(), &CHECK, near(), &[]).unwrap();
        let figure = |name: &str| found.evidence[name].as_f64().unwrap();
        let share = figure("share");
        assert!((0.035..0.05).contains(&share), "{share}");
        assert_eq!(figure("share_without_worst_tenth"), share);
        assert!(
            (figure("estimated_lost_s") - share * 10.0 * near().trials[0].seconds).abs() < 1e-3
        );
        let both = each(with_io(triad(), true, 0.01 * own, 10), |_, t| {
            t.conditions.io_bytes = t.conditions.io_bytes.map(|bytes| 11 * bytes);
        });
        CHECK.expect([("most of it not copied", both, note("slowdown 14.5 %"))]);
    }
}
