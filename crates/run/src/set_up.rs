//! The time to set up configurations: a process, files, and memory.

use std::collections::BTreeMap;

use proofmark_engine::Workload;
use proofmark_model::{Host, Plan, Point};

/// Seconds before a configuration's first trial, without memory and files.
const WARM_UP_S: f64 = 0.05;

/// Rate at which a file is laid out, in B/s.
const DISK: f64 = 5e8;

/// Rate at which all threads of a run together touch and fill new memory, in B/s. In a guest a new page
/// faults in its host, too: on 16 CPUs of a KVM guest, four runs set up 6 to 21 GB at 0.67 to 1.1 GB/s,
/// whatever the number of threads.
const GUEST: f64 = 8e8;
const HOST: f64 = 4e9;

/// Rate at which a machine sets up memory, in B/s.
pub(crate) fn memory_rate(host: &Host) -> f64 {
    match host.is_virtual() {
        Some(true) => GUEST,
        _ => HOST,
    }
}

/// Seconds to set up each configuration of a plan. Shared memory counts for the first that uses it.
pub(crate) fn seconds(
    plan: &Plan,
    find: &dyn Fn(&str) -> Option<&'static dyn Workload>,
) -> Vec<f64> {
    let mut shared: BTreeMap<String, u64> = BTreeMap::new();
    let mut disk_before = 0;
    let each = |point: &Point| {
        let needs = find(&point.workload).map(|w| w.needs(&point.params)).unwrap_or_default();
        let mut bytes = needs.memory_bytes;
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
        // The previous configuration's file is used again if it has the same size.
        let laid_out = if disk == disk_before { 0 } else { disk };
        disk_before = disk;
        WARM_UP_S * slower(plan, point) + laid_out as f64 / DISK + memory_s
    };
    plan.points.iter().map(each).collect()
}

/// Factor by which the CPU quota slows the work down.
fn slower(plan: &Plan, point: &Point) -> f64 {
    let threads = point.params.threads() as f64;
    let quota = plan.policy.quota.map(|rounds| rounds.quota).filter(|q| q.limits(threads));
    quota.and_then(|q| q.cpus).map_or(1.0, |cpus| threads / cpus)
}
