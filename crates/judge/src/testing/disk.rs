//! A healthy virtual disk and healthy results on it.
//!
//! The disk: ext4 on a virtio disk with a volatile write cache, 76 us per I/O, at most 100 000 IOPS
//! and 1 GB/s.

use proofmark_model::testing::{block_device, storage};
use proofmark_model::{
    DeviceTraffic, FileState, Flush, Host, IoLimit, Latency, Measurement, Order, Params, Probe,
    Storage, Unit, key,
};

use super::{around, each, host_with_caches, measurement, unpin, verified};
use crate::disk::{in_flight_at_most, ios};

/// Seconds from an I/O's submission to its completion.
const IO_S: f64 = 76e-6;

/// The machine with its disk.
pub(crate) fn host_with_disk() -> Host {
    let mut host = host_with_caches();
    host.storage = Probe::known(storage(vec![block_device("vda", "254:0")]), "test");
    host
}

/// Gives the machine another storage.
pub(crate) fn with_storage(change: impl FnOnce(&mut Storage)) -> Host {
    let mut host = host_with_disk();
    host.storage = host.storage.map(|mut storage| {
        change(&mut storage);
        storage
    });
    host
}

/// A cgroup's file for a device, without a limit.
pub(crate) fn io_limit(device: &str) -> IoLimit {
    IoLimit {
        device: device.to_owned(),
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        reads_per_s: None,
        writes_per_s: None,
        source: "/sys/fs/cgroup/io.max".to_owned(),
    }
}

/// A result on a file of 1 GiB with one thread: direct at depth 1 (`none`), or buffered (`cold`,
/// `warm`).
pub(crate) fn disk(name: &str, block: u64, cache: &str) -> Measurement {
    let direct = cache == "none";
    let mut params = Params::default()
        .with(key::THREADS, 1)
        .with(key::BLOCK_SIZE, block)
        .with(key::QUEUE_DEPTH, 1)
        .with(key::FILE_SIZE, 1 << 30)
        .with(key::ENGINE, "psync")
        .with(key::DIRECT, if direct { "on" } else { "off" })
        .with(key::CACHE, cache)
        .with_auto(key::AMOUNT);
    if !name.ends_with("read") {
        params = params.with(key::FLUSH, "end");
    }
    let reads = match name {
        "seq_read" | "rand_read" => 100,
        "read_write" => 50,
        "mixed" => 70,
        _ => 0,
    };
    if name == "mixed" {
        params = params.with(key::READS, 70);
    }
    let rate = if cache == "warm" { 5e9 } else { (block as f64 / IO_S).min(1e9) };
    let workload = format!("disk.{name}");
    let m = measurement(&workload, params, &around(rate));
    let m = on_device(m, reads, direct);
    if cache == "warm" {
        return each(m, |_, t| {
            t.conditions.own_cpu_s = Some(t.seconds);
            let device = t.device.as_mut().unwrap();
            (device.read_bytes, device.reads, device.own_read_bytes) = (0, 0, Some(0));
            (device.busy_s, device.in_flight_s) = (0.0, 0.0);
            t.file.as_mut().unwrap().cached = Some(1.0);
        });
    }
    m
}

/// One result of each kind.
pub(crate) fn healthy_disk() -> Vec<Measurement> {
    vec![
        rand_read(1),
        rand_read(32),
        disk("seq_read", 1 << 20, "none"),
        disk("seq_write", 1 << 20, "none"),
        disk("read_write", 1 << 20, "none"),
        disk("mixed", 4096, "none"),
        disk("seq_read", 8, "cold"),
        disk("seq_write", 8, "cold"),
        disk("seq_read", 8, "warm"),
        fsync(1),
        fsync(8),
    ]
}

/// Direct random reads of 4 KiB on one thread: each depth gains, up to 100 000 per second.
pub(crate) fn rand_read(depth: u64) -> Measurement {
    let mut m = disk("rand_read", 4096, "none");
    let ios = (depth as f64 / IO_S).min(1e5);
    m = super::with_values(m, &around(ios * 4096.0));
    m.params = m.params.with(key::QUEUE_DEPTH, depth);
    if depth > 1 {
        m.params = m.params.with(key::ENGINE, "io_uring");
    }
    let all = m.trials.iter().map(|t| t.work).sum::<f64>() / 4096.0;
    m.latency = Some(latency(depth as f64 / ios, all.round() as u64));
    let mut m = on_device(m, 100, true);
    m = each(m, |_, t| {
        t.device.as_mut().unwrap().in_flight_s = 0.95 * t.seconds * depth as f64;
    });
    m
}

/// A disk result with the latency that follows from its rate.
pub(super) fn timed(mut m: Measurement) -> Measurement {
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let all = ios(&m, m.trials.iter().map(|t| t.work).sum());
    let most = in_flight_at_most(&m);
    if let (Some(all), Some(latency)) = (all, &mut m.latency) {
        *latency = self::latency(most * seconds / all, all.round() as u64);
    }
    m
}

/// Appends of 4 KiB, each committed, 4000 per second per thread.
pub(crate) fn fsync(threads: u64) -> Measurement {
    let params = Params::default()
        .with(key::THREADS, threads)
        .with(key::MODE, "append")
        .with(key::METHOD, "fdatasync")
        .with(key::BLOCK_SIZE, 4096)
        .with(key::FILE_SIZE, 64 << 20)
        .with_auto(key::AMOUNT);
    let rate = 4000.0 * threads as f64;
    let m = measurement("disk.fsync", params, &around(rate));
    let mut m = on_device(m, 0, false);
    let all = m.trials.iter().map(|t| t.work).sum::<f64>();
    m.latency = Some(latency(250e-6, all.round() as u64));
    // The journal doubles the written bytes.
    each(m, |_, t| {
        let commits = t.work as u64;
        let device = t.device.as_mut().unwrap();
        device.written_bytes = device.written_bytes.saturating_mul(2);
        device.flushes = Some(commits);
    })
}

/// Changes the file of every trial.
pub(crate) fn each_file(m: Measurement, spoil: impl Fn(usize, &mut FileState)) -> Measurement {
    each(m, |i, t| spoil(i, t.file.as_mut().unwrap()))
}

/// Changes the device's counters of every trial.
pub(crate) fn each_device(
    m: Measurement,
    spoil: impl Fn(usize, &mut DeviceTraffic),
) -> Measurement {
    each(m, |i, t| spoil(i, t.device.as_mut().unwrap()))
}

/// Fills in the reports of file and device for each trial.
fn on_device(m: Measurement, reads_percent: u64, direct: bool) -> Measurement {
    let block =
        if m.unit == Unit::BytePerSecond { 1 } else { m.params.get(key::BLOCK_SIZE).unwrap() };
    let depth = m.params.get(key::QUEUE_DEPTH);
    let (threads, size) = (m.params.threads(), m.params.get(key::BLOCK_SIZE).unwrap().max(1));
    let order = match m.workload.as_str() {
        "disk.rand_read" | "disk.rand_write" | "disk.mixed" => Order::Rand,
        _ => Order::Seq,
    };
    let flush = match (reads_percent, m.workload.as_str()) {
        (100, _) => Flush::Never,
        (_, "disk.fsync") => Flush::Each,
        _ => Flush::End,
    };
    let m = each(m, |_, t| {
        let all = (t.work * block as f64) as u64;
        let read = (u128::from(all) * u128::from(reads_percent) / 100) as u64;
        let written = all - read;
        unpin(&mut t.conditions, 0.2 * t.seconds);
        t.file = Some(FileState {
            flush_every_bytes: None,
            asked_read_bytes: read,
            asked_written_bytes: written,
            in_flight: depth.map(|depth| 0.99 * depth as f64),
            order,
            flush,
            direct: Some(direct),
            size_bytes: 1 << 30,
            unwritten: Some(0.0),
            cached: Some(0.0),
            entropy_bits: Some(7.997),
        });
        t.device = Some(DeviceTraffic {
            read_bytes: read,
            written_bytes: written,
            reads: read / size,
            writes: written / size,
            flushes: Some(u64::from(written > 0)),
            busy_s: 0.95 * t.seconds,
            in_flight_s: 0.95 * t.seconds * threads as f64,
            own_read_bytes: Some(read),
            own_written_bytes: Some(written),
        });
    });
    let m = match m.latency {
        None => timed(Measurement { latency: Some(latency(IO_S, 10_000)), ..m }),
        Some(_) => m,
    };
    verified(m, "device sectors", block as f64)
}

pub(super) fn latency(mean: f64, count: u64) -> Latency {
    Latency {
        unit: "s".to_owned(),
        count,
        min: 0.8 * mean,
        mean,
        p50: mean,
        p90: Some(1.1 * mean),
        p99: Some(1.5 * mean),
        p999: None,
        max: 3.0 * mean,
        ci95: proofmark_model::PercentileIntervals::default(),
        buckets: Vec::new(),
    }
}
