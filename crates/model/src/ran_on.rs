//! The CPUs on which a trial's threads ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPUs on which a trial's threads ran, as the system reported them at both ends of the timed
/// part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RanOn {
    /// Threads that were on another CPU than the one that they were pinned to, at the start or the
    /// end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strayed: Vec<Strayed>,
    /// Maximum number of threads on one CPU at the start or the end.
    pub most_on_one: u64,
    /// CPUs of the run that this process could not use at both ends: offline, or removed from its
    /// cpuset or its affinity mask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<u32>,
    /// Number of CPUs that this process could use, at the end with the fewest.
    pub usable: u64,
}

/// A pinned thread that ran elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Strayed {
    /// The CPU that it was pinned to.
    pub pinned_to: u32,
    /// The CPUs that it was on, as the timed part began and ended.
    pub at: [u32; 2],
}

impl RanOn {
    /// Describes pinned threads: for each, the CPU that it was pinned to and those that it was on
    /// at both ends. `usable`: the CPUs that the process could use at both.
    pub fn from_pinned(threads: &[(u32, [u32; 2])], usable: [&[u32]; 2]) -> Self {
        let stray = |(pinned_to, at): &(u32, [u32; 2])| {
            let strays = at.iter().any(|cpu| cpu != pinned_to);
            strays.then_some(Strayed { pinned_to: *pinned_to, at: *at })
        };
        let most = |end: usize| {
            let on = |cpu: u32| threads.iter().filter(|(_, at)| at[end] == cpu).count() as u64;
            threads.iter().map(|(_, at)| on(at[end])).max().unwrap_or(0)
        };
        let planned: Vec<u32> = threads.iter().map(|(cpu, _)| *cpu).collect();
        Self {
            strayed: threads.iter().filter_map(stray).collect(),
            most_on_one: most(0).max(most(1)),
            ..Self::from_process(&planned, usable)
        }
    }

    /// Describes threads that may run anywhere, of a run on the CPUs `planned`. `usable`: the CPUs
    /// that the process could use at both ends; an empty list where that is unknown.
    pub fn from_process(planned: &[u32], usable: [&[u32]; 2]) -> Self {
        let known = || usable.iter().filter(|cpus| !cpus.is_empty());
        let is_gone = |cpu: &u32| known().any(|cpus| !cpus.contains(cpu));
        let mut gone: Vec<u32> = planned.iter().copied().filter(is_gone).collect();
        gone.sort_unstable();
        gone.dedup();
        let usable = known().map(|cpus| cpus.len() as u64).min().unwrap_or(0);
        Self { gone, usable, ..Self::default() }
    }

    /// Returns true if threads waited for each other on one CPU.
    pub fn took_turns(&self) -> bool {
        self.most_on_one > 1
    }

    /// Combines this part of a trial with a later one: what went wrong in either.
    #[must_use]
    pub fn plus(mut self, later: Self) -> Self {
        for stray in later.strayed {
            if !self.strayed.contains(&stray) {
                self.strayed.push(stray);
            }
        }
        self.gone.extend(
            later.gone.iter().filter(|cpu| !self.gone.contains(cpu)).copied().collect::<Vec<_>>(),
        );
        self.most_on_one = self.most_on_one.max(later.most_on_one);
        self.usable = self.usable.min(later.usable);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_where_they_were_pinned_or_strayed() {
        let both: &[u32] = &[4, 9];
        let as_planned = RanOn::from_pinned(&[(4, [4, 4]), (9, [9, 9])], [both, both]);
        assert_eq!(as_planned, RanOn { most_on_one: 1, usable: 2, ..RanOn::default() });
        // CPU 9 was removed while the trial ran: its thread ended on the other's CPU.
        let gone = RanOn::from_pinned(&[(4, [4, 4]), (9, [9, 4])], [both, &[4]]);
        assert_eq!(gone.strayed, [Strayed { pinned_to: 9, at: [9, 4] }]);
        assert_eq!((gone.most_on_one, &gone.gone[..], gone.usable), (2, &[9][..], 1));
        // Both ends on the wrong one: start and end agree, and yet it never was where it should.
        let away = RanOn::from_pinned(&[(4, [4, 4]), (9, [4, 4])], [both, both]);
        assert_eq!((away.strayed.len(), away.most_on_one, away.gone.len()), (1, 2, 0));
        // Threads that share a CPU by plan do not stray.
        let turns = RanOn::from_pinned(&[(4, [4, 4]), (4, [4, 4])], [both, &[]]);
        assert_eq!(turns, RanOn { most_on_one: 2, usable: 2, ..RanOn::default() });
        let anywhere = RanOn::from_process(&[4, 9], [&[4, 9, 11], &[9, 11]]);
        assert_eq!((&anywhere.gone[..], anywhere.usable), (&[4][..], 2));
    }
}
