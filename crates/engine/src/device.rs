//! The traffic of block devices during a trial, from counters read before and after it.
//!
//! Sources: Linux `Documentation/admin-guide/iostats.rst` (/proc/diskstats: sectors
//! of 512 bytes whatever the device's own are, times in milliseconds) and
//! `Documentation/filesystems/proc.rst` (/proc/PID/io).

use std::fs;

use proofmark_model::DeviceTraffic;

const SECTOR: u64 = 512;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeviceCounters {
    /// Counts of each device, in the requested order; `None` if it is not listed.
    devices: Vec<Option<Counts>>,
    /// Bytes that devices read and wrote for this process.
    own: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    reads: u64,
    read_sectors: u64,
    writes: u64,
    written_sectors: u64,
    busy_ms: u64,
    /// Time of reads and of writes. Discards do not count: devices do them at the same time.
    in_flight_ms: [u64; 2],
    flushes: Option<u64>,
}

impl DeviceCounters {
    /// Reads the counters; `None` without devices.
    pub fn read(names: &[String]) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let own = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let devices = names.iter().map(|name| counts(&text, name)).collect();
        Some(Self { devices, own: bytes_of_process(&own) })
    }

    /// The traffic since `earlier`; `None` unless every device reports it.
    pub fn since(&self, earlier: &Self) -> Option<DeviceTraffic> {
        let mut sum = DeviceTraffic::default();
        for (later, earlier) in self.devices.iter().zip(&earlier.devices) {
            let (later, earlier) = ((*later)?, (*earlier)?);
            // Linux keeps times in 32 bits: they wrap after at most 50 days.
            let ms = |of: &dyn Fn(&Counts) -> u64| {
                f64::from((of(&later) as u32).wrapping_sub(of(&earlier) as u32)) * 1e-3
            };
            let grown = |of: fn(&Counts) -> u64| of(&later).saturating_sub(of(&earlier));
            sum.read_bytes += grown(|c| c.read_sectors) * SECTOR;
            sum.written_bytes += grown(|c| c.written_sectors) * SECTOR;
            sum.reads += grown(|c| c.reads);
            sum.writes += grown(|c| c.writes);
            sum.busy_s = sum.busy_s.max(ms(&|c| c.busy_ms));
            sum.in_flight_s += (0..2).map(|kind| ms(&|c| c.in_flight_ms[kind])).sum::<f64>();
            let flushes = later.flushes.zip(earlier.flushes).map(|(l, e)| l.saturating_sub(e));
            sum.flushes = flushes.map(|f| f + sum.flushes.unwrap_or(0)).or(sum.flushes);
        }
        if let (Some(later), Some(earlier)) = (self.own, earlier.own) {
            sum.own_read_bytes = Some(later.0.saturating_sub(earlier.0));
            sum.own_written_bytes = Some(later.1.saturating_sub(earlier.1));
        }
        Some(sum)
    }
}

/// Bytes that a disk read and wrote since the machine started.
pub(crate) fn bytes_of_disk(text: &str, name: &str) -> Option<u64> {
    let counts = counts(text, name)?;
    counts.read_sectors.checked_add(counts.written_sectors)?.checked_mul(SECTOR)
}

fn counts(text: &str, name: &str) -> Option<Counts> {
    let line = text.lines().find(|l| l.split_ascii_whitespace().nth(2) == Some(name))?;
    let fields: Vec<u64> =
        line.split_ascii_whitespace().skip(3).map_while(|f| f.parse().ok()).collect();
    // reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, busy ms, weighted
    // ms; discards in four; flushes, ms.
    let [reads, _, read_sectors, read_ms, writes, _, written_sectors, write_ms, _, busy_ms, _] =
        fields.get(..11)?.try_into().ok()?;
    let in_flight_ms = [read_ms, write_ms];
    let flushes = fields.get(15).copied();
    Some(Counts { reads, read_sectors, writes, written_sectors, busy_ms, in_flight_ms, flushes })
}

/// Bytes that devices read and wrote for a process, from the text of its io file in /proc.
pub fn bytes_of_process(text: &str) -> Option<(u64, u64)> {
    let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse().ok());
    Some((field("read_bytes:")?, field("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
                        8       0 sda 10 1 80 7 20 2 160 9 0 30 40 5 6 7 8 3 4\n \
                        8       1 sda1 1 0 8 1 2 0 16 1 0 2 2\n";

    fn read(text: &str, names: &[&str]) -> DeviceCounters {
        counters(names.iter().map(|n| counts(text, n)).collect())
    }

    fn counters(devices: Vec<Option<Counts>>) -> DeviceCounters {
        DeviceCounters { devices, own: None }
    }

    #[test]
    fn sectors_of_512_bytes_and_milliseconds() {
        let zero = counters(vec![Some(Counts { flushes: Some(0), ..Counts::default() })]);
        let sda = read(TEXT, &["sda"]).since(&zero).unwrap();
        assert_eq!((sda.read_bytes, sda.written_bytes), (80 * 512, 160 * 512));
        assert_eq!((sda.reads, sda.writes, sda.flushes), (10, 20, Some(3)));
        assert_eq!((sda.busy_s, sda.in_flight_s), (0.03, 0.007 + 0.009));
        assert_eq!(sda.own_read_bytes, None);
    }

    #[test]
    fn times_wrap_after_32_bits() {
        let at = |busy_ms| counters(vec![Some(Counts { busy_ms, ..Counts::default() })]);
        let traffic = at(5).since(&at(u64::from(u32::MAX) - 4)).unwrap();
        assert!((traffic.busy_s - 0.010).abs() < 1e-9, "{}", traffic.busy_s);
    }

    #[test]
    fn devices_add_up_and_the_busiest_counts() {
        let zero = counters(vec![Some(Counts::default()); 2]);
        let both = read(TEXT, &["sda", "sda1"]).since(&zero).unwrap();
        assert_eq!((both.read_bytes, both.busy_s), (88 * 512, 0.03));
        assert_eq!(both.flushes, None, "sda1 does not report, nor did sda before");
        assert_eq!(read(TEXT, &["sda", "sdb"]).since(&zero), None, "one of them is not listed");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9 :\n]{0,200}") {
            let _ = counts(&text, "sda");
            let _ = bytes_of_process(&text);
        }
    }
}
