//! The groups of configurations that are measured together, and the memory that they need.

use std::collections::BTreeMap;
use std::ops::Range;

use proofmark_engine::Workload;
use proofmark_model::Plan;

/// Maximum configurations of a group. Each has its threads; all but those of memory have a process.
const GROUP: usize = 64;

/// Maximum threads of a group.
const GROUP_THREADS: u64 = 1024;

/// The inputs that decide the groups of a plan.
pub struct Grouping<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Finds a workload.
    pub find: &'a dyn Fn(&str) -> Option<&'static dyn Workload>,
    /// Bytes of memory that the run may use.
    pub memory_bytes: u64,
}

impl Grouping<'_> {
    /// Returns the ranges of the first `count` configurations that are measured together.
    pub(super) fn groups(&self, count: usize) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for i in 0..count {
            match groups.last_mut() {
                Some(group) if self.takes_turns(i) && self.goes_with(group, i) => group.end = i + 1,
                _ => groups.push(i..i + 1),
            }
        }
        groups
    }

    /// Returns the bytes of memory that the data of the largest group need.
    pub fn most_memory(&self) -> u64 {
        self.groups(self.plan.points.len())
            .into_iter()
            .map(|group| self.memory(group))
            .max()
            .unwrap_or(0)
    }

    pub(super) fn workload(&self, place: usize) -> Option<&'static dyn Workload> {
        (self.find)(&self.plan.points[place].workload)
    }

    /// Returns true if a configuration's trials are taken in turn with those of others.
    pub(super) fn takes_turns(&self, place: usize) -> bool {
        let interleaves = self.workload(place).is_some_and(|w| w.spec().interleave);
        (interleaves || self.has_slices(place)) && self.plan.series_of(place).is_none()
    }

    /// Returns true if the trials are cut into slices. Each then has its own warm-up, so that there
    /// are no separate warm-up trials.
    pub(super) fn has_slices(&self, place: usize) -> bool {
        self.workload(place).is_some_and(|w| w.spec().work.cut().has_slices())
    }

    /// Returns true if the configuration may join the group: alike, and with enough memory for all.
    fn goes_with(&self, group: &Range<usize>, place: usize) -> bool {
        let all = || group.clone().chain([place]);
        let subsystem = |place| self.workload(place).map(|w| w.spec().subsystem);
        let threads: u64 = all().map(|p| self.plan.points[p].params.threads()).sum();
        self.takes_turns(group.start)
            && subsystem(group.start) == subsystem(place)
            && group.len() < GROUP
            && threads <= GROUP_THREADS
            && self.memory(all()) <= self.memory_bytes / 2
    }

    /// Returns the bytes of memory of these configurations together. What they share counts once.
    fn memory(&self, places: impl Iterator<Item = usize>) -> u64 {
        let mut memory: BTreeMap<String, u64> = BTreeMap::new();
        for place in places {
            let Some(workload) = self.workload(place) else { continue };
            let needs = workload.needs(&self.plan.points[place].params);
            let shared = needs.shared_memory.unwrap_or_else(|| place.to_string());
            let bytes = memory.entry(shared).or_default();
            *bytes = needs.memory_bytes.max(*bytes);
        }
        memory.values().sum()
    }
}
