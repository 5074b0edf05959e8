//! Which points this machine can run, and with how much data.

use proofmark_engine::{Refusal, Workload};
use proofmark_model::{
    AUTO, Finding, Host, Parameter, ParameterKind, Params, Point, Severity, WorkloadSpec,
    format_seconds, format_size,
};

use crate::planned::Planned;
use crate::profile::SeriesText;

/// Id, title and meaning of the findings of a plan itself.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        SHRUNK,
        "Less data than planned",
        "The plan needs more than the available memory, the cgroup's limit or half of the free \
        disk space. proofmark uses less data: a benchmark must not evict other programs or fill a \
        disk. Checks report sizes that no longer exceed the caches. Raise the limit, stop other \
        programs, free space, or set smaller sizes.",
    ),
    (
        ENGINE,
        "Another I/O engine than planned",
        "The kernel, a seccomp filter or /proc/sys/kernel/io_uring_disabled refuses io_uring to \
        this process. proofmark uses ordinary system calls (psync) with one I/O in flight per \
        thread, and says so in the result's name: queue depths above 1 are not measured. Allow \
        io_uring, or read the results with more threads.",
    ),
    (
        LONGER,
        "Longer trials than planned",
        "At the requested rate a trial of the planned length holds no whole piece of work, such as \
        one datagram per stream. A trial then holds one piece and lasts as long as that takes. Set \
        a higher rate or a smaller block_size for more pieces per trial.",
    ),
];

const SHRUNK: &str = "plan.shrunk";
const ENGINE: &str = "plan.engine";
const LONGER: &str = "plan.longer";

/// Points that are being gathered, with what a user should know about them.
pub(super) struct Gathering<'a> {
    pub(super) host: &'a Host,
    pub(super) planned: Planned,
}

impl Gathering<'_> {
    /// Adds the points that this machine can run, once each, and the reasons why it
    /// cannot run the others; the places of the points, new or known.
    pub(super) fn keep(
        &mut self,
        workload: &'static dyn Workload,
        combinations: Vec<Params>,
        series: Option<SeriesText>,
    ) -> Vec<usize> {
        let mut kept = Vec::new();
        for asked in combinations {
            for params in workload.resolve_auto(asked.clone(), self.host) {
                let id = workload.spec().id.to_string();
                if let Err(Refusal(reason)) = workload.supports_on(&params, self.host) {
                    tell(&mut self.planned.unsupported, format!("{id}: {reason}"));
                } else if let Some(params) = self.fitted(workload, params) {
                    self.tell_of_engine(&asked, &params);
                    let point = Point { workload: id, params };
                    self.tell_of_length(workload, &point);
                    kept.push(self.place(point, series));
                }
            }
        }
        kept
    }

    /// The place of a point in the plan, new or known; the same in trials and over time is two.
    fn place(&mut self, point: Point, series: Option<SeriesText>) -> usize {
        let plan = &mut self.planned.plan;
        let series_of = |place: usize| plan.series_of(place).map(|s| (s.for_s, s.every_s));
        let new = series.map(|s| s.planned(plan.points.len()));
        let asked = new.as_ref().map(|s| (s.for_s, s.every_s));
        let known =
            (0..plan.points.len()).find(|i| plan.points[*i] == point && series_of(*i) == asked);
        known.unwrap_or_else(|| {
            plan.series.extend(new);
            plan.points.push(point);
            plan.points.len() - 1
        })
    }

    /// Says so where points run with another I/O engine than was asked for, once for all of them.
    fn tell_of_engine(&mut self, asked: &Params, settled: &Params) {
        let depth = |p: &Params| p.int("queue_depth").unwrap_or(1);
        if settled.text("engine") != Some("psync") || depth(asked) == depth(settled) {
            return;
        }
        let why = self.host.limits.io_uring.origin();
        let message =
            format!("disk: psync with one I/O in flight instead of deeper queues: io_uring: {why}");
        let advice = "allow io_uring, or raise the number of threads";
        self.planned.add(Finding::new(ENGINE, Severity::Note, message, advice));
    }

    /// Says so where the least piece of a point's work takes longer than a trial was to last.
    fn tell_of_length(&mut self, workload: &dyn Workload, point: &Point) {
        let policy = &self.planned.plan.policy;
        let planned_s = policy.trial_s_for(&point.workload);
        let trial_s = workload.trial_seconds(&point.params, policy);
        if workload.nominal_seconds(&point.params).is_some() || trial_s <= planned_s {
            return;
        }
        let [trial, planned] = [trial_s, planned_s].map(format_seconds);
        let message = format!(
            "{point}: at this rate a trial of {planned} holds no whole piece of work; each holds \
             one and takes about {trial}, with what comes ahead of it"
        );
        let advice = "set a higher rate or a smaller block_size for more pieces per trial";
        self.planned.add(Finding::new(LONGER, Severity::Note, message, advice));
    }

    /// The point with as much data as fits into memory and onto the disk.
    fn fitted(&mut self, workload: &'static dyn Workload, params: Params) -> Option<Params> {
        let (storage, network) = (&self.host.storage, &self.host.network);
        let on_disk = workload.disk_bytes(&params) > 0 && storage.get().is_none();
        let on_network = workload.spec().subsystem.has_server() && network.get().is_none();
        if on_disk || on_network {
            let why = if on_disk { storage.origin() } else { network.origin() };
            tell(&mut self.planned.left_out, format!("{}: {why}", workload.spec().subsystem));
            return None;
        }
        let memory = Room {
            what: "memory",
            bytes: self.host.usable_memory(),
            needed: &|p| workload.memory_bytes(p),
            advice: "raise the memory limit, stop other programs, or set smaller sizes",
        };
        let disk = Room {
            what: "disk space",
            bytes: self.host.usable_disk(),
            needed: &|p| workload.disk_bytes(p),
            advice: "free space, name a directory with more space (--disk-path), or set smaller sizes",
        };
        let params = self.fitted_into(&memory, workload, params)?;
        self.fitted_into(&disk, workload, params)
    }

    fn fitted_into(
        &mut self,
        room: &Room,
        workload: &'static dyn Workload,
        params: Params,
    ) -> Option<Params> {
        let needed = (room.needed)(&params);
        if needed <= room.bytes {
            return Some(params);
        }
        let (id, spec) = (&workload.spec().id, workload.spec());
        let cause = format!(
            "{} of {} needed, {} available",
            format_size(needed),
            room.what,
            format_size(room.bytes)
        );
        let Some(smaller) = shrunk(workload, &params, room, self.host) else {
            let line = too_large(spec, &params, room).unwrap_or_else(|| {
                let point = Point { workload: id.to_string(), params: params.clone() };
                format!("{point}: {cause}; it cannot run with less")
            });
            tell(&mut self.planned.left_out, line);
            return None;
        };
        let change = |k: &Parameter| {
            let (old, new) = (params.int(&k.name)?, smaller.int(&k.name)?);
            let words = format!("{} {} instead of {}", k.name, format_size(new), format_size(old));
            (old != new).then_some(words)
        };
        let changed: Vec<String> = spec.parameters.iter().filter_map(change).collect();
        let message = format!("{id}: {}: {cause}", changed.join(", "));
        let finding = Finding::new(SHRUNK, Severity::Note, message, room.advice)
            .with("needed_bytes", needed)
            .with("usable_bytes", room.bytes);
        self.planned.add(finding);
        Some(smaller)
    }
}

/// Something that data needs, and how much of it there is.
struct Room<'a> {
    what: &'static str,
    bytes: u64,
    /// How much of it a point needs.
    needed: &'a dyn Fn(&Params) -> u64,
    advice: &'static str,
}

/// The same point with as much less data as fits into so many bytes: whole MiB of the
/// parameter that is a size left to the machine. `None`: it cannot be had with less.
fn shrunk(workload: &dyn Workload, params: &Params, room: &Room, host: &Host) -> Option<Params> {
    const MIB: u64 = 1 << 20;
    let is_size = |k: &&Parameter| {
        matches!(k.kind, ParameterKind::Size { .. })
            && k.default == AUTO
            && params.int(&k.name).is_some()
    };
    let parameter = workload.spec().parameters.iter().find(is_size)?;
    let (size, needed) = (params.int(&parameter.name)?, (room.needed)(params));
    // What is needed grows with the size, and some of it not: from above down to it.
    let most = (size as f64 * (room.bytes as f64 / needed as f64)) as u64 / MIB;
    let sizes = (1..=most).rev().step_by((most / 64).max(1) as usize);
    sizes
        .map(|mib| params.clone().with(&parameter.name, mib * MIB))
        .find(|p| (room.needed)(p) <= room.bytes && workload.supports_on(p, host).is_ok())
}

/// Why a point cannot be had whose data follows from its axis's count, such as a matrix's rows,
/// with the largest that can. A count is never shrunk: it is what names the point.
fn too_large(spec: &WorkloadSpec, params: &Params, room: &Room) -> Option<String> {
    let parameter = spec.parameter(spec.axis.as_deref()?)?;
    let ParameterKind::Count { min, .. } = parameter.kind else { return None };
    if Params::THREADS.contains(&&*parameter.name) {
        return None;
    }
    let (name, asked) = (&parameter.name, params.int(&parameter.name)?);
    let fits = |n: u64| (room.needed)(&params.clone().with(name, n)) <= room.bytes;
    let most = largest(min, asked, fits)?;
    Some(format!(
        "{}: {name} = {asked} needs {} of {}, {} available: the largest {name} that fits is \
        {most}",
        spec.id,
        format_size((room.needed)(params)),
        room.what,
        format_size(room.bytes),
    ))
}

/// The largest count from `min` on and below `beyond` that fits, where smaller ones fit if
/// larger ones do; whole hundreds above 1000.
fn largest(min: u64, beyond: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    if min >= beyond || !fits(min) {
        return None;
    }
    let (mut least, mut beyond) = (min, beyond);
    while beyond - least > 1 {
        let middle = least + (beyond - least) / 2;
        if fits(middle) {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    let round = if least > 1000 { least - least % 100 } else { least };
    Some(round.max(min))
}

/// Adds a line that is not there yet.
fn tell(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;
    use proofmark_model::Subsystem::Memory;
    use proofmark_workloads::find;

    use super::*;
    use crate::testing::this_machine;

    fn gathered(id: &str, free: u64, combinations: &[Params]) -> Planned {
        let mut host = this_machine();
        host.memory.available_bytes = Probe::known(free, "test");
        host.limits.memory_bytes = Probe::known(None, "test");
        let mut gathering = Gathering { host: &host, planned: Planned::default() };
        gathering.keep(find(id).unwrap(), combinations.to_vec(), None);
        gathering.planned
    }

    fn blocks(size: u64, threads: u64) -> Params {
        let params = Params::default().with("threads", threads).with("block_size", size);
        params.with("data_size", 8 * size.max(1 << 30)).with("pages", "huge")
    }

    #[test]
    fn a_point_shrinks_to_the_memory_and_says_so() {
        let free = 1 << 30;
        let planned = gathered("memory.seq_write", free, &[blocks(8192, 2)]);
        let size = planned.plan.points[0].params.int("data_size").unwrap();
        assert!(size < free && size > free / 2, "{size}");
        assert!(planned.findings[0].message.contains("8 GiB"), "{:?}", planned.findings);
        let whole = gathered("memory.seq_write", 64 << 30, &[blocks(8192, 2)]);
        assert_eq!(whole.plan.points[0].params.int("data_size"), Some(8 << 30));
        assert!(whole.findings.is_empty(), "{:?}", whole.findings);
    }

    #[test]
    fn every_memory_workload_shrinks_to_what_fits_and_can_run() {
        let (host, sizes) = (this_machine(), ["array_size", "data_size", "working_set"]);
        for workload in proofmark_workloads::ALL.iter().filter(|k| k.spec().subsystem == Memory) {
            let spec = workload.spec();
            let mut params = Params::default();
            for parameter in spec.parameters.iter() {
                params = match (parameter.name.as_ref(), parameter.default.parse::<u64>()) {
                    (name, _) if sizes.contains(&name) => params.with(name, 4 << 30),
                    ("threads", _) => params.with("threads", 1),
                    ("load", _) => params.with("load", 0),
                    ("block_size", _) => params.with("block_size", 8192),
                    (name, Ok(n)) => params.with(name, n),
                    (name, Err(_)) => params.with(name, parameter.default.as_ref()),
                };
            }
            let params = workload.resolve_auto(params, &host).remove(0);
            if workload.supports(&params).is_err() {
                continue; // NUMA workloads, where there is one node.
            }
            let needed = |p: &Params| workload.memory_bytes(p);
            let room = |bytes| Room { what: "memory", bytes, needed: &needed, advice: "" };
            let most = 300 << 20;
            let smaller = shrunk(*workload, &params, &room(most), &host).unwrap();
            let bytes = workload.memory_bytes(&smaller);
            assert!(bytes <= most && bytes > most * 9 / 10, "{} {bytes}", spec.id);
            assert_eq!(shrunk(*workload, &params, &room(1000), &host), None, "{}", spec.id);
        }
    }

    #[test]
    fn a_point_that_no_shrinking_makes_fit_is_left_out() {
        let planned = gathered("memory.seq_write", 512 << 20, &[blocks(80 << 20, 8)]);
        assert!(planned.plan.points.is_empty());
        assert_eq!(planned.left_out.len(), 1);
        assert!(planned.left_out[0].contains("memory needed"), "{:?}", planned.left_out);
    }

    fn matrix(n: u64, threads: u64) -> Params {
        let params = Params::default().with("threads", threads).with("n", n);
        params.with("isa", AUTO).with("nb", AUTO)
    }

    /// The count that a line names as the largest that fits.
    fn named(line: &str) -> u64 {
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn a_matrix_that_does_not_fit_is_refused_with_the_largest_that_does() {
        for id in ["cpu.linpack", "cpu.dgemm"] {
            let free = 24 << 30;
            let planned = gathered(id, free, &[matrix(100_000, 2)]);
            assert!(planned.plan.points.is_empty());
            let [line] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
            let begins = format!("{id}: n = 100000 needs ");
            assert!(line.starts_with(&begins) && !line.contains('\n'), "{line}");
            assert!(line.contains(" available: the largest n that fits is "), "{line}");
            let most = named(line);
            assert!(most.is_multiple_of(100) && most > 25_000, "{line}");
            let fits = |n: u64| gathered(id, free, &[matrix(n, 2)]).left_out.is_empty();
            assert!(fits(most) && !fits(most + 100), "{line}");
        }
    }

    #[test]
    fn of_several_those_that_fit_run_and_each_other_has_one_line() {
        let sizes = [1000, 2000, 40_000, 50_000];
        let all: Vec<_> = sizes.iter().flat_map(|n| [matrix(*n, 1), matrix(*n, 2)]).collect();
        let planned = gathered("cpu.linpack", 2 << 30, &all);
        let kept: Vec<_> = planned.plan.points.iter().map(|p| p.params.int("n").unwrap()).collect();
        assert_eq!(kept, [1000, 1000, 2000, 2000]);
        let [first, second] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
        assert!(first.contains("n = 40000") && second.contains("n = 50000"));
        assert_eq!(named(first), named(second));
        assert!(planned.findings.is_empty(), "a count is not shrunk: {:?}", planned.findings);
    }

    #[test]
    fn the_largest_count_is_found_and_rounded_down() {
        for (min, beyond, most, found) in [
            (1, 1_000_000, 53_092, Some(53_000)),
            (1, 1_000_000, 1001, Some(1000)),
            (1, 1_000_000, 1000, Some(1000)),
            (1, 1_000_000, 999, Some(999)),
            (1, 500, 499, Some(499)),
            (1050, 5000, 1060, Some(1050)), // Never below the least.
            (1, 2, 1, Some(1)),
            (1, 500, 0, None),
            (7, 7, 9, None),
        ] {
            assert_eq!(largest(min, beyond, |n| n <= most), found, "{min} to {beyond}: {most}");
        }
    }
}
