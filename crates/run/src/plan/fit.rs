//! Selects the configurations that this machine can run, and fits their data into memory and disk.

use proofmark_engine::{Refusal, Workload};
use proofmark_model::{
    AUTO, Finding, Host, Parameter, ParameterKind, Params, Point, Severity, WorkloadSpec,
    format_seconds, format_size, key, word,
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
        "At the requested rate a trial of the planned length completes no operation, such as \
        one datagram per stream. A trial then completes one and lasts as long as that takes. Set \
        a higher rate or a smaller block_size for more operations per trial.",
    ),
];

const SHRUNK: &str = "plan.shrunk";
const ENGINE: &str = "plan.engine";
const LONGER: &str = "plan.longer";

/// A plan under construction, with its findings.
pub(super) struct Gathering<'a> {
    pub(super) host: &'a Host,
    pub(super) planned: Planned,
}

impl Gathering<'_> {
    /// Adds the configurations that this machine can run, once each, and the reasons against the
    /// others. Returns the places of the configurations, new or known.
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
                if let Err(Refusal(reason)) = supports(workload, &params, self.host) {
                    add_line(&mut self.planned.unsupported, format!("{id}: {reason}"));
                } else if let Some(params) = self.fitted(workload, params, &asked) {
                    self.report_engine(&asked, &params);
                    let point = Point { workload: id, params };
                    self.report_length(workload, &point);
                    kept.push(self.place(point, series));
                }
            }
        }
        kept
    }

    /// The place of a configuration in the plan, new or known. In trials and in a series it is two.
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

    /// Reports, once, that configurations run with another I/O engine than requested.
    fn report_engine(&mut self, asked: &Params, resolved: &Params) {
        let depth = |p: &Params| p.get(key::QUEUE_DEPTH).unwrap_or(1);
        if resolved.get(key::ENGINE) != Some(word::PSYNC) || depth(asked) == depth(resolved) {
            return;
        }
        let why = self.host.limits.io_uring.origin();
        let message = format!(
            "disk: proofmark uses psync with one I/O in flight instead of deeper queues. io_uring: \
             {why}"
        );
        let advice = "allow io_uring, or raise the number of threads";
        self.planned.add(Finding::new(ENGINE, Severity::Note, message, advice));
    }

    /// Reports that one operation of a configuration takes longer than a planned trial.
    fn report_length(&mut self, workload: &dyn Workload, point: &Point) {
        let planned_s = self.planned.plan.policy.trial_s_for(&point.workload);
        let needs = workload.needs(&point.params);
        let trial_s = needs.trial_s(planned_s);
        if needs.fixed_s.is_some() || trial_s <= planned_s {
            return;
        }
        let [trial, planned] = [trial_s, planned_s].map(format_seconds);
        let message = format!(
            "{point}: at this rate no operation completes within a trial of {planned}; each trial \
             does one and takes about {trial}, with its warm-up"
        );
        let advice = "set a higher rate or a smaller block_size for more operations per trial";
        self.planned.add(Finding::new(LONGER, Severity::Note, message, advice));
    }

    /// The configuration with as much data as fits into memory and onto the disk.
    fn fitted(
        &mut self,
        workload: &'static dyn Workload,
        params: Params,
        asked: &Params,
    ) -> Option<Params> {
        let (storage, network) = (&self.host.storage, &self.host.network);
        let on_disk = workload.needs(&params).disk_bytes > 0 && storage.get().is_none();
        let on_network = workload.spec().subsystem.info().has_server && network.get().is_none();
        if on_disk || on_network {
            let why = if on_disk { storage.origin() } else { network.origin() };
            add_line(&mut self.planned.left_out, format!("{}: {why}", workload.spec().subsystem));
            return None;
        }
        // With an automatic size there is no size that the user could reduce.
        let own =
            size_of(workload, &params).is_none_or(|size| asked.word(&size.name) == Some(AUTO));
        let advice = |more: &str| match own {
            true => more.to_owned(),
            false => format!("{more}, or set smaller sizes"),
        };
        let (usable, limit) = (self.host.usable_memory(), self.host.tight_memory_limit());
        let (memory, disk) = (
            limit.map_or("stop other programs", |_| "raise the memory limit"),
            "free space, or name a directory with more space (--disk-path)",
        );
        let memory = Room {
            what: "memory",
            bytes: usable,
            most: usable,
            needed: &|p| workload.needs(p).memory_bytes,
            advice: advice(memory),
        };
        let usable = self.host.usable_disk();
        let most = (usable as f64 * CLAMPED) as u64;
        let disk = Room {
            what: "disk space",
            bytes: if own { most } else { usable },
            most,
            needed: &|p| workload.needs(p).disk_bytes,
            advice: advice(disk),
        };
        let params = self.fitted_into(&memory, workload, params)?;
        self.fitted_into(&disk, workload, params)
    }

    /// The reason to leave out a reduced configuration: it would measure a cache, not memory.
    fn in_cache(&self, workload: &dyn Workload, fits: &Params, params: &Params) -> Option<String> {
        let (spec, host) = (workload.spec(), self.host);
        let array = spec.work.array_bytes(fits).filter(|_| !spec.work.any_level())?;
        if array > host.largest_cached() {
            return None;
        }
        let needed = format_size(workload.needs(params).memory_bytes);
        let why = match host.tight_memory_limit() {
            Some(limit) => format!(
                "the memory limit of {} ({}) leaves no room for a measurement of memory, which \
                 needs {needed}; with {} it would measure a cache; raise the limit",
                format_size(limit),
                host.limits.memory_bytes.origin(),
                format_size(array)
            ),
            None => format!(
                "{} of memory are available, no room for a measurement of memory, which needs \
                 {needed}; stop other programs",
                format_size(host.usable_memory())
            ),
        };
        Some(format!("{}: {why}", spec.id))
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
                format!("{point}: {cause}; it cannot run with less; {}", room.advice)
            });
            add_line(&mut self.planned.left_out, line);
            return None;
        };
        if let Some(line) = self.in_cache(workload, &smaller, &params) {
            add_line(&mut self.planned.left_out, line);
            return None;
        }
        let change = |k: &Parameter| {
            let (old, new) = (params.number(&k.name)?, smaller.number(&k.name)?);
            let words = format!("{} {} instead of {}", k.name, format_size(new), format_size(old));
            (old != new).then_some(words)
        };
        let changed: Vec<String> = spec.parameters.iter().filter_map(change).collect();
        let message = format!("{id}: {}: {cause}", changed.join(", "));
        let finding = Finding::new(SHRUNK, Severity::Note, message, room.advice.as_str())
            .with("needed_bytes", needed)
            .with("usable_bytes", room.bytes);
        self.planned.add(finding);
        Some(smaller)
    }
}

/// A resource of data: memory or disk space.
struct Room<'a> {
    what: &'static str,
    bytes: u64,
    /// Maximum bytes of a configuration that was reduced.
    most: u64,
    /// Bytes that a configuration needs.
    needed: &'a dyn Fn(&Params) -> u64,
    advice: String,
}

/// Share of the usable disk space for files whose size proofmark chose or reduced. A worker checks the
/// space again before it writes, when other programs may have taken some, and must not refuse a size
/// chosen here. It checks the files of several threads one after the other, each with what the earlier
/// ones took: each check then allows at most two thirds.
const CLAMPED: f64 = 5.0 / 8.0;

/// Refuses parameters that contradict each other, and a host that cannot run them.
pub(super) fn supports(
    workload: &dyn Workload,
    params: &Params,
    host: &Host,
) -> Result<(), Refusal> {
    workload.configure(params)?.supports_on(host)
}

/// The size parameter that may be left to the machine.
fn size_of(workload: &dyn Workload, params: &Params) -> Option<&'static Parameter> {
    let is_size = |k: &&Parameter| {
        matches!(k.kind, ParameterKind::Size { .. })
            && k.default == AUTO
            && params.number(&k.name).is_some()
    };
    workload.spec().parameters.iter().find(is_size)
}

/// The configuration with less data, so that it fits: whole MiB of its size parameter. `None`: it
/// cannot run with less.
fn shrunk(workload: &dyn Workload, params: &Params, room: &Room, host: &Host) -> Option<Params> {
    const MIB: u64 = 1 << 20;
    let parameter = size_of(workload, params)?;
    let (size, needed) = (params.number(&parameter.name)?, (room.needed)(params));
    // The need grows with the size, apart from a constant part: search from above.
    let most = (size as f64 * (room.most as f64 / needed as f64)) as u64 / MIB;
    let sizes = (1..=most).rev().step_by((most / 64).max(1) as usize);
    sizes
        .map(|mib| params.clone().with_named(&parameter.name, mib * MIB))
        .find(|p| (room.needed)(p) <= room.most && supports(workload, p, host).is_ok())
}

/// The reason against a configuration whose data follows from a count, such as a matrix's rows, with the
/// largest count that fits. A count is never reduced, since it identifies the configuration.
fn too_large(spec: &WorkloadSpec, params: &Params, room: &Room) -> Option<String> {
    let parameter = spec.parameter(spec.axis.as_deref()?)?;
    let ParameterKind::Count { min, .. } = parameter.kind else { return None };
    if Params::counts_threads(&parameter.name) {
        return None;
    }
    let (name, asked) = (&parameter.name, params.number(&parameter.name)?);
    let fits = |n: u64| (room.needed)(&params.clone().with_named(name, n)) <= room.bytes;
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

/// The largest count in `min..beyond` that fits, rounded down to hundreds above 1000. Every count below
/// a fitting one must fit.
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

/// Adds a line, once.
fn add_line(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests;
