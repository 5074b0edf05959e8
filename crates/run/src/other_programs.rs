//! Other programs on this machine during a run, by name, with their CPU time and the bytes that
//! devices read and wrote for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proofmark_engine::{Clock, RawClock, bytes_of_process};
use proofmark_model::{Program, clean_excerpt};
use rustix::param::clock_ticks_per_second;
use rustix::process::getpid;

use crate::event::{Observer, Step};

/// Seconds between two scans of /proc. A scan takes some milliseconds if a thousand processes run.
/// It misses what a process does after it before ending.
const EVERY_S: f64 = 2.0;

/// Maximum number of programs that are recorded.
const MAX_PROGRAMS: usize = 10;
/// Maximum number of these that are chosen by their bytes.
const MAX_MOVERS: usize = 3;
/// Minimum share of one CPU's time that is recorded.
const MIN_CPU_SHARE: f64 = 1e-3;

/// Flag of the threads of Linux itself (`include/linux/sched.h`, `PF_KTHREAD`), and their common
/// name.
const KERNEL: u64 = 0x0020_0000;
const KERNEL_NAME: &str = "kernel threads";

/// Maximum letters of a name; Linux keeps 15.
const LONGEST: usize = 20;

/// Identifies a process: its number, which Linux may reuse, and its start time in ticks.
type Id = (u32, u64);

/// A process as /proc describes it.
#[derive(Debug, Clone, PartialEq)]
struct Process {
    id: Id,
    parent: u32,
    name: String,
    used: Used,
}

/// Resources that it used since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Used {
    ticks: u64,
    /// Bytes read and written; 0 if this user has no access.
    bytes: u64,
}

/// Scans all processes when a run begins, and between its trials.
pub(crate) struct Others<'a> {
    clock: &'a dyn Clock,
    began: f64,
    scanned: f64,
    seen: BTreeMap<Id, Process>,
    took: BTreeMap<String, Used>,
}

impl<'a> Others<'a> {
    pub(crate) fn new(clock: &'a dyn Clock) -> Self {
        let now = clock.now();
        let seen = processes().into_iter().map(|p| (p.id, p)).collect();
        Self { clock, began: now, scanned: now, seen, took: BTreeMap::new() }
    }

    fn scan(&mut self) {
        self.scanned = self.clock.now();
        self.add(&processes(), getpid().as_raw_nonzero().get().cast_unsigned());
    }

    /// Adds the use of all processes since the last scan, without `own` and those that it started.
    fn add(&mut self, all: &[Process], own: u32) {
        let ours = family(all, own);
        let now: BTreeMap<Id, Process> = all.iter().map(|p| (p.id, p.clone())).collect();
        let inherited = self.inherited(&now);
        for p in all {
            let before = self.seen.get(&p.id).map(|p| p.used).unwrap_or_default();
            let known = before.bytes + inherited.get(&p.id.0).unwrap_or(&0);
            let ticks = p.used.ticks.saturating_sub(before.ticks);
            let bytes = p.used.bytes.saturating_sub(known);
            if ticks + bytes > 0 && !ours.contains(&p.id.0) {
                let took = self.took.entry(p.name.clone()).or_default();
                (took.ticks, took.bytes) = (took.ticks + ticks, took.bytes.saturating_add(bytes));
            }
        }
        self.seen = now;
    }

    /// Bytes that each process inherited from children that ended since the last scan. Linux adds
    /// them to the parent, or if that has ended too, to the parent's parent.
    fn inherited(&self, now: &BTreeMap<Id, Process>) -> BTreeMap<u32, u64> {
        let lives: BTreeSet<u32> = now.keys().map(|id| id.0).collect();
        let ended: BTreeMap<u32, &Process> = self
            .seen
            .iter()
            .filter(|(id, _)| !now.contains_key(id))
            .map(|(id, p)| (id.0, p))
            .collect();
        let mut inherited: BTreeMap<u32, u64> = BTreeMap::new();
        for p in ended.values() {
            let mut heir = p.parent;
            // At most one step per process: reused numbers may form a ring.
            for _ in 0..ended.len() {
                match ended.get(&heir) {
                    Some(parent) if !lives.contains(&heir) => heir = parent.parent,
                    _ => break,
                }
            }
            *inherited.entry(heir).or_default() += p.used.bytes;
        }
        inherited
    }

    /// Returns the programs with the most CPU time, among those with enough CPU time or I/O to be
    /// named.
    pub(crate) fn finish(mut self) -> Vec<Program> {
        self.scan();
        let seconds = self.scanned - self.began;
        let program = |(name, took): (String, Used)| {
            let cpu_s = took.ticks as f64 / clock_ticks_per_second() as f64;
            let each = |amount: f64| amount / seconds.max(f64::MIN_POSITIVE);
            let io_bytes_per_s = each(took.bytes as f64);
            Program { name, cpu_s, of_one_cpu: each(cpu_s), io_bytes_per_s }
        };
        let mut all: Vec<Program> = self.took.into_iter().map(program).collect();
        all.retain(|p| {
            p.of_one_cpu >= MIN_CPU_SHARE || p.io_bytes_per_s >= Program::MIN_BYTES_PER_S
        });
        // Those with the most bytes are named too.
        all.sort_by(|a, b| b.io_bytes_per_s.total_cmp(&a.io_bytes_per_s));
        let movers = all.iter().take(MAX_MOVERS).filter(|p| p.io_bytes_per_s > 0.0).count();
        all[movers..].sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        all.truncate(MAX_PROGRAMS);
        all.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        all
    }
}

impl Observer for Others<'_> {
    fn observe(&mut self, _: &Step) {
        if self.clock.now() - self.scanned >= EVERY_S {
            self.scan();
        }
    }
}

/// The other programs on this machine from one moment to another.
pub struct BusyPrograms(Others<'static>);

impl BusyPrograms {
    /// Begins now.
    pub fn begin() -> Self {
        Self(Others::new(&RawClock))
    }

    /// Returns the programs with the most CPU time since the beginning, the busiest first.
    pub fn finish(self) -> Vec<Program> {
        self.0.finish()
    }
}

/// Returns the numbers of a process and of all that it started, as far as their parents still
/// exist.
fn family(all: &[Process], own: u32) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([own]);
    loop {
        let children = all.iter().filter(|p| family.contains(&p.parent)).map(|p| p.id.0);
        let before = family.len();
        family = children.chain(family.iter().copied()).collect();
        if family.len() == before {
            return family;
        }
    }
}

/// Returns all processes that /proc shows. In a container, or with hidepid, it hides those of other
/// users.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let mut process = parse(number, &fs::read(entry.path().join("stat")).ok()?)?;
        let io = fs::read_to_string(entry.path().join("io")).unwrap_or_default();
        process.used.bytes = moved(&io);
        Some(process)
    };
    entries.filter_map(read).collect()
}

/// Total of the bytes that devices read and wrote for a process; 0 if this user has no access.
fn moved(io: &str) -> u64 {
    bytes_of_process(io).map_or(0, |(read, written)| read.saturating_add(written))
}

/// Parses a process from its stat file. The name has any bytes, between the first and the last
/// bracket.
fn parse(number: u32, stat: &[u8]) -> Option<Process> {
    let text = String::from_utf8_lossy(stat);
    let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |n: usize| fields.get(n)?.parse::<u64>().ok();
    Some(Process {
        id: (number, field(19)?),
        parent: u32::try_from(field(1)?).ok()?,
        name: match field(6)? & KERNEL {
            0 => clean_excerpt(name, LONGEST),
            _ => KERNEL_NAME.to_owned(),
        },
        used: Used { ticks: field(11)?.checked_add(field(12)?)?, bytes: 0 },
    })
}

#[cfg(test)]
mod tests {
    use proofmark_engine::RawClock;
    use proptest::prelude::*;

    use super::*;

    fn process(id: Id, parent: u32, name: &str, ticks: u64) -> Process {
        Process { id, parent, name: name.to_owned(), used: Used { ticks, bytes: 10 * ticks } }
    }

    fn others(ticks: &[(Id, u64)]) -> Others<'static> {
        let seen = |(id, ticks): &(Id, u64)| {
            let used = Used { ticks: *ticks, bytes: 0 };
            (*id, Process { used, ..process(*id, 1, "", 0) })
        };
        let seen = ticks.iter().map(seen).collect();
        Others { clock: &RawClock, began: 0.0, scanned: 0.0, seen, took: BTreeMap::new() }
    }

    #[test]
    fn what_others_took_since_the_last_look_counts_by_name() {
        let mut seen = others(&[((10, 1), 500), ((11, 1), 70)]);
        let at_first = [
            process((10, 1), 1, "cargo", 600),
            process((11, 1), 1, "cargo", 75),
            // A new process with a reused number.
            process((12, 9), 1, "sh", 3),
            process((50, 1), 1, "proofmark", 9000),
            process((51, 1), 50, "worker", 9000),
            process((52, 1), 51, "fio", 9000),
            process((7, 1), 2, KERNEL_NAME, 4),
            process((2, 0), 0, KERNEL_NAME, 1),
        ];
        seen.add(&at_first, 50);
        seen.add(&[process((10, 2), 1, "sh", 5)], 50);
        let took = |of: fn(&Used) -> u64| -> Vec<(&str, u64)> {
            seen.took.iter().map(|(name, used)| (name.as_str(), of(used))).collect()
        };
        assert_eq!(took(|u| u.ticks), [("cargo", 105), ("kernel threads", 5), ("sh", 8)]);
        assert_eq!(took(|u| u.bytes), [("cargo", 6750), ("kernel threads", 50), ("sh", 80)]);
    }

    #[test]
    fn bytes_of_a_child_that_ended_are_not_its_parents_again() {
        let with_bytes = |p: Process, bytes| Process { used: Used { bytes, ..p.used }, ..p };
        let shell = |bytes| with_bytes(process((10, 1), 1, "sh", 0), bytes);
        let copy = |bytes| with_bytes(process((11, 1), 10, "dd", 0), bytes);
        let mut seen = others(&[]);
        seen.add(&[shell(100), copy(7000)], 50);
        // The child wrote 500 more after that scan.
        seen.add(&[shell(7600)], 50);
        let took = |seen: &Others, name: &str| seen.took[name].bytes;
        assert_eq!((took(&seen, "dd"), took(&seen, "sh")), (7000, 600));
        // The same for a grandparent, if both ended.
        let bash = |bytes| with_bytes(process((9, 1), 1, "bash", 0), bytes);
        let child = |bytes| with_bytes(process((10, 1), 9, "sh", 0), bytes);
        let mut seen = others(&[]);
        seen.add(&[bash(5), child(100), copy(7000)], 50);
        seen.add(&[bash(7605)], 50);
        assert_eq!((took(&seen, "dd"), took(&seen, "sh"), took(&seen, "bash")), (7000, 100, 505));
    }

    #[test]
    fn a_stat_file_is_read_whatever_its_name_is() {
        let stat = b"42 (a) R (b c) S 7 42 42 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 1 0 777 1 2 3";
        let parsed = |number, stat: &[u8]| {
            parse(number, stat).map(|p| Process { used: Used { bytes: 0, ..p.used }, ..p })
        };
        let process = |id, parent, name, ticks| {
            let used = Used { ticks, bytes: 0 };
            Some(Process { used, ..process(id, parent, name, ticks) })
        };
        assert_eq!(parsed(42, stat), process((42, 777), 7, "a) R (b c", 300));
        let kernel = b"7 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 1 3 0 0 20 0 1 0 9 0 0";
        assert_eq!(parsed(7, kernel), process((7, 9), 2, KERNEL_NAME, 4));
        assert_eq!(
            moved("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n"),
            12_288
        );
        assert_eq!(moved(""), 0, "another user's");
        assert_eq!(parse(42, b"42 (short) S 7"), None);
        assert!(processes().iter().any(|p| p.id.0 == std::process::id()));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(1, &bytes);
        }
    }
}
