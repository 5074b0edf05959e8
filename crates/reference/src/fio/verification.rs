//! What a report holds about devices: what shows that the page cache was measured as a disk.

use proofmark_model::{DeviceTraffic, FileState, is_quantity};

use super::json::Disk;
use crate::Malformed;

/// Seconds at the end of a run of which fio may have missed the counters: it reads them every
/// quarter of a second (`DISK_UTIL_MSEC` of its diskutil.h), if it is given its CPU.
const MISSED_S: f64 = 0.5;

/// Share of the bytes that counters which have seen all of a run show at least.
const ALL: f64 = 0.99;

/// Whether the counters of a run of so many seconds prove something: they show what was asked, or
/// lack more than fio can have missed.
pub(super) fn is_evidence(device: &DeviceTraffic, file: &FileState, seconds: f64) -> bool {
    let missed = (MISSED_S / seconds).clamp(0.0, 1.0);
    let ways = [
        (file.asked_read_bytes, device.read_bytes),
        (file.asked_written_bytes, device.written_bytes),
    ];
    let share = |(asked, moved): (u64, u64)| moved as f64 / asked.max(1) as f64;
    let mut shares = ways.into_iter().filter(|(asked, _)| *asked > 0).map(share);
    let short = |share: f64| share < ALL;
    shares.clone().any(|share| share < (1.0 - missed) * ALL) || !shares.any(short)
}

/// What the devices at the bottom did; `None` where fio does not report their bytes. `busy_s` is a
/// share of the time here.
pub(super) fn device(disks: &[Disk], line: usize) -> Result<Option<DeviceTraffic>, Malformed> {
    let large = || Malformed::at(line, "a counter of disk_util is out of range");
    let mut all = DeviceTraffic::default();
    let mut seen = false;
    for disk in disks.iter().filter(|d| d.aggr_read_ios.is_none()) {
        let (Some(read), Some(written)) = (disk.read_sectors, disk.write_sectors) else {
            return Ok(None);
        };
        let add = |sum: u64, more: u64, times: u64| {
            more.checked_mul(times).and_then(|more| sum.checked_add(more)).ok_or_else(large)
        };
        all.read_bytes = add(all.read_bytes, read, 512)?;
        all.written_bytes = add(all.written_bytes, written, 512)?;
        all.reads = add(all.reads, disk.read_ios, 1)?;
        all.writes = add(all.writes, disk.write_ios, 1)?;
        if disk.util.is_sign_negative() || !is_quantity(disk.util) {
            return Err(large());
        }
        all.busy_s = all.busy_s.max(disk.util / 100.0);
        all.in_flight_s += disk.in_queue as f64 / 1e3;
        seen = true;
    }
    Ok(seen.then_some(all))
}
