//! The measured folder, its block devices, and the limits of their use.

use proofmark_model::{BlockDevice, Host, IoLimit, Limit, Storage, StorageKind, Unit, format_size};

use super::facts::{Fact, quantity};
use super::num::plain;
use super::text::{enclosed, joined};

/// The folder, its file system and the devices down to the hardware.
pub fn facts(host: &Host) -> Vec<Fact> {
    let probe = &host.storage;
    let mut facts = vec![Fact::probe("folder", probe, |s| s.path.clone())];
    let Some(s) = probe.get() else { return facts };
    facts.extend([
        Fact::probe("file system", probe, |s| format!("{}, {}", s.file_system, storage_words(s))),
        Fact::probe("mounted at", probe, |s| format!("{} ({})", s.mount_point, s.mount_options)),
        Fact::probe("size", probe, |s| format_size(s.total_bytes)),
        Fact::probe("free for this user", probe, |s| format_size(s.free_bytes)),
    ]);
    if s.devices.is_empty() {
        facts.push(Fact::new("devices", None, "no block device is known under this file system"));
    }
    for d in &s.devices {
        facts.push(Fact::probe(&format!("device {}", d.name), probe, |_| device(d)));
        let name = format!("link of {}", d.name);
        if let Some(link) = &d.link {
            let rate = quantity(link.bytes_per_s, Unit::BytePerSecond);
            let value = format!("{}, {rate}", link.name);
            facts.push(Fact::new(&name, Some(&value), &link.source));
        } else if d.over.is_empty() {
            facts.push(Fact::new(&name, None, "the system reports no SATA or PCIe link"));
        }
    }
    facts
}

/// Limits of the I/O, and whether io_uring is allowed.
pub fn limits(host: &Host) -> Vec<Fact> {
    let l = &host.limits;
    let mut facts = match l.io.get() {
        Some(limits) if !limits.is_empty() => limits.iter().map(cgroup_limit).collect(),
        _ => vec![Fact::probe("I/O limits", &l.io, |_| "none".to_owned())],
    };
    for (name, value) in &l.declared {
        let unit = Limit::find(name).map_or(Unit::BytePerSecond, Limit::unit);
        let value = quantity(*value, unit);
        facts.push(Fact::new(&format!("declared {name}"), Some(&value), "declared with --limit"));
    }
    facts.push(Fact::probe("io_uring", &l.io_uring, |allowed| {
        if *allowed { "allowed" } else { "not allowed" }.to_owned()
    }));
    facts
}

fn storage_words(s: &Storage) -> &'static str {
    match s.kind {
        StorageKind::Block => "on block devices",
        StorageKind::Memory => "in memory, not on a disk",
        StorageKind::Network => "on a network server, not on a local disk",
        StorageKind::Layered => "on another file system, whose device is not known",
        StorageKind::Unknown => "its storage is not known",
    }
}

/// `partition of sda, 931.5 GiB, sectors of 512 B (4 KiB physical), ...`.
fn device(d: &BlockDevice) -> String {
    let [logical, physical] =
        [d.logical_sector_bytes, d.physical_sector_bytes].map(|bytes| bytes.map(format_size));
    let sectors = logical.as_ref().or(physical.as_ref()).map(|size| match &physical {
        Some(physical) if physical != size => format!("sectors of {size}, {physical} physical"),
        _ => format!("sectors of {size}"),
    });
    let cache = d.volatile_cache.map(|volatile| match (volatile, d.fua) {
        (false, _) => "no volatile write cache",
        (true, Some(true)) => "volatile write cache, can write through it (FUA)",
        (true, _) => "volatile write cache",
    });
    let turns = |turns| if turns { "reported as rotational" } else { "reported as non-rotational" };
    let parts = [
        Some(format!("{}{}", d.kind, enclosed(" over ", &d.over.join(", "), ""))),
        d.model.as_ref().map(|m| format!("model {m}")),
        d.transport.clone(),
        d.size_bytes.map(format_size),
        sectors,
        d.request_bytes.map(|b| format!("requests up to {}", format_size(b))),
        d.scheduler.as_ref().map(|s| format!("scheduler {s}")),
        cache.map(str::to_owned),
        d.rotational.map(|r| turns(r).to_owned()),
        d.backing.as_ref().map(|f| format!("backed by {f}")),
    ];
    joined(parts.into_iter().flatten(), "; ")
}

fn cgroup_limit(limit: &IoLimit) -> Fact {
    let bytes =
        |v: Option<f64>, what| v.map(|v| format!("{what} {}", quantity(v, Unit::BytePerSecond)));
    let count = |v: Option<f64>, what| v.map(|v| format!("{} {what} per second", plain(v)));
    let parts = [
        bytes(limit.read_bytes_per_s, "read"),
        bytes(limit.write_bytes_per_s, "write"),
        count(limit.reads_per_s, "reads"),
        count(limit.writes_per_s, "writes"),
    ];
    let value = joined(parts.into_iter().flatten(), ", ");
    let value = if value.is_empty() { "none" } else { &value };
    Fact::new(&format!("I/O limit of {}", limit.device), Some(value), &limit.source)
}
