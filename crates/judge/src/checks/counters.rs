//! Checks `no_device_witness`, `no_interface_witness` and `unwatched`: counters that the system
//! does not report, of the disk, of the network interfaces, and of disturbances.

use proofmark_model::{
    Conditions, End, Finding, Measurement, NetworkTraffic, Severity, Trial, check_id,
};

use super::{Check, Class, Examine};
use crate::Context;
use crate::disk::{self, waits};
use crate::execution::Execution;
use crate::network::{self, over_loopback};
use crate::words::counted;

/// Cached share of the file from which a warm result needs no device.
const WARM: f64 = 0.95;

pub(super) static NO_DEVICE_WITNESS: Check = Check {
    id: check_id::NO_DEVICE_WITNESS,
    class: Class::claim("nothing independent shows whether the bytes came from or reached a disk"),
    title: "No device counters",
    about: "A trial needs the counters of the block devices and the requested bytes of the file. \
         A trial without them is suspect: nothing independent shows that its bytes came from \
         or reached a disk. Reads from a warm cache need no device if at least 95 % of the file \
         was cached. Check why /proc/diskstats does not list the folder's device, or choose \
         another folder.",
    examine: Examine::Ours(no_device_witness),
};

fn no_device_witness(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !disk::measured(m) {
        return None;
    }
    let silent = |t: &&Trial| t.device.is_none() || t.file.is_none();
    let without = m.trials.iter().filter(silent).count();
    let in_memory = m
        .trials
        .iter()
        .all(|t| t.file.as_ref().and_then(|f| f.cached).is_some_and(|share| share >= WARM));
    let warm = !waits(m) && in_memory;
    if without == 0 || warm {
        return None;
    }
    let why = match ctx.host.storage.get() {
        None => "the device of the folder is unknown",
        Some(s) if s.devices.is_empty() => "the folder has no known block device",
        Some(_) => "the devices, or the file, did not report",
    };
    let message =
        format!("{without} of {} have no device counters: {why}", counted(m.trials.len(), "trial"));
    let advice = "check why /proc/diskstats does not list the folder's device, or choose \
                  another folder (--disk-path)";
    let finding = NO_DEVICE_WITNESS.suspect(message, advice);
    Some(finding.with("trials_without", without).with("trials", m.trials.len()))
}

/// True if an end's interface reported both directions.
fn counts(end: End, n: &NetworkTraffic) -> bool {
    let side = end.counters(n);
    let reported = |counts: [Option<u64>; 2]| counts.iter().all(Option::is_some);
    reported([side.in_bytes, side.out_bytes]) || reported([side.all_in_bytes, side.all_out_bytes])
}

pub(super) static NO_INTERFACE_WITNESS: Check = Check {
    id: check_id::NO_INTERFACE_WITNESS,
    class: Class::claim("nothing independent shows whether the bytes used the network"),
    title: "No interface counters",
    about: "A trial needs the counts of both ends and of their interfaces (/proc/net/dev). \
         A trial without any interface counter is suspect: nothing independent shows that its \
         bytes used the network. A note if those of one end are missing; not over loopback, where \
         both ends have one system. Check why the interface with the address is unknown.",
    examine: Examine::Ours(no_interface_witness),
};

fn no_interface_witness(_: &Context, m: &Measurement) -> Option<Finding> {
    if !network::measured(m) {
        return None;
    }
    let with =
        |ends: &[End]| m.traffics().filter(|(_, n)| ends.iter().any(|end| counts(*end, n))).count();
    let trials = m.trials.len();
    let without_any = trials - with(&End::BOTH);
    let silent: Vec<End> = End::BOTH
        .into_iter()
        .filter(|end| with(&[*end]) < trials && !(*end == End::ServerSide && over_loopback(m)))
        .collect();
    let (severity, without, message) = match silent[..] {
        _ if without_any > 0 => {
            let what = "have no interface counters";
            let message = format!("{without_any} of {} {what}", counted(trials, "trial"));
            (Severity::Suspect, without_any, message)
        }
        [end, ..] => {
            let without = trials - with(&[end]);
            let what = format!("the {} does not report its interface counters", end.word());
            (Severity::Note, without, what)
        }
        [] => return None,
    };
    let advice = "check why /proc/net/dev at that end does not list the interface with the \
                  address";
    let finding = NO_INTERFACE_WITNESS.finding(severity, message, advice);
    Some(finding.with("trials_without", without).with("trials", trials))
}

/// Returns true if a trial's conditions report a certain figure.
type Reports = fn(&Conditions) -> bool;

/// The figure that only pinned threads read.
const CLOCK: &str = "the core clock";

const WATCHED: &[(&str, Reports)] = &[
    (CLOCK, |c| c.clock_hz.is_some()),
    ("steal time", |c| c.steal_s.is_some()),
    ("other processes' CPU time", |c| c.other_cpu_s.is_some()),
    ("context switches", |c| c.involuntary_switches.is_some()),
    ("page faults", |c| c.minor_faults.is_some() && c.major_faults.is_some()),
    ("swapping", |c| c.swapped_pages.is_some()),
];

pub(super) static UNWATCHED: Check = Check {
    id: check_id::UNWATCHED,
    class: Class::Context,
    title: "Disturbances that could not be observed",
    about: "The checks use figures that the kernel reports, and not every system reports all of \
         them: core clock, steal, other processes' CPU time, context switches, page faults, \
         swapping, and throttling in a cgroup. A note lists the figures that no trial has, since \
         the checks that need them are silent. The clock is not needed for a disk or a network, \
         and no figure where a helper process times a device.",
    examine: Examine::Ours(unwatched),
};

fn unwatched(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let by_helper = m.trials.iter().any(|t| t.helper.is_some());
    if m.trials.is_empty() || by_helper {
        return None;
    }
    let no_trial = |reports: Reports| !m.trials.iter().any(|t| reports(&t.conditions));
    let matters = |name: &str| Execution::derive(ctx, m).pinned || name != CLOCK;
    let watched = WATCHED.iter().filter(|(name, reports)| matters(name) && no_trial(*reports));
    let mut missing: Vec<&str> = watched.map(|(name, _)| *name).collect();
    if !ctx.host.limits.cpu_stat.is_empty() && no_trial(|c| c.throttled_s.is_some()) {
        missing.push("throttling");
    }
    if missing.is_empty() {
        return None;
    }
    let what = missing.join(", ");
    let message = format!("this system does not report: {what}");
    let advice = "such a disturbance would go unnoticed; check /proc and /sys as this process sees \
                  them";
    Some(UNWATCHED.note(message, advice).with("missing", what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_trial_without_counters_is_suspect_unless_its_file_is_warm() {
        let host = with_storage(|s| s.devices.clear());
        let check = NO_DEVICE_WITNESS.on(&host, &[]);
        for m in [rand_read(1), disk("seq_read", 8, "cold"), fsync(1)] {
            let once = each(m.clone(), |i, t| t.device = t.device.take().filter(|_| i != 3));
            let never = each(m.clone(), |_, t| t.device = None);
            check.expect([("all", m, SILENT), ("one", once, SUSPECT), ("none", never, SUSPECT)]);
        }
        let warm = |cached: Option<f64>| {
            each(disk("seq_read", 8, "warm"), |_, t| {
                t.device = None;
                t.file.as_mut().unwrap().cached = cached;
            })
        };
        let written = each(disk("seq_write", 8, "warm"), |_, t| t.device = None);
        check.expect([
            ("no file state", each(rand_read(1), |_, t| t.file = None), SUSPECT),
            ("a warm file", warm(Some(1.0)), SILENT),
            ("half of it", warm(Some(0.5)), SUSPECT),
            ("not reported", warm(None), SUSPECT),
            ("warm writes", written, SUSPECT),
        ]);
    }

    #[test]
    fn a_trial_without_interface_counters_is_suspect() {
        for m in healthy_network("loopback").into_iter().chain(healthy_network("peer")) {
            let once = each(m.clone(), |i, t| t.network = t.network.take().filter(|_| i != 3));
            let silent = each_network(m, |n| (n.client.in_bytes, n.server.in_bytes) = (None, None));
            NO_INTERFACE_WITNESS.expect([("one", once, SUSPECT), ("none", silent, SUSPECT)]);
        }
        let client = each_network(tcp(1, "peer"), |n| n.client.out_bytes = None);
        let server = each_network(tcp(1, "peer"), |n| n.server.out_bytes = None);
        NO_INTERFACE_WITNESS.expect([
            ("one end alone", client, note(End::ClientSide.word())),
            ("the other", server, note(End::ServerSide.word())),
        ]);
    }

    #[test]
    fn a_figure_that_no_trial_reports_is_named() {
        let no_steal = |m| each_condition(m, |_, c| c.steal_s = None);
        let mut one_trial = no_steal(flops(1));
        one_trial.trials[0].conditions.steal_s = Some(0.0);
        let apart = with_param(tcp(1, "loopback"), "placement", "apart");
        UNWATCHED.expect([
            ("steal", no_steal(flops(1)), NOTE),
            ("the clock", each_condition(flops(1), |_, c| c.clock_hz = None), NOTE),
            ("the clock of pinned streams", apart, NOTE),
            ("by one trial", one_trial, SILENT),
            (
                "of a device",
                each(no_steal(flops(1)), |_, t| t.helper = Some(Default::default())),
                SILENT,
            ),
        ]);
        assert!(rand_read(1).trials.iter().all(|t| t.conditions.clock_hz.is_none()));
        assert_eq!(
            UNWATCHED.found(no_steal(rand_read(1))).unwrap().evidence["missing"],
            "steal time"
        );
    }
}
