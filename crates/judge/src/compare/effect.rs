//! Size of a cause: the largest factor between two results that it explains, as a logarithm.
//!
//! Where a finding has no figure for its size, such as swapping, it may explain any difference.

use proofmark_model::{Better, Finding, Measurement, ceiling_id, check_id};

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
/// Share of a limit from which on a result is at the limit.
pub(super) const REACHED: f64 = 0.95;
/// Power of the own share of a device's bytes that is left of the rate, as `shared_device` weighs
/// them.
const DEVICE: i32 = 4;
/// Largest share that can be taken, so that an effect stays finite.
const MOST_TAKEN: f64 = 0.999;

/// The largest factor that a finding of the worse result explains, as a logarithm. `None` if its
/// size is unknown.
pub(super) fn of_finding(f: &Finding, worse: &Measurement, better: &Measurement) -> Option<f64> {
    let number = |f: &Finding, key: &str| {
        f.evidence.get(key)?.as_f64().filter(|v| v.is_finite() && *v >= 0.0)
    };
    let lost = |f: &Finding, m: &Measurement| {
        let taken = match &*f.check {
            check_id::THROTTLED => {
                let threads = m.params.threads() as f64;
                let quota = number(f, "quota_cpus").map_or(0.0, |cpus| 1.0 - cpus / threads);
                of_threads(share(f)?, m).max(quota)
            }
            check_id::STEAL | check_id::OTHER_CPU => of_threads(share(f)?, m),
            check_id::IO_DURING_LOAD => share(f)?,
            check_id::CLOCK_DROP => number(f, "drop")?,
            check_id::SHARED_DEVICE => return device(f, number),
            _ => return None,
        };
        Some(-(1.0 - taken.clamp(0.0, MOST_TAKEN)).ln())
    };
    let there = better.findings.iter().find(|other| other.check == f.check);
    let in_better = there.and_then(|f| lost(f, better)).unwrap_or(0.0);
    Some((lost(f, worse)? - in_better).max(0.0))
}

/// The loss by a share of the CPU time of all threads. A complete problem waits for its slowest
/// thread, and a time may be that of one thread among others: that one may have lost all of it.
fn of_threads(share: f64, m: &Measurement) -> f64 {
    let by_one = !m.has_rounds() || m.better == Better::Lower;
    if by_one { share * m.params.threads() as f64 } else { share }
}

/// The loss by others on a device: by their share of its queue, or by their bytes per byte of its
/// own.
fn device(f: &Finding, number: impl Fn(&Finding, &str) -> Option<f64>) -> Option<f64> {
    let share = number(f, "share")?;
    let own = match number(f, "share_of_bytes") {
        Some(of_bytes) => 1.0 - share.max(of_bytes).clamp(0.0, MOST_TAKEN),
        None => (1.0 + share).recip(),
    };
    Some(-f64::from(DEVICE) * own.ln()).filter(|log| log.is_finite())
}

/// The share in a finding's evidence, 0 to 1.
pub(super) fn share(f: &Finding) -> Option<f64> {
    f.evidence.get("share")?.as_f64().filter(|s| (0.0..=1.0).contains(s))
}
