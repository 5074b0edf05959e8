//! How long configurations take until they can be measured: a process, files, and memory.

use std::collections::BTreeMap;

use proofmark_engine::Workload;
use proofmark_model::{Host, Plan, Point};

/// What comes before a point's first trial, in seconds, without memory and files.
const WARM_UP_S: f64 = 0.05;

/// Bytes a second with which a file is laid out.
const DISK: f64 = 5e8;

/// Bytes of memory that all threads of a run touch first and fill in a second. In a guest a new page
/// faults in its host, too: on 16 CPUs of a KVM guest four runs set up 6 to 21 GB at 0.67 to 1.1 GB/s,
/// whatever the number of threads.
const GUEST: f64 = 8e8;
const HOST: f64 = 4e9;

/// Bytes of memory that a machine makes ready in a second, about.
pub(crate) fn memory_rate(host: &Host) -> f64 {
    match host.is_virtual() {
        Some(true) => GUEST,
        _ => HOST,
    }
}

/// Seconds for each point of a plan. What several points use together counts for the first.
pub(crate) fn seconds(
    plan: &Plan,
    find: &dyn Fn(&str) -> Option<&'static dyn Workload>,
) -> Vec<f64> {
    let mut shared: BTreeMap<String, u64> = BTreeMap::new();
    let mut disk_before = 0;
    let each = |point: &Point| {
        let needs = find(&point.workload).map(|w| w.needs(&point.params)).unwrap_or_default();
        let mut bytes = needs.memory_bytes;
        // Where nothing is planned for memory nobody asks who shares it.
        if plan.policy.memory_rate.is_some()
            && let Some(content) = needs.shared_memory
        {
            let there = shared.entry(content).or_default();
            let more = bytes.saturating_sub(*there);
            *there += more;
            bytes = more;
        }
        let memory_s = plan.policy.memory_rate.map_or(0.0, |rate| bytes as f64 / rate);
        let disk = needs.disk_bytes;
        // A file is that of the point before, if it is as large.
        let laid_out = if disk == disk_before { 0 } else { disk };
        disk_before = disk;
        WARM_UP_S * slower(plan, point) + laid_out as f64 / DISK + memory_s
    };
    plan.points.iter().map(each).collect()
}

/// How many times longer work takes that the CPU quota limits.
fn slower(plan: &Plan, point: &Point) -> f64 {
    let threads = point.params.threads() as f64;
    let quota = plan.policy.quota.map(|rounds| rounds.quota).filter(|q| q.limits(threads));
    quota.and_then(|q| q.cpus).map_or(1.0, |cpus| threads / cpus)
}
