//! `disk.limit`: what a provider or a cgroup lets through.
//!
//! Sources: Linux block/blk-throttle.c (throtl_slice, 100 ms; I/Os are counted as they
//! are submitted, before neighbours are merged); Documentation/admin-guide/cgroup-v2.rst
//! (io.max) and cgroup-v1/blkio-controller.rst.

use proofmark_model::{
    Ceiling, Input, IoLimit, Limiter, Measurement, Provenance, Storage, Unit, format_quantity,
};

use super::CeilingRule;
use super::parts::input;
use crate::disk::{Cached, Way, block_bytes, commits, is_random, queue_depth, read_share};
use crate::statistics::median;
use crate::{Capacity, Context};

/// Seconds that a cgroup's limit is dealt out by: blk-throttle's slice. A trial may find
/// one unspent.
const SLICE_S: f64 = 0.1;
/// A cgroup's least uncertainty: a bucket's rounding and the timed part's two ends.
const LEAST: f64 = 0.01;
/// Uncertainty of a declared limit: a provider's promise is in round figures, and how it
/// is counted is not said.
const PROMISE: f64 = 0.05;

/// The rule.
pub(super) struct DiskLimit;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Bytes,
    Ios,
}

/// A limit on one direction.
#[derive(Debug, Clone, PartialEq)]
struct Limit {
    way: Way,
    kind: Kind,
    value: f64,
    /// Name, as it was declared: `disk.read`.
    name: &'static str,
    /// The cgroup's file; `None`: declared.
    cgroup: Option<String>,
}

/// The names of the four limits, as `--limit` takes them.
const NAMES: [(Way, Kind, &str); 4] = [
    (Way::Read, Kind::Bytes, "disk.read"),
    (Way::Written, Kind::Bytes, "disk.write"),
    (Way::Read, Kind::Ios, "disk.read_iops"),
    (Way::Written, Kind::Ios, "disk.write_iops"),
];

/// What the user declared.
fn declared(ctx: &Context) -> impl Iterator<Item = Limit> {
    let of = |name: &str| ctx.host.limits.declared.get(name).copied();
    NAMES.iter().filter_map(move |&(way, kind, name)| {
        Some(Limit { way, kind, value: of(name)?, name, cgroup: None })
    })
}

/// What cgroups set on a device that every byte must pass: any where there is one device
/// at the bottom, else only the file system's own.
fn by_cgroup<'a>(ctx: &'a Context, storage: &Storage) -> impl Iterator<Item = Limit> + 'a {
    let one = storage.leaves().count() == 1;
    let carries = |name: &str| storage.devices.iter().any(|d| d.over.iter().any(|o| o == name));
    let passed = storage.devices.iter().filter(|d| one || !carries(&d.name));
    let numbers: Vec<String> = passed.map(|d| d.number.clone()).collect();
    let limits = ctx.host.limits.io.get().map_or(&[][..], Vec::as_slice).iter();
    limits.filter(move |l| numbers.contains(&l.device)).flat_map(|l: &IoLimit| {
        let of = |way, kind| match (way, kind) {
            (Way::Read, Kind::Bytes) => l.read_bytes_per_s,
            (Way::Written, Kind::Bytes) => l.write_bytes_per_s,
            (Way::Read, Kind::Ios) => l.reads_per_s,
            (Way::Written, Kind::Ios) => l.writes_per_s,
        };
        NAMES.iter().filter_map(move |&(way, kind, name)| {
            let cgroup = Some(format!("{} on {}", l.source, l.device));
            Some(Limit { way, kind, value: of(way, kind)?, name, cgroup })
        })
    })
}

/// The most bytes that one counted I/O can hold.
///
/// # Errors
/// Where the system makes I/Os of its own of what the kernel asks for.
fn bytes_of_an_io(
    m: &Measurement,
    limit: &Limit,
    storage: Option<&Storage>,
) -> Result<f64, String> {
    let block = block_bytes(m).ok_or("the point has no block_size")?;
    let direct = Cached::of(m) == Cached::Direct;
    let one_each = commits(m) || is_random(m) && (direct || limit.way == Way::Read);
    if one_each || direct && (queue_depth(m) == 1 || limit.cgroup.is_some()) {
        return Ok(block);
    }
    if !direct {
        return Err("buffered I/O reaches the device in I/Os of the kernel's own size".to_owned());
    }
    // Neighbours in flight together are merged up to the device's largest request.
    let largest = storage
        .and_then(|s| s.leaves().filter_map(|d| d.request_bytes).max())
        .ok_or("how large a request may become by merging is not known")?;
    Ok(block.max(largest as f64))
}

/// The ceiling that a limit makes of this point, with its formula and inputs.
fn ceiling(ctx: &Context, m: &Measurement, limit: &Limit) -> Result<Ceiling, String> {
    let reads = read_share(m).ok_or("which part of the work reads is not known")?;
    let share = if limit.way == Way::Read { reads } else { 1.0 - reads };
    if share <= 0.0 {
        return Err(format!("{} does not bear on this kernel", limit.name));
    }
    let written_back = limit.way == Way::Written && Cached::of(m) != Cached::Direct;
    if written_back && limit.cgroup.is_some() && !commits(m) {
        return Err(
            "buffered writes are written back later, for cgroup v1 outside of the limit, so that \
             it makes no ceiling"
                .to_owned(),
        );
    }
    let source = match &limit.cgroup {
        None => (Provenance::Declared, format!("--limit {}", limit.name)),
        Some(file) => (Provenance::Reported, file.clone()),
    };
    let unit = if limit.kind == Kind::Bytes { "B/s" } else { "op/s" };
    let mut inputs = vec![input(limit.name, limit.value, unit, source.0, source.1)];
    let mut formula = limit.name.to_owned();
    let mut value = limit.value;
    let in_bytes = m.unit == Unit::BytePerSecond;
    if limit.kind == Kind::Ios && in_bytes {
        let bytes = bytes_of_an_io(m, limit, ctx.host.storage.get())?;
        value *= bytes;
        formula += " x io_bytes";
        let note = "the most that counts as one; a limit may count a large one several times";
        inputs.push(input("io_bytes", bytes, "B", Provenance::Reported, note));
    } else if limit.kind == Kind::Bytes && !in_bytes {
        let block = block_bytes(m).ok_or("the point has no block_size")?;
        value /= block;
        formula += " / block_size";
        let note = "an operation moves at least that";
        inputs.push(input("block_size", block, "B", Provenance::Declared, note));
    }
    if share < 1.0 {
        value /= share;
        formula += " / share";
        let note = format!("part of the work that is {}", limit.way.word());
        inputs.push(part(share, note));
    }
    Ok(Ceiling {
        id: DiskLimit.id().to_owned(),
        value,
        unit: m.unit.as_str().to_owned(),
        formula,
        inputs,
        uncertainty: uncertainty(m, limit),
    })
}

/// Relative uncertainty of what a limit lets through in a trial.
fn uncertainty(m: &Measurement, limit: &Limit) -> f64 {
    if limit.cgroup.is_none() {
        return PROMISE;
    }
    let seconds: Vec<f64> = m.trials.iter().map(|t| t.seconds).filter(|s| *s > 0.0).collect();
    median(&seconds).map_or(1.0, |s| (SLICE_S / s).max(LEAST))
}

/// A share of the work, from the trials themselves.
fn part(share: f64, note: String) -> Input {
    input("share", share, "", Provenance::Measured, note)
}

impl CeilingRule for DiskLimit {
    fn id(&self) -> &'static str {
        "disk.limit"
    }

    fn title(&self) -> &'static str {
        "Declared and cgroup I/O limits"
    }

    fn about(&self) -> &'static str {
        "The tightest of the limits that the user declares (--limit disk.read=160MB/s, disk.write, \
         disk.read_iops=3000, disk.write_iops) and those that cgroups set on the devices underneath \
         (io.max, blkio.throttle). Bytes a second stand as they are; I/Os a second count times the most \
         bytes that one may hold: the block, or for neighbouring blocks in flight together the largest \
         request. Providers count a large I/O several times, so that this is an upper bound. Reads and \
         writes each against their own part of a mix. Commits (disk.fsync) write more than one I/O \
         each: an upper bound too. Uncertainty: 5 % of what is declared, a promise in round figures; a \
         cgroup's limit is dealt out by slices of 100 ms, one of which a trial may find unspent: 0.1 s / \
         its duration, at least 1 %. A cgroup's limit makes no ceiling of buffered writes, which are \
         written back later (for cgroup v1 outside of it), nor anything here of warm reads."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        if Cached::of(m) == Cached::Warm {
            return Err("a warm cache answers in the device's place".to_owned());
        }
        let mut limits: Vec<Limit> = declared(ctx).collect();
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

    fn limiter(&self, ceiling: &Ceiling, _: &Capacity, share: &str) -> Limiter {
        let limit = ceiling.inputs.first();
        let declared = limit.filter(|i| i.source == Provenance::Declared);
        let resource = match declared {
            Some(limit) => format!("declared limit {}", limit.name),
            None => "cgroup I/O limit".to_owned(),
        };
        let figure = limit.map_or(String::new(), |i| {
            let unit = if i.unit == "B/s" { Unit::BytePerSecond } else { Unit::OpPerSecond };
            format!(": {} by {}", format_quantity(i.value, unit), i.note)
        });
        Limiter { resource, evidence: format!("{share}{figure}") }
    }
}

/// Why there is none, with what is not known.
fn no_limit(ctx: &Context) -> String {
    let io = &ctx.host.limits.io;
    match io.get() {
        Some(_) => "no limit is declared (--limit), nor set by a cgroup".to_owned(),
        None => format!(
            "no limit is declared (--limit), and whether a cgroup sets one is not known ({})",
            io.origin()
        ),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Host, Probe, Severity};

    use super::*;
    use crate::testing::{
        around, block_device, context, disk, each, fsync, host_with_disk, judged, policy,
        rand_read, spec, with_storage, with_values,
    };

    fn declaring(limits: &[(&str, f64)]) -> Host {
        let mut host = host_with_disk();
        host.limits.declared = limits.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        host
    }

    fn cgroup(device: &str) -> IoLimit {
        IoLimit {
            device: device.to_owned(),
            read_bytes_per_s: None,
            write_bytes_per_s: None,
            reads_per_s: None,
            writes_per_s: None,
            source: "/sys/fs/cgroup/io.max".to_owned(),
        }
    }

    fn limited(mut host: Host, limit: IoLimit) -> Host {
        host.limits.io = Probe::known(vec![limit], "test");
        host
    }

    fn on(host: &Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec(&m.kernel), policy());
        DiskLimit.derive(&context(host, &spec, &policy, &[]), m)
    }

    fn value(host: &Host, m: &Measurement) -> f64 {
        on(host, m).unwrap().value
    }

    #[test]
    fn the_tightest_of_the_declared_limits_counts() {
        let host = declaring(&[("disk.read", 160e6), ("disk.read_iops", 3000.0)]);
        assert_eq!(value(&host, &rand_read(32)), 3000.0 * 4096.0);
        assert_eq!(value(&host, &disk("seq_read", 1 << 20, "none")), 160e6);
        let c = on(&host, &rand_read(32)).unwrap();
        assert_eq!(c.formula, "disk.read_iops x io_bytes");
        assert_eq!(c.inputs[0].source, Provenance::Declared);
        let why = on(&host, &disk("seq_write", 1 << 20, "none")).unwrap_err();
        assert!(why.contains("disk.read does not bear"), "{why}");
    }

    #[test]
    fn a_mix_is_held_by_each_direction() {
        let mixed = disk("mixed", 4096, "none");
        let reads = read_share(&mixed).unwrap();
        let host = declaring(&[("disk.read", 70e6), ("disk.write", 70e6)]);
        assert!((value(&host, &mixed) - 70e6 / reads).abs() < 1.0);
        let host = declaring(&[("disk.write_iops", 300.0)]);
        assert!((value(&host, &mixed) - 300.0 * 4096.0 / (1.0 - reads)).abs() < 1.0);
        let copy = value(&host, &disk("read_write", 4096, "none"));
        assert!((copy - 2.0 * 300.0 * 4096.0).abs() < 1.0, "{copy}");
    }

    #[test]
    fn a_cgroup_counts_where_every_byte_passes_it() {
        let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
        let c = on(&limited(host_with_disk(), limit.clone()), &rand_read(1)).unwrap();
        assert_eq!((c.value, c.inputs[0].source), (50e6, Provenance::Reported));
        let elsewhere = IoLimit { device: "8:0".to_owned(), ..limit.clone() };
        assert!(on(&limited(host_with_disk(), elsewhere), &rand_read(1)).is_err());
        let array = |number: &str| {
            let host = with_storage(|s| {
                let mut top = block_device("md0", "9:0");
                top.over = vec!["vda".to_owned(), "vdb".to_owned()];
                s.devices.extend([block_device("vdb", "254:16"), top]);
            });
            limited(host, IoLimit { device: number.to_owned(), ..limit.clone() })
        };
        assert!(on(&array("254:0"), &rand_read(1)).is_err(), "one of two that share the bytes");
        assert_eq!(value(&array("9:0"), &rand_read(1)), 50e6);
    }

    #[test]
    fn merged_blocks_are_one_io_for_a_provider() {
        let deep = |depth: u64| {
            let mut m = disk("seq_read", 4096, "none");
            m.params = m.params.with("queue_depth", depth);
            m
        };
        let host = declaring(&[("disk.read_iops", 1000.0)]);
        assert_eq!(value(&host, &deep(1)), 4.096e6);
        assert_eq!(value(&host, &deep(8)), 1000.0 * 1_048_576.0);
        let limit = IoLimit { reads_per_s: Some(1000.0), ..cgroup("254:0") };
        assert_eq!(value(&limited(host_with_disk(), limit), &deep(8)), 4.096e6);
        let why = on(&host, &disk("seq_read", 8, "cold")).unwrap_err();
        assert!(why.contains("own size"), "{why}");
        let random = disk("rand_read", 8, "cold");
        assert_eq!(value(&host, &random), 8000.0, "each meets a page of its own");
    }

    #[test]
    fn commits_are_ios() {
        let host = declaring(&[("disk.write_iops", 5000.0), ("disk.write", 8.192e6)]);
        let c = on(&host, &fsync(1)).unwrap();
        assert_eq!((c.value, c.unit.as_str()), (2000.0, "op/s"));
        let limit = IoLimit { writes_per_s: Some(500.0), ..cgroup("254:0") };
        assert_eq!(value(&limited(host_with_disk(), limit), &fsync(1)), 500.0);
    }

    #[test]
    fn what_a_limit_does_not_hold_has_none() {
        let both = IoLimit {
            write_bytes_per_s: Some(50e6),
            read_bytes_per_s: Some(50e6),
            ..cgroup("254:0")
        };
        let host = limited(host_with_disk(), both);
        let why = |m: &Measurement| on(&host, m).unwrap_err();
        assert!(why(&disk("seq_read", 4096, "warm")).contains("warm"));
        assert!(why(&disk("seq_write", 4096, "cold")).contains("written back later"));
        let unknown = on(&host_with_disk(), &rand_read(1)).unwrap_err();
        assert!(unknown.contains("--limit") && unknown.contains("not part of the test"));
        let declared = declaring(&[("disk.write", 50e6)]);
        assert_eq!(value(&declared, &disk("seq_write", 4096, "cold")), 50e6);
    }

    #[test]
    fn a_trial_may_find_a_slice_unspent() {
        let lasting = |s: f64| each(rand_read(1), |_, t| t.seconds = s);
        let of = |host: &Host, s: f64| on(host, &lasting(s)).unwrap().uncertainty;
        let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
        let host = limited(host_with_disk(), limit);
        assert_eq!([of(&host, 0.1), of(&host, 1.0), of(&host, 100.0)], [1.0, 0.1, 0.01]);
        let host = declaring(&[("disk.read", 160e6)]);
        assert_eq!([of(&host, 0.1), of(&host, 100.0)], [0.05, 0.05], "a promise");
    }

    #[test]
    fn near_it_the_limit_is_the_limiter_and_far_above_the_number_is_invalid() {
        let at = |host: &Host, rate: f64| {
            let mut m = with_values(rand_read(32), &around(rate));
            for (t, old) in m.trials.iter_mut().zip(rand_read(32).trials) {
                (t.device, t.file, t.seconds) = (old.device, old.file, 2.0);
                t.work = t.value * t.seconds;
            }
            let scale = |t: &mut proofmark_model::Trial| {
                let (device, file) = (t.device.as_mut().unwrap(), t.file.as_mut().unwrap());
                (file.read_bytes, device.read_bytes) = (t.work as u64, t.work as u64);
                device.own_read_bytes = Some(t.work as u64);
            };
            judged(host, each(m, |_, t| scale(t)), &[])
        };
        let declared = declaring(&[("disk.read_iops", 3000.0)]);
        let limiter = at(&declared, 3010.0 * 4096.0).limiter.unwrap();
        assert_eq!(limiter.resource, "declared limit disk.read_iops");
        assert!(limiter.evidence.contains("3.000 kop/s"), "{}", limiter.evidence);
        let limit = IoLimit { read_bytes_per_s: Some(50e6), ..cgroup("254:0") };
        let limiter = at(&limited(host_with_disk(), limit), 49.9e6).limiter.unwrap();
        assert_eq!(limiter.resource, "cgroup I/O limit");
        assert!(limiter.evidence.contains("io.max"), "{}", limiter.evidence);
        let above = at(&declared, 3400.0 * 4096.0);
        let beyond = above.findings.iter().find(|f| f.check == "above_ceiling").unwrap();
        assert_eq!(beyond.severity, Severity::Invalid);
    }
}
