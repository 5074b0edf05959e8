//! `disk.limit`: the rate that a provider or a cgroup allows.
//!
//! Sources: Linux block/blk-throttle.c (throtl_slice, 100 ms; I/Os are counted as they are
//! submitted, before neighbours are merged); Documentation/admin-guide/cgroup-v2.rst (io.max) and
//! cgroup-v1/blkio-controller.rst.

use proofmark_model::{
    Bottleneck, Ceiling, IoLimit, Limit, Measurement, Provenance, Storage, Unit, ceiling_id,
    format_quantity,
};

use super::CeilingRule;
use super::disk_link::{ensure_from_device, operation};
use super::parts::{Formula, input};
use crate::disk::{Cached, Way, commits, is_random, queue_depth, read_share};
use crate::statistics::median_over;
use crate::{Capacity, Context};

/// Seconds of blk-throttle's slice, in which a limit is granted; a trial may begin with an unused
/// one.
const SLICE_S: f64 = 0.1;
/// Smallest uncertainty of a cgroup's limit: a bucket's rounding and the two ends of the timed
/// part.
const LEAST: f64 = 0.01;
/// Uncertainty of a declared limit: a rounded figure, and how the provider counts it is unknown.
const PROMISE: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
struct SetLimit {
    limit: Limit,
    way: Way,
    /// Value in the limit's unit.
    value: f64,
    /// File of the cgroup; `None` if declared.
    cgroup: Option<String>,
}

fn declared(ctx: &Context) -> impl Iterator<Item = SetLimit> {
    let value = |limit: Limit| ctx.host.limits.declared.get(limit.name()).copied();
    let all = Limit::ALL.into_iter();
    all.filter_map(move |limit| {
        Some(SetLimit { limit, way: Way::limited_by(limit)?, value: value(limit)?, cgroup: None })
    })
}

/// The limits that cgroups set on a device that every byte must pass. With one leaf that is any
/// device, else only the file system's own.
fn by_cgroup<'a>(ctx: &'a Context, storage: &Storage) -> impl Iterator<Item = SetLimit> + 'a {
    let one = storage.leaves().count() == 1;
    let carries = |name: &str| storage.devices.iter().any(|d| d.over.iter().any(|o| o == name));
    let passed = storage.devices.iter().filter(|d| one || !carries(&d.name));
    let numbers: Vec<String> = passed.map(|d| d.number.clone()).collect();
    let limits = ctx.host.limits.io.get().map_or(&[][..], Vec::as_slice).iter();
    limits.filter(move |l| numbers.contains(&l.device)).flat_map(|l: &IoLimit| {
        Limit::ALL.into_iter().filter_map(|limit| {
            let cgroup = Some(format!("{} on {}", l.source, l.device));
            Some(SetLimit { limit, way: Way::limited_by(limit)?, value: l.maximum(limit)?, cgroup })
        })
    })
}

/// Most bytes of one counted I/O. Fails if the kernel forms I/Os of another size than requested.
fn max_io_bytes(m: &Measurement, set: &SetLimit, storage: Option<&Storage>) -> Result<f64, String> {
    let block = m.params.block_bytes().ok_or("the configuration has no block_size")?;
    let direct = Cached::read(m) == Cached::Direct;
    let one_each = commits(m) || is_random(m) && (direct || set.way == Way::Read);
    if one_each || direct && (queue_depth(m) == 1 || set.cgroup.is_some()) {
        return Ok(block);
    }
    if !direct {
        return Err("for buffered I/O the kernel chooses the size of the device's I/Os".to_owned());
    }
    // The kernel merges neighbours in flight, up to the device's largest request.
    let largest = storage
        .and_then(|s| s.leaves().filter_map(|d| d.request_bytes).max())
        .ok_or("the size of merged requests is unknown")?;
    Ok(block.max(largest as f64))
}

/// The ceiling of this result by one limit, with its formula and inputs.
fn ceiling(ctx: &Context, m: &Measurement, set: &SetLimit) -> Result<Ceiling, String> {
    let reads = read_share(m).ok_or("the share of reads is unknown")?;
    let (way, name) = (set.way, set.limit.name());
    let share = if way == Way::Read { reads } else { 1.0 - reads };
    if share <= 0.0 {
        return Err(format!("{name} does not apply to this workload"));
    }
    let written_back = way == Way::Written && Cached::read(m) != Cached::Direct;
    if written_back && set.cgroup.is_some() && !commits(m) {
        return Err(
            "buffered writes are written back later (with cgroup v1 outside of the limit), so the \
             limit is not their ceiling"
                .to_owned(),
        );
    }
    let source = match &set.cgroup {
        None => (Provenance::Declared, format!("--limit {name}")),
        Some(file) => (Provenance::Reported, file.clone()),
    };
    let unit = set.limit.unit();
    let mut formula =
        Formula::from_input(input(name, set.value, unit.as_str(), source.0, source.1));
    let counts_bytes = unit == Unit::BytePerSecond;
    let in_bytes = m.unit == Unit::BytePerSecond;
    if !counts_bytes && in_bytes {
        let bytes = max_io_bytes(m, set, ctx.host.storage.get())?;
        let note = "the most that counts as one I/O; a limit may count a large one several times";
        formula = formula.times(input("io_bytes", bytes, "B", Provenance::Reported, note));
    } else if counts_bytes && !in_bytes {
        formula = formula.over(operation(m)?);
    }
    if share < 1.0 {
        let note = format!("share of the work that is {}", way.word());
        formula = formula.over(input("share", share, "", Provenance::Measured, note));
    }
    Ok(RULE.ceiling(m, formula, uncertainty(m, set)))
}

/// Relative uncertainty of the work that a limit allows in a trial.
fn uncertainty(m: &Measurement, set: &SetLimit) -> f64 {
    if set.cgroup.is_none() {
        return PROMISE;
    }
    let seconds = median_over(&m.trials, |t| Some(t.seconds).filter(|s| *s > 0.0));
    seconds.map_or(1.0, |s| (SLICE_S / s).max(LEAST))
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::DISK_LIMIT,
    title: "Declared and cgroup I/O limits",
    about: "The tightest limit that the user declares (--limit disk.read=160MB/s, disk.write, \
         disk.read_iops=3000, disk.write_iops) or that cgroups set on the devices (io.max, \
         blkio.throttle). Limits in bytes per second count as they are. Limits in IOPS count times \
         the maximum bytes of one I/O: the block, or for neighbouring blocks in flight together \
         the largest request. This is an upper bound, since providers count a large I/O several \
         times. Reads and writes each have their own limit in a mix. A commit (disk.fsync) writes \
         more than one I/O, so its ceiling is an upper bound too. Uncertainty: 5 % for a declared \
         limit, which is a rounded figure. For a cgroup limit 0.1 s / the trial's duration, at \
         least 1 %: the kernel grants it in slices of 100 ms, and a trial may find one unused. A \
         cgroup limit is no ceiling for buffered writes, which are written back later. No limit \
         applies to warm reads.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    ensure_from_device(m)?;
    let mut limits: Vec<SetLimit> = declared(ctx).collect();
    if let Some(storage) = ctx.host.storage.get() {
        limits.extend(by_cgroup(ctx, storage));
    }
    if limits.is_empty() {
        return Err(no_limit(ctx));
    }
    let (mut tightest, mut reasons): (Option<Ceiling>, Vec<String>) = (None, Vec::new());
    for limit in &limits {
        match ceiling(ctx, m, limit) {
            Ok(c) if tightest.as_ref().is_none_or(|t| c.value < t.value) => tightest = Some(c),
            Ok(_) => {}
            Err(reason) if reasons.contains(&reason) => {}
            Err(reason) => reasons.push(reason),
        }
    }
    tightest.ok_or_else(|| reasons.join(", "))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let limit = ceiling.inputs.first();
    let declared = limit.filter(|i| i.source == Provenance::Declared);
    let resource = match declared {
        Some(limit) => format!("{} {}", Bottleneck::DECLARED_LIMIT, limit.name),
        None => Bottleneck::CGROUP_IO_LIMIT.to_owned(),
    };
    let figure = limit.map_or(String::new(), |i| {
        let unit = if i.unit == "B/s" { Unit::BytePerSecond } else { Unit::OpPerSecond };
        format!(": {} by {}", format_quantity(i.value, unit), i.note)
    });
    Bottleneck { resource, evidence: format!("{share}{figure}") }
}

/// The reason why there is no limit, with the unknown facts.
fn no_limit(ctx: &Context) -> String {
    let io = &ctx.host.limits.io;
    match io.get() {
        Some(_) => "no limit is declared (--limit) or set by a cgroup".to_owned(),
        None => format!(
            "no limit is declared (--limit); whether a cgroup sets one is unknown ({})",
            io.origin()
        ),
    }
}

#[cfg(test)]
mod tests;
