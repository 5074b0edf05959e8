//! Other programs on this machine during a run, by name, with their CPU time and the bytes that
//! devices read and wrote for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proofmark_engine::{Clock, RawClock, bytes_of_process};
use proofmark_host::{CpuTicks, Root};
use proofmark_model::{Program, clean_excerpt};
use rustix::param::clock_ticks_per_second;
use rustix::process::getpid;

use crate::event::{Observer, Step};

/// Seconds between two scans of /proc. A scan takes some milliseconds if a thousand processes run.
/// What a process does after the last scan that saw it counts for the parent that waits for it.
const EVERY_S: f64 = 2.0;

/// Maximum number of programs that are recorded.
const MAX_PROGRAMS: usize = 10;
/// Maximum number of these that are chosen by their bytes.
const MAX_MOVERS: usize = 3;
/// Minimum share of one CPU's time that is recorded.
const MIN_CPU_SHARE: f64 = 1e-3;

/// Flag of the threads of Linux itself (`include/linux/sched.h`, `PF_KTHREAD`).
const KERNEL: u64 = 0x0020_0000;

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
    /// CPU time of its own threads.
    ticks: u64,
    /// CPU time of children that ended and that it waited for, with that of their own such
    /// children.
    children: u64,
    /// Bytes read and written, by such children too; 0 if this user has no access.
    bytes: u64,
}

impl Used {
    fn since(self, before: Self) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(before.ticks),
            children: self.children.saturating_sub(before.children),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }

    /// What Linux adds to the parent when this process has ended.
    fn inheritance(self) -> Inheritance {
        Inheritance { ticks: self.ticks.saturating_add(self.children), bytes: self.bytes }
    }
}

/// Use of processes that ended, which was counted while they ran.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Inheritance {
    ticks: u64,
    bytes: u64,
}

impl Inheritance {
    /// Takes as much as possible of it out of what an ancestor gained.
    fn take_from(&mut self, gained: &mut Used) {
        let (ticks, bytes) = (self.ticks.min(gained.children), self.bytes.min(gained.bytes));
        (self.ticks, self.bytes) = (self.ticks - ticks, self.bytes - bytes);
        (gained.children, gained.bytes) = (gained.children - ticks, gained.bytes - bytes);
    }

    fn add(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Scans all processes when a run begins, and between its trials.
pub(crate) struct Others<'a> {
    clock: &'a dyn Clock,
    began: f64,
    scanned: f64,
    /// The CPUs' account at the beginning and at the last scan; `None` where the system has none.
    cpus: [Option<CpuTicks>; 2],
    seen: BTreeMap<Id, Process>,
    /// Inheritances that no ancestor showed in the last scan, by the process that has them next.
    late: BTreeMap<u32, Inheritance>,
    took: BTreeMap<String, Inheritance>,
    /// CPU time of this process and of those that it started.
    own_ticks: u64,
}

impl<'a> Others<'a> {
    pub(crate) fn new(clock: &'a dyn Clock) -> Self {
        let now = clock.now();
        let seen = processes().into_iter().map(|p| (p.id, p)).collect();
        let (late, took) = (BTreeMap::new(), BTreeMap::new());
        let cpus = [cpu_ticks(); 2];
        Self { clock, began: now, scanned: now, cpus, seen, late, took, own_ticks: 0 }
    }

    fn scan(&mut self) {
        self.scanned = self.clock.now();
        let before = std::mem::replace(&mut self.cpus[1], cpu_ticks());
        let passed = self.cpus[1].zip(before).and_then(|(now, before)| now.used_since(before));
        // One tick per scan is an error of counting.
        let most = passed.map_or(u64::MAX, |[_, all]| all as u64 + 1);
        self.add(&processes(), getpid().as_raw_nonzero().get().cast_unsigned(), most);
    }

    /// Adds the use of all processes since the last scan, without `own` and those that it started.
    /// `most` is the CPU time of all CPUs since then.
    fn add(&mut self, all: &[Process], own: u32, most: u64) {
        let ours = family(all, own);
        let now: BTreeMap<Id, Process> = all.iter().map(|p| (p.id, p.clone())).collect();
        let gained = self.gained(all, &now);
        for p in all {
            let Some(gained) = gained.get(&p.id.0) else { continue };
            // More than all CPUs gave is an inheritance that was seen before its owner had ended.
            let children = if gained.children > most { 0 } else { gained.children };
            let gained = Used { children, ..*gained }.inheritance();
            if ours.contains(&p.id.0) {
                self.own_ticks += gained.ticks;
            } else if gained != Inheritance::default() {
                self.took.entry(p.name.clone()).or_default().add(gained);
            }
        }
        self.seen = now;
    }

    /// Returns what each process used since the last scan, by its number. The use of children that
    /// ended is in it, as far as it is not counted yet.
    fn gained(&mut self, all: &[Process], now: &BTreeMap<Id, Process>) -> BTreeMap<u32, Used> {
        let before = |p: &Process| self.seen.get(&p.id).map(|p| p.used).unwrap_or_default();
        let mut gained: BTreeMap<u32, Used> =
            all.iter().map(|p| (p.id.0, p.used.since(before(p)))).collect();
        let parents: BTreeMap<u32, u32> = all.iter().map(|p| (p.id.0, p.parent)).collect();
        // A parent that ended first leaves its children to one of its own ancestors.
        let mut settle = |heir: u32, rest: &mut Inheritance| {
            let line = std::iter::successors(Some(heir), |at| parents.get(at).copied());
            for at in line.take(all.len()) {
                gained.entry(at).and_modify(|gained| rest.take_from(gained));
            }
        };
        let ended = self.ended(now);
        for (heir, mut rest) in std::mem::take(&mut self.late) {
            settle(living(heir, &ended, &parents), &mut rest);
        }
        let mut inherited: BTreeMap<u32, Inheritance> = BTreeMap::new();
        for p in ended.values() {
            let heir = living(p.parent, &ended, &parents);
            inherited.entry(heir).or_default().add(p.used.inheritance());
        }
        for (heir, mut rest) in inherited {
            settle(heir, &mut rest);
            // The scan may have read the parent before the child ended.
            if rest != Inheritance::default() {
                self.late.insert(heir, rest);
            }
        }
        gained
    }

    /// Returns the processes that ended since the last scan, by number.
    fn ended(&self, now: &BTreeMap<Id, Process>) -> BTreeMap<u32, Process> {
        let ended = self.seen.iter().filter(|(id, _)| !now.contains_key(id));
        ended.map(|(id, p)| (id.0, p.clone())).collect()
    }

    /// Returns the programs with the most CPU time, among those with enough CPU time or I/O to be
    /// named. Returns also the CPU time of all programs, as a share of one CPU's; `None` where the
    /// system does not count it.
    pub(crate) fn finish(mut self) -> (Vec<Program>, Option<f64>) {
        self.scan();
        let seconds = self.scanned - self.began;
        let ticks_per_s = clock_ticks_per_second() as f64;
        let each = |amount: f64| amount / seconds.max(f64::MIN_POSITIVE);
        let program = |(name, took): (String, Inheritance)| {
            let cpu_s = took.ticks as f64 / ticks_per_s;
            let io_bytes_per_s = each(took.bytes as f64);
            Program { name, cpu_s, of_one_cpu: each(cpu_s), io_bytes_per_s }
        };
        let [began, ended] = self.cpus;
        let used = ended.zip(began).and_then(|(ended, began)| ended.used_since(began));
        // The CPUs' account lacks stolen time, which that of a program may have; the programs lack
        // those that no scan saw.
        let seen = self.took.values().map(|took| took.ticks as f64).sum::<f64>();
        let all_of_one_cpu =
            used.map(|[used, _]| each((used - self.own_ticks as f64).max(seen) / ticks_per_s));
        let mut named: Vec<Program> = self.took.into_iter().map(program).collect();
        named.retain(|p| {
            p.of_one_cpu >= MIN_CPU_SHARE || p.io_bytes_per_s >= Program::MIN_BYTES_PER_S
        });
        // Those with the most bytes are named too.
        named.sort_by(|a, b| b.io_bytes_per_s.total_cmp(&a.io_bytes_per_s));
        let movers = named.iter().take(MAX_MOVERS).filter(|p| p.io_bytes_per_s > 0.0).count();
        named[movers..].sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        named.truncate(MAX_PROGRAMS);
        named.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        (named, all_of_one_cpu)
    }
}

/// Returns the process itself if it lives, else its first ancestor that does.
fn living(process: u32, ended: &BTreeMap<u32, Process>, lives: &BTreeMap<u32, u32>) -> u32 {
    let mut heir = process;
    // At most one step per process: reused numbers may form a ring.
    for _ in 0..ended.len() {
        match ended.get(&heir) {
            Some(process) if !lives.contains_key(&heir) => heir = process.parent,
            _ => break,
        }
    }
    heir
}

/// The time of all CPUs of the machine, or of this container where the system shows only that.
fn cpu_ticks() -> Option<CpuTicks> {
    CpuTicks::now(&Root::live(), &[])
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

    /// Returns the programs with the most CPU time since the beginning, the busiest first, and the
    /// CPU time of all as a share of one CPU's.
    pub fn finish(self) -> (Vec<Program>, Option<f64>) {
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
            _ => Program::KERNEL_THREADS.to_owned(),
        },
        used: Used {
            ticks: field(11)?.checked_add(field(12)?)?,
            children: field(13)?.checked_add(field(14)?)?,
            bytes: 0,
        },
    })
}

#[cfg(test)]
mod tests;
