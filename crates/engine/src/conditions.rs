//! The conditions of a trial, from counters read before and after it.
//!
//! Per thread: getrusage(RUSAGE_THREAD) and /proc/thread-self/schedstat, read on the thread itself.
//! Per process: the cgroup's cpu.stat, /proc/stat, /proc/vmstat, and the temperature and throttling
//! of the CPUs (`thermal`). A counter that cannot be read is `None`.

#![allow(unsafe_code)] // getrusage of one thread has no safe wrapper.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proofmark_model::{Conditions, QuotaTrial};
use rustix::param::clock_ticks_per_second;
use rustix::time::ClockId;

use crate::clock::{raw_seconds, seconds_on};
use crate::io_hardware::{IoCounters, IoHardware};
use crate::quota::{self, Group};
use crate::thermal::Sensors;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ThreadCounters {
    pub cpu_s: Option<f64>,
    /// Time spent runnable but waiting for the CPU, in seconds.
    pub waiting_s: Option<f64>,
    /// Time at which these two were read, in seconds on the clock of trials.
    pub at_s: f64,
    pub involuntary: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    pub cpu: usize,
}

impl ThreadCounters {
    /// Reads the calling thread's counters before a trial. Files come first, so that page faults of
    /// reading them do not count as the trial's.
    pub fn before() -> Self {
        let (waiting_s, (cpu_s, at_s)) = Self::times();
        Self { cpu_s, waiting_s, at_s, ..Self::usage() }
    }

    /// Reads the calling thread's counters after a trial. Files come last.
    pub fn after() -> Self {
        let usage = Self::usage();
        let (waiting_s, (cpu_s, at_s)) = Self::times();
        Self { cpu_s, waiting_s, at_s, ..usage }
    }

    /// Waiting time, and the CPU time and the clock that belong to it. CPU time comes from its clock,
    /// because schedstat has that of the last tick, up to 10 ms ago.
    fn times() -> (Option<f64>, (Option<f64>, f64)) {
        let waiting_s = || parse_waiting(&fs::read_to_string("/proc/thread-self/schedstat").ok()?);
        together(waiting_s, || (Some(seconds_on(ClockId::ThreadCPUTime)), raw_seconds()))
    }

    fn usage() -> Self {
        // SAFETY: `rusage` is plain data for which all zeroes is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage of this frame. The call does not fail for the
        // calling thread.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Self {
            involuntary: usage.ru_nivcsw as u64,
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            cpu: rustix::thread::sched_getcpu(),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_s: difference(self.cpu_s, earlier.cpu_s),
            waiting_s: difference(self.waiting_s, earlier.waiting_s),
            at_s: self.at_s - earlier.at_s,
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            cpu: self.cpu,
        }
    }
}

/// Times that counters are read again because the thread waited for a CPU in between.
const AGAIN: usize = 8;

/// Reads the waiting time and others as of one moment: a wait between the two would be in only one.
fn together<T>(
    mut waiting_s: impl FnMut() -> Option<f64>,
    mut others: impl FnMut() -> T,
) -> (Option<f64>, T) {
    let mut before = waiting_s();
    for _ in 0..AGAIN {
        let (read, after) = (others(), waiting_s());
        if before == after {
            return (after, read);
        }
        before = after;
    }
    (before, others())
}

/// Waiting time in seconds from the text of a schedstat file.
fn parse_waiting(text: &str) -> Option<f64> {
    let ns: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(ns as f64 * 1e-9)
}

/// Counters of the whole system that concern a trial.
#[derive(Debug, Clone)]
pub struct SystemCounters {
    /// Time of the reading, in seconds on the clock of trials.
    at_s: f64,
    /// Time that the hypervisor stole from the trial's CPUs, in CPU-seconds; ticks of 10 ms.
    steal_s: Option<f64>,
    /// Time that any process, kernel included, ran on the trial's CPUs, in CPU-seconds; ticks of 10 ms.
    busy_s: Option<f64>,
    /// Busy time of all other CPUs, in CPU-seconds.
    elsewhere_s: Option<f64>,
    /// CPU quotas of this process's cgroup and those above it, with their counts, nearest first.
    groups: Vec<Group>,
    swapped_pages: Option<u64>,
    io: IoCounters,
    /// Hottest sensor of the CPUs, in degrees Celsius: a state, not a count.
    temperature_c: Option<f64>,
    /// Number of times that the trial's cores were throttled for heat.
    thermal_throttles: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Sources {
    /// cpu.stat files of this process's cgroup and those above it, nearest first.
    pub(crate) cpu_stat: Vec<PathBuf>,
    cpus: Vec<u32>,
    sensors: Sensors,
    io: IoHardware,
    /// Block devices, by the names of /proc/diskstats.
    pub(crate) devices: Vec<String>,
}

impl Sources {
    /// The sources for a trial, or another program, on these CPUs.
    pub(crate) fn new(cpus: Vec<u32>, cpu_stat: Vec<PathBuf>, devices: Vec<String>) -> Self {
        let root = Path::new("/");
        let (sensors, io) = (Sensors::find(root, &cpus), IoHardware::find(root));
        Self { cpu_stat, cpus, sensors, io, devices }
    }
}

impl SystemCounters {
    pub(crate) fn read(sources: &Sources) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let (busy_s, steal_s) = parse_stat(&stat, &sources.cpus).unzip();
        let at_s = raw_seconds();
        let vmstat = fs::read_to_string("/proc/vmstat").unwrap_or_default();
        Self {
            at_s,
            steal_s,
            busy_s,
            elsewhere_s: busy_s.zip(parse_all_busy(&stat)).map(|(here, all)| all - here),
            groups: quota::read_all(&sources.cpu_stat),
            swapped_pages: parse_swapped(&vmstat),
            io: sources.io.read(),
            temperature_c: sources.sensors.hottest_c(),
            thermal_throttles: sources.sensors.throttles(),
        }
    }

    /// The conditions since `earlier`.
    pub fn since(&self, earlier: &Self) -> SystemSeen {
        let busy_s = difference(self.busy_s, earlier.busy_s);
        let io = self.io.since(&earlier.io);
        let conditions = Conditions {
            steal_s: difference(self.steal_s, earlier.steal_s),
            // The longest of all cgroups.
            throttled_s: quota::throttled_s(&earlier.groups, &self.groups),
            busy_cpu_s: busy_s,
            elsewhere_cpu_s: difference(self.elsewhere_s, earlier.elsewhere_s),
            swapped_pages: count_between(self.swapped_pages, earlier.swapped_pages),
            io_bytes: io.map(|bytes| bytes.all),
            paravirtual_io_bytes: io.map(|bytes| bytes.paravirtual),
            temperature_c: self.temperature_c,
            thermal_throttles: count_between(self.thermal_throttles, earlier.thermal_throttles),
            ..Conditions::default()
        };
        let quota = quota::between(&earlier.groups, &self.groups);
        SystemSeen { seconds: self.at_s - earlier.at_s, conditions, quota }
    }
}

/// The conditions between two readings of the system's counters.
#[derive(Debug, Clone, Default)]
pub struct SystemSeen {
    /// Seconds between the two.
    pub(crate) seconds: f64,
    /// All except those that are counted per thread.
    pub(crate) conditions: Conditions,
    /// The counts of the tightest CPU quota; `None` if no cgroup had one.
    pub(crate) quota: Option<QuotaTrial>,
}

fn difference(later: Option<f64>, earlier: Option<f64>) -> Option<f64> {
    Some((later? - earlier?).max(0.0))
}

fn count_between(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    Some(later?.saturating_sub(earlier?))
}

/// Busy and stolen CPU-seconds of these CPUs from the text of /proc/stat.
fn parse_stat(text: &str, cpus: &[u32]) -> Option<(f64, f64)> {
    let per_second = clock_ticks_per_second() as f64;
    let ticks = cpu_ticks(text, cpus)?;
    let sum = |at: usize| ticks.values().map(|ticks| ticks[at]).sum::<u64>() as f64 / per_second;
    Some((sum(0), sum(1)))
}

/// Busy CPU-seconds of all CPUs from the text of /proc/stat.
fn parse_all_busy(text: &str) -> Option<f64> {
    let counts = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    Some(busy_and_stolen(counts.trim_start())?[0] as f64 / clock_ticks_per_second() as f64)
}

/// Busy and stolen ticks of a line of /proc/stat.
fn busy_and_stolen(counts: &str) -> Option<[u64; 2]> {
    let f: Vec<u64> = counts.split(' ').map_while(|v| v.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, stolen] = f.get(..8)?.try_into().ok()?;
    let busy = [user, nice, system, irq, softirq].into_iter().try_fold(0, u64::checked_add)?;
    Some([busy, stolen])
}

/// Busy and stolen ticks of each of these CPUs; `None` if one is not in /proc/stat. Passes over the
/// text once, because the threads of a trial wait meanwhile.
pub(crate) fn cpu_ticks(text: &str, cpus: &[u32]) -> Option<BTreeMap<u32, [u64; 2]>> {
    let wanted: BTreeSet<u32> = cpus.iter().copied().collect();
    let parse = |line: &str| {
        let (number, counts) = line.strip_prefix("cpu")?.split_once(' ')?;
        let cpu = number.parse().ok().filter(|cpu| wanted.contains(cpu))?;
        Some((cpu, busy_and_stolen(counts)?))
    };
    let all: BTreeMap<_, _> = text.lines().filter_map(parse).collect();
    (all.len() == wanted.len()).then_some(all)
}

fn parse_swapped(text: &str) -> Option<u64> {
    let field =
        |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(field("pswpin ")? + field("pswpout ")?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_cgroup_that_was_throttled_longest_meanwhile_counts() {
        let dir = tempfile::tempdir().unwrap();
        let [own, parent, gone] = ["own", "parent", "gone"].map(|f| dir.path().join(f));
        let cpu_stat = vec![own.clone(), parent.clone(), gone];
        let read = |files| SystemCounters::read(&Sources::new(vec![], files, vec![]));
        // The parent has a long history, but the own group is throttled now.
        fs::write(&own, "throttled_usec 500000\n").unwrap();
        fs::write(&parent, "throttled_usec 100000000\n").unwrap();
        let before = read(cpu_stat.clone());
        fs::write(&own, "throttled_usec 1000000\n").unwrap();
        let throttled_s = |files| read(files).since(&before).conditions.throttled_s;
        assert_eq!([throttled_s(cpu_stat), throttled_s(vec![])], [Some(0.5), None]);
    }

    #[test]
    fn proc_stat_of_chosen_cpus() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 10 20 5000 7 1 2 50 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\n";
        let ticks = clock_ticks_per_second() as f64;
        assert_eq!(parse_stat(text, &[0]), Some((133.0 / ticks, 50.0 / ticks)));
        assert_eq!(parse_stat(text, &[0, 1]), Some((138.0 / ticks, 51.0 / ticks)));
        assert_eq!(parse_stat(text, &[2]), None);
        assert_eq!(parse_all_busy(text), Some(45.0 / ticks));
        assert_eq!(parse_all_busy("cpu0 1 1 1 1 1 1 1 1\n"), None);
        assert_eq!(parse_stat(text, &[]), Some((0.0, 0.0)));
        let line = |cpu: u32| format!("cpu{cpu} 1 0 0 {cpu} 0 0 0 2 0 0\n");
        let many: String = (0..2048).map(line).collect();
        let chosen: Vec<u32> = (0..2048).rev().step_by(4).collect();
        assert_eq!(chosen.len(), 512);
        let counted = parse_stat(&format!("cpu  9 9\n{many}intr 5\n"), &chosen);
        assert_eq!(counted, Some((512.0 / ticks, 1024.0 / ticks)));
    }

    #[test]
    fn a_wait_while_counters_are_read_is_in_all_of_them_or_in_none() {
        // The clock runs by 1 while it is read, and waits of 30 come at these readings.
        for waits in [vec![], vec![1], vec![2], vec![3], vec![2, 3], vec![1, 2, 3, 4, 5]] {
            let (clock, waited, reads) = (Cell::new(0.0), Cell::new(0.0), Cell::new(0));
            let read = || {
                reads.set(reads.get() + 1);
                clock.set(clock.get() + 1.0);
                if waits.contains(&reads.get()) {
                    clock.set(clock.get() + 30.0);
                    waited.set(waited.get() + 30.0);
                }
            };
            let waiting_s = || {
                let now = waited.get();
                read();
                Some(now)
            };
            let others = || {
                let at = clock.get();
                read();
                at
            };
            let (waiting_s, at) = together(waiting_s, others);
            let ran = at - waiting_s.unwrap();
            assert!((0.0..30.0).contains(&ran), "{waits:?}: {at} and {waiting_s:?}");
        }
        let never = Cell::new(0.0);
        let always = || Some(never.replace(never.get() + 1.0));
        assert_eq!(together(always, || 7).1, 7, "it ends");
        assert_eq!(together(|| None, || 7), (None, 7));
    }

    #[test]
    fn this_thread_can_be_read() {
        let before = ThreadCounters::before();
        let mut x = 0_u64;
        let start = crate::clock::raw_seconds();
        while crate::clock::raw_seconds() - start < 0.02 {
            x = std::hint::black_box(x + 1);
        }
        let used = ThreadCounters::after().since(before);
        if let Some(cpu_s) = used.cpu_s {
            assert!(cpu_s > 0.0 && cpu_s < 10.0, "{used:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9 \n]{0,200}") {
            let _ = parse_stat(&text, &[0]);
            let _ = parse_all_busy(&text);
            let _ = parse_waiting(&text);
            let _ = parse_swapped(&text);
        }
    }
}
