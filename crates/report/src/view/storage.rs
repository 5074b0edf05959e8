//! The folder whose disk is measured, what lies under it, and what limits its use.

use proofmark_model::{BlockDevice, Host, IoLimit, Limit, Storage, StorageKind, Unit, format_size};

use super::facts::{Fact, quantity};
use super::text::clean;

/// The folder, its file system and the devices down to the hardware.
pub fn facts(host: &Host) -> Vec<Fact> {
    let probe = &host.storage;
    let mut facts = vec![Fact::probe("folder", probe, |s| s.path.clone())];
    let Some(s) = probe.get() else { return facts };
    facts.extend([
        Fact::probe("file system", probe, |s| format!("{}, {}", s.file_system, held_by(s))),
        Fact::probe("mounted at", probe, |s| format!("{} ({})", s.mount_point, s.mount_options)),
        Fact::probe("size", probe, |s| format_size(s.total_bytes)),
        Fact::probe("free for this user", probe, |s| format_size(s.free_bytes)),
    ]);
    if s.devices.is_empty() {
        facts.push(Fact::unknown("devices", "no block device is known under this file system"));
    }
    for d in &s.devices {
        facts.push(Fact::probe(&format!("device {}", d.name), probe, |_| device(d)));
        match &d.link {
            Some(link) => facts.push(Fact {
                source: clean(&link.source),
                ..Fact::plain(
                    &format!("link of {}", d.name),
                    &format!("{}, {}", link.name, quantity(link.bytes_per_s, Unit::BytePerSecond)),
                )
            }),
            None if d.over.is_empty() => {
                let why = "neither a SATA nor a PCIe link is described";
                facts.push(Fact::unknown(&format!("link of {}", d.name), why));
            }
            None => {}
        }
    }
    facts
}

/// What may be done to the devices, and how.
pub fn limits(host: &Host) -> Vec<Fact> {
    let l = &host.limits;
    let mut facts = match l.io.get() {
        Some(limits) if !limits.is_empty() => limits.iter().map(cgroup_limit).collect(),
        _ => vec![Fact::probe("I/O limits", &l.io, |_| "none".to_owned())],
    };
    for (name, value) in &l.declared {
        let unit = Limit::find(name).map_or(Unit::BytePerSecond, Limit::unit);
        facts.push(Fact {
            source: "declared with --limit".to_owned(),
            ..Fact::plain(&format!("declared {name}"), &quantity(*value, unit))
        });
    }
    facts.push(Fact::probe("io_uring", &l.io_uring, |allowed| {
        if *allowed { "may be used" } else { "may not be used" }.to_owned()
    }));
    facts
}

fn held_by(s: &Storage) -> &'static str {
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
    let over =
        if d.over.is_empty() { String::new() } else { format!(" over {}", d.over.join(", ")) };
    let mut parts = vec![format!("{}{over}", d.kind)];
    let mut add = |part: Option<String>| parts.extend(part);
    add(d.model.as_ref().map(|m| format!("model {m}")));
    add(d.transport.clone());
    add(d.size_bytes.map(format_size));
    add(match (d.logical_sector_bytes, d.physical_sector_bytes) {
        (Some(l), Some(p)) if l != p => {
            Some(format!("sectors of {}, {} physical", format_size(l), format_size(p)))
        }
        (Some(s), _) | (None, Some(s)) => Some(format!("sectors of {}", format_size(s))),
        (None, None) => None,
    });
    add(d.request_bytes.map(|b| format!("requests up to {}", format_size(b))));
    add(d.scheduler.as_ref().map(|s| format!("scheduler {s}")));
    add(d.volatile_cache.map(|volatile| {
        match (volatile, d.fua) {
            (false, _) => "no volatile write cache",
            (true, Some(true)) => "volatile write cache, can write through it (FUA)",
            (true, _) => "volatile write cache",
        }
        .to_owned()
    }));
    add(d.rotational.map(|turns| {
        if turns { "reported as rotational" } else { "reported as non-rotational" }.to_owned()
    }));
    add(d.backing.as_ref().map(|f| format!("backed by {f}")));
    parts.join("; ")
}

fn cgroup_limit(limit: &IoLimit) -> Fact {
    let bytes =
        |v: Option<f64>, what| v.map(|v| format!("{what} {}", quantity(v, Unit::BytePerSecond)));
    let count =
        |v: Option<f64>, what| v.map(|v| format!("{} {what} per second", super::num::plain(v)));
    let parts: Vec<String> = [
        bytes(limit.read_bytes_per_s, "read"),
        bytes(limit.write_bytes_per_s, "write"),
        count(limit.reads_per_s, "reads"),
        count(limit.writes_per_s, "writes"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let value = if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
    Fact {
        source: clean(&limit.source),
        ..Fact::plain(&format!("I/O limit of {}", clean(&limit.device)), &value)
    }
}
