//! The time to set up configurations: a process, files, and memory.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_engine::Workload;
use proofmark_model::{Host, Plan, Point};

/// Seconds before a configuration's first trial, without memory and files: a worker, and its
/// calibration.
pub(crate) const WARM_UP_S: f64 = 0.1;

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
    let mut there = Prepared::default();
    let each = |(place, needs): (usize, SetUp)| there.add_next(plan, place, &needs);
    needs(plan, find).into_iter().enumerate().map(each).collect()
}

/// The data that a configuration sets up.
#[derive(Debug, Clone, Default)]
pub(crate) struct SetUp {
    memory_bytes: u64,
    /// Names the content of memory that configurations share.
    content: Option<String>,
    file_bytes: u64,
}

/// Returns the data of each configuration.
pub(crate) fn needs(
    plan: &Plan,
    find: &dyn Fn(&str) -> Option<&'static dyn Workload>,
) -> Vec<SetUp> {
    let one = |point: &Point| {
        let needs = find(&point.workload).map(|w| w.needs(&point.params)).unwrap_or_default();
        SetUp {
            memory_bytes: needs.memory_bytes,
            content: needs.shared_memory,
            file_bytes: needs.disk_bytes,
        }
    };
    plan.points.iter().map(one).collect()
}

/// Data that earlier configurations have set up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prepared {
    /// Bytes of shared memory by content.
    shared: BTreeMap<String, u64>,
    /// Sizes of files.
    files: BTreeSet<u64>,
}

impl Prepared {
    /// Seconds to set up the next configuration, which follows the last one. It uses that one's file
    /// again if it has the same size.
    pub(crate) fn add_next(&mut self, plan: &Plan, place: usize, needs: &SetUp) -> f64 {
        self.files.retain(|bytes| *bytes == needs.file_bytes);
        self.add(plan, place, needs)
    }

    /// Seconds to set up a configuration in addition to the earlier ones, which it joins.
    pub(crate) fn add(&mut self, plan: &Plan, place: usize, needs: &SetUp) -> f64 {
        let seconds = self.seconds(plan, place, needs);
        if let Some(content) = &needs.content {
            let there = self.shared.entry(content.clone()).or_default();
            *there = needs.memory_bytes.max(*there);
        }
        self.files.insert(needs.file_bytes);
        seconds
    }

    /// Seconds to set up a configuration in addition to the earlier ones.
    pub(crate) fn seconds(&self, plan: &Plan, place: usize, needs: &SetUp) -> f64 {
        let there = needs.content.as_ref().and_then(|content| self.shared.get(content));
        let bytes = needs.memory_bytes.saturating_sub(there.copied().unwrap_or(0));
        let memory_s = plan.policy.memory_rate.map_or(0.0, |rate| bytes as f64 / rate);
        let laid_out = if self.files.contains(&needs.file_bytes) { 0 } else { needs.file_bytes };
        WARM_UP_S * slower(plan, &plan.points[place]) + laid_out as f64 / DISK + memory_s
    }
}

/// Factor by which the CPU quota slows the work down.
fn slower(plan: &Plan, point: &Point) -> f64 {
    let threads = point.params.threads() as f64;
    let quota = plan.policy.quota.map(|rounds| rounds.quota).filter(|q| q.limits(threads));
    quota.and_then(|q| q.cpus).map_or(1.0, |cpus| threads / cpus)
}
