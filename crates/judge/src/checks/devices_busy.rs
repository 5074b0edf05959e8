//! `devices_busy`: disks and network cards moved bytes through memory during a memory load.
//!
//! A device reads and writes memory past the CPUs. On a virtual machine the host often copies each byte
//! again, with CPUs that share the guest's caches. Neither is CPU time that a guest can see.

use proofmark_model::{Cut, Finding, Measurement, Trial, Unit, format_quantity};

use super::loss::Loss;
use super::programs;
use super::share::Share;
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;

/// How often a byte crosses the path to memory: once for a device, and more often where a host copies it.
/// On a guest with virtio disks (Zen 5) 1.0, 1.7, 2.1 and 3.8 GB/s of others cost copies by one thread 10,
/// 18, 18 and 30 %, and triads 6 % at 1.0, 12 % at 2.1, 20 % at 3.5.
const DIRECT: f64 = 1.0;
const COPIED: f64 = 5.0;

/// The share by which a load that waits for single lines is slower, per byte per second. On the same guest
/// latencies and random reads were 4 to 10 % slower beside 1.0 GB/s, 7 to 12 % beside 2, 16 to 36 % beside
/// 3 to 3.9.
const SINGLE: f64 = 1e-11;

/// What costs less is not reported.
const REPORTED: f64 = 0.02;

pub(super) static CHECK: Check = Check {
    id: "devices_busy",
    class: Class::DISTURBANCE,
    title: "Disks and network cards used memory during a memory load",
    about: "Loads of memory and caches. Bytes that the machine's disks and network cards moved during the \
         trials (/proc/diskstats, /proc/net/dev), for whomever: they cross the path to memory, and no CPU \
         time shows it. On a virtual machine each byte counts 5 times, since the host copies it through \
         the caches. A stream loses their part of all bytes that are moved, a latency or a random order \
         1 % for each GB/s so counted. If at least 6 trials were without them, these show the cost. More \
         than 2 % is a note, more than the tolerance suspect. Stop what uses disks and networks.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).cut() != Cut::Bus {
        return None;
    }
    let of = |t: &Trial| Some(cost(ctx, m, t)? * t.seconds);
    let share = Share::sum(&m.trials, of, |t| t.seconds)?;
    share.severity(REPORTED)?;
    let shown = Loss::of_trials(m, |t| cost(ctx, m, t)).filter(|loss| loss.severity(m).is_some());
    let loss = shown.map_or(share.usual, |loss| loss.value);
    let severity = shown.and_then(|loss| loss.severity(m));
    let severity = severity.unwrap_or_else(|| Weight::derive(m).change(loss));
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let bytes: f64 = m.trials.iter().filter_map(moved).sum();
    let rate = bytes / seconds;
    let how = if shown.is_some() { "this cost" } else { "so much costs such a load about" };
    let message = format!(
        "disks and network cards moved {} through memory meanwhile; {how} {}",
        format_quantity(rate, Unit::BytePerSecond),
        percent(loss)
    );
    let finding = CHECK
        .finding(severity, message, programs::stop_device_users(ctx))
        .with("device_bytes_per_s", rate);
    Some(share.add_to(finding, "lost_s"))
}

fn moved(t: &Trial) -> Option<f64> {
    t.conditions.device_bytes.map(|bytes| bytes as f64)
}

/// The share by which a trial was slower for it.
fn cost(ctx: &Context, m: &Measurement, t: &Trial) -> Option<f64> {
    let guest = ctx.host.os.virtualisation.get().is_some_and(|v| v != "none");
    let theirs = if guest { COPIED } else { DIRECT } * moved(t)?;
    let streams = !ctx.work(m).is_random();
    Some(match t.moved.filter(|ours| streams && *ours > 0.0) {
        Some(ours) => theirs / (theirs + ours),
        None => SINGLE * theirs / t.seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// Devices move so many bytes a second in so many of the trials.
    fn beside(m: Measurement, rate: f64, trials: usize) -> Measurement {
        each(m, |i, t| {
            let bytes = if i < trials { rate * t.seconds } else { 0.0 };
            t.conditions.device_bytes = Some(bytes as u64);
        })
    }

    /// The same trials, of which so many are so much slower.
    fn slowed(m: Measurement, trials: usize, by: f64) -> Measurement {
        let rate = m.trials[0].value;
        let values: Vec<f64> =
            (0..10).map(|i| if i < trials { (1.0 - by) * rate } else { rate }).collect();
        with_values(m, &values)
    }

    #[test]
    fn what_devices_move_costs_a_load_of_memory_and_more_on_a_guest() {
        let triad = || stream("triad", 1);
        let own = triad().trials[0].moved.unwrap() / triad().trials[0].seconds;
        let on = |virtualisation: &str| {
            let mut host = host();
            host.os.virtualisation =
                proofmark_model::Probe::known(virtualisation.to_owned(), "test");
            host
        };
        CHECK.on(&on("none"), &[]).expect([
            ("a fifth", beside(triad(), 0.2 * own, 10), suspect("load about 16.7 %")),
            ("a twentieth", beside(triad(), 0.05 * own, 10), note("load about 4.8 %")),
            ("a hundredth", beside(triad(), 0.01 * own, 10), SILENT),
            ("in one trial", beside(triad(), 0.4 * own, 1), NOTE),
            ("cores of their own", beside(flops(1), own, 10), SILENT),
            ("not reported", triad(), SILENT),
            ("a latency", beside(latency(1 << 30, 1e-7), 4e9, 10), note("load about 4.0 %")),
            ("of much", beside(latency(1 << 30, 1e-7), 12e9, 10), SUSPECT),
        ]);
        CHECK.on(&on("kvm"), &[]).expect([
            ("a twentieth", beside(triad(), 0.05 * own, 10), suspect("load about 20.0 %")),
            ("a latency", beside(latency(1 << 30, 1e-7), 3e9, 10), suspect("about 15.0 %")),
            ("less", beside(latency(1 << 30, 1e-7), 1e9, 10), note("about 5.0 %")),
        ]);
    }

    #[test]
    fn trials_without_them_show_the_cost() {
        let triad = || stream("triad", 1);
        let own = triad().trials[0].moved.unwrap() / triad().trials[0].seconds;
        let all = |by: f64| beside(slowed(triad(), 4, by), 0.4 * own, 4);
        CHECK.expect([
            ("nothing", all(0.0), note("this cost 0.0 %")),
            ("much, but in few", all(0.3), NOTE),
        ]);
    }
}
