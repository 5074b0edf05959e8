//! Size of a cause: the factor between two results that it explains, as a logarithm.
//!
//! Where a finding has no figure for its size, such as swapping, the factor is unknown.

use proofmark_model::{Better, Finding, Measurement, ceiling_id, check_id};

use crate::checks::cost::cost_of_cpu_time;
use crate::checks::shared_device::cost_of_share;

/// Ceilings that someone set, or that are those of a link: a result at one of them would be higher
/// without it.
pub(super) const LIMITS: [&str; 5] = [
    ceiling_id::DISK_LIMIT,
    ceiling_id::DISK_LINK,
    ceiling_id::MEMORY_LIMIT,
    ceiling_id::NETWORK_LIMIT,
    ceiling_id::NETWORK_LINK,
];
/// The bottleneck of a result whose ceiling a quota lowers.
pub(super) const QUOTA: &str = "CPU quota";
/// Largest share that can be taken, so that an effect stays finite.
const MOST_TAKEN: f64 = 0.999;

/// What a cause explains of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Effect {
    /// Logarithm of the factor that it explains, 0 or more.
    pub(crate) log: f64,
    /// False if it may be any larger factor: 0 and false is an unknown size.
    pub(crate) is_bounded: bool,
}

impl Effect {
    pub(super) const UNKNOWN: Self = Self { log: 0.0, is_bounded: false };

    pub(super) fn bounded(log: f64) -> Self {
        Self { log, is_bounded: true }
    }

    /// The effect of a share of the time that was lost.
    fn of_lost(share: f64) -> Self {
        Self::bounded(-(1.0 - share.clamp(0.0, MOST_TAKEN)).ln())
    }
}

/// What a finding of the worse result explains, beyond what the better one has of it.
pub(super) fn of_finding(f: &Finding, worse: &Measurement, better: &Measurement) -> Effect {
    let there = better.findings.iter().find(|other| other.check == f.check);
    let in_better = there.and_then(|f| lost(f, better)).map_or(0.0, |effect| effect.log);
    match lost(f, worse) {
        Some(effect) => Effect { log: (effect.log - in_better).max(0.0), ..effect },
        None => Effect::UNKNOWN,
    }
}

/// What a finding cost its result; `None` if its evidence has no size.
pub(crate) fn lost(f: &Finding, m: &Measurement) -> Option<Effect> {
    Some(match &*f.check {
        check_id::THROTTLED => match number(f, "quota_cpus") {
            // A quota stops all threads.
            Some(cpus) => {
                let by_quota = 1.0 - cpus / m.params.threads() as f64;
                Effect::of_lost(share(f)?.max(by_quota))
            }
            None => of_threads(share(f)?, m),
        },
        check_id::STEAL | check_id::OTHER_CPU => of_threads(cost_of_cpu_time(m) * share(f)?, m),
        check_id::IO_DURING_LOAD => Effect::of_lost(share(f)?),
        check_id::CLOCK_DROP => Effect::of_lost(number(f, "drop")?),
        check_id::SHARED_DEVICE => match number(f, "loss") {
            Some(measured) => Effect::of_lost(measured),
            None => Effect::of_lost(cost_of_share(device(f)?)),
        },
        _ => return None,
    })
}

/// The loss by a part of the time of all threads, which is the CPU time that was taken, times its
/// cost. A complete problem waits for its slowest
/// thread, and a time may be that of one thread among others: that one may have lost all of it. A
/// share of more than one thread's time is of several, of which each lost the average at least; how
/// much the slowest lost is unknown.
fn of_threads(share: f64, m: &Measurement) -> Effect {
    let by_one = !m.has_rounds() || m.better == Better::Lower;
    let threads = m.params.threads() as f64;
    match by_one {
        true if share * threads < 1.0 => Effect::of_lost(share * threads),
        true if threads > 1.0 => Effect { is_bounded: false, ..Effect::of_lost(share) },
        _ => Effect::of_lost(share),
    }
}

/// The factor between two results by the CPUs that their quotas left them, as a logarithm; `None`
/// if the worse one had no quota that is known.
pub(super) fn of_quotas(worse: &Measurement, better: &Measurement) -> Option<f64> {
    let of_worse = quota_cpus(worse)?.min(usable_cpus(worse));
    let of_better = quota_cpus(better).unwrap_or(f64::INFINITY).min(usable_cpus(better));
    Some((of_better / of_worse).ln())
}

/// CPUs of the tightest quota of a result's trials.
fn quota_cpus(m: &Measurement) -> Option<f64> {
    let quotas = m.trials.iter().filter_map(|t| t.quota?.before.cpus);
    quotas.filter(|cpus| *cpus > 0.0).reduce(f64::min)
}

/// CPUs that the threads of a result could use at a time.
fn usable_cpus(m: &Measurement) -> f64 {
    let threads = m.params.threads() as f64;
    let usable = m.trials.iter().find_map(|t| Some(t.quota?.cpus)).filter(|cpus| *cpus > 0.0);
    usable.map_or(threads, |cpus| cpus.min(threads))
}

/// Others' share of a device: of its queue or its bytes, or by their bytes per byte of the load.
fn device(f: &Finding) -> Option<f64> {
    let share = number(f, "share")?;
    Some(match number(f, "share_of_bytes") {
        Some(of_bytes) => share.max(of_bytes).min(1.0),
        None => share / (1.0 + share),
    })
}

/// A number in a finding's evidence, 0 or more.
fn number(f: &Finding, key: &str) -> Option<f64> {
    f.evidence.get(key)?.as_f64().filter(|v| v.is_finite() && *v >= 0.0)
}

/// The share in a finding's evidence, 0 to 1.
pub(crate) fn share(f: &Finding) -> Option<f64> {
    f.evidence.get("share")?.as_f64().filter(|s| (0.0..=1.0).contains(s))
}
