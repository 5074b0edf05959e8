//! Storage under a folder: its file system, the block devices down to the hardware, and the traffic
//! that those devices report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Limit;

/// The place where the disk subsystem works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The folder, absolute.
    pub path: String,
    /// File system as the kernel names it: `ext4`, `tmpfs`, `overlay`, `nfs4`.
    pub file_system: String,
    /// Type of storage that holds its data.
    pub kind: StorageKind,
    /// Mount point.
    pub mount_point: String,
    /// Mount options, as the kernel lists them.
    pub mount_options: String,
    /// Size of the file system in bytes.
    pub total_bytes: u64,
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// The block devices, from the file system's own down; empty where there are none or they are
    /// unknown.
    pub devices: Vec<BlockDevice>,
}

impl Storage {
    /// Returns the devices at the bottom, which no other device of the list carries. Their counters
    /// show what reached the hardware, as far as this system sees it.
    pub fn leaves(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.iter().filter(|d| d.over.is_empty())
    }

    /// Returns the smallest block in bytes that every device can handle without a read of the rest
    /// of a sector.
    pub fn sector_bytes(&self) -> Option<u64> {
        self.devices.iter().filter_map(|d| d.logical_sector_bytes).max()
    }
}

/// The type of storage that holds the data of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StorageKind {
    /// Block devices that are not memory.
    Block,
    /// Memory: tmpfs, ramfs, a RAM disk, zram, or a loop device over one of these.
    Memory,
    /// A server on the network.
    Network,
    /// Another file system, whose device is unknown.
    Layered,
    /// Unknown type.
    Unknown,
}

/// One block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// The kernel's name, as in /proc/diskstats: `sda1`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Major and minor number: `8:1`.
    pub number: String,
    /// Type: `disk`, `partition`, `device mapper`, `RAID`, `loop`, `zram`, `RAM disk`.
    pub kind: String,
    /// Names of the devices that carry it; empty at the bottom.
    pub over: Vec<String>,
    /// Model, as the device reports it.
    pub model: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Smallest block of the device, in bytes.
    pub logical_sector_bytes: Option<u64>,
    /// Block that the device writes without a read of the rest of it, in bytes.
    pub physical_sector_bytes: Option<u64>,
    /// Largest request that the kernel sends it, in bytes.
    pub request_bytes: Option<u64>,
    /// True if the device reports that it rotates; a virtual disk's report is not evidence.
    pub rotational: Option<bool>,
    /// True if writes that it reports as complete may still be in its own volatile cache, by the
    /// kernel's setting or by its driver.
    pub volatile_cache: Option<bool>,
    /// True if the kernel was set to assume no such cache (queue/write_cache) while the driver
    /// reports one: flushes do not reach the device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flushes_withheld: bool,
    /// True if it can make a single write durable without a flush of that cache (FUA).
    pub fua: Option<bool>,
    /// The kernel's I/O scheduler for it.
    pub scheduler: Option<String>,
    /// Attachment: `sata`, `nvme`, `virtio`, `usb`, `scsi`, `mmc`, `memory`.
    pub transport: Option<String>,
    /// The link to it, where its rate is known.
    pub link: Option<Link>,
    /// The file behind a loop device.
    pub backing: Option<String>,
    /// True if a loop device reads its file through the page cache, whatever is requested of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached_backing: bool,
}

/// A link with its rate after coding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Name, such as `SATA 6.0 Gbit/s` or `PCIe 8.0 GT/s x4`.
    pub name: String,
    /// Bytes per second that it carries after coding.
    pub bytes_per_s: f64,
    /// Source of the rate.
    pub source: String,
}

/// A cgroup's limit on a device: the tightest of this process's cgroup and those above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoLimit {
    /// Major and minor number of the device: `8:0`.
    pub device: String,
    /// Maximum bytes per second read.
    pub read_bytes_per_s: Option<f64>,
    /// Maximum bytes per second written.
    pub write_bytes_per_s: Option<f64>,
    /// Maximum reads per second.
    pub reads_per_s: Option<f64>,
    /// Maximum writes per second.
    pub writes_per_s: Option<f64>,
    /// The file with the limit.
    pub source: String,
}

impl IoLimit {
    /// Returns the maximum that it sets for that limit, in the limit's unit; `None` where it sets
    /// none.
    pub fn maximum(&self, limit: Limit) -> Option<f64> {
        match limit {
            Limit::DiskRead => self.read_bytes_per_s,
            Limit::DiskWrite => self.write_bytes_per_s,
            Limit::DiskReadIops => self.reads_per_s,
            Limit::DiskWriteIops => self.writes_per_s,
            Limit::MemoryDram | Limit::NetworkSend | Limit::NetworkReceive => None,
        }
    }
}

/// Traffic of the devices at the bottom during a trial, by their own counters (/proc/diskstats),
/// all together, and the I/O of this process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTraffic {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Reads completed, after merging.
    pub reads: u64,
    /// Writes completed, after merging.
    pub writes: u64,
    /// Flushes of the device's cache; writes with FUA are not counted.
    pub flushes: Option<u64>,
    /// Seconds in which at least one I/O was in flight: the busiest device's.
    pub busy_s: f64,
    /// Seconds that reads and writes spent in flight, added up; over the trial's duration, the mean
    /// number in flight. Discards do not count: devices do them in parallel.
    pub in_flight_s: f64,
    /// Bytes that this process had devices read (/proc/self/io).
    pub own_read_bytes: Option<u64>,
    /// Bytes that this process had devices write, or made dirty.
    pub own_written_bytes: Option<u64>,
}

/// The order of successive blocks of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Ascending offsets.
    #[default]
    Seq,
    /// An order without a pattern, another in each pass.
    Rand,
}

/// The time of the flush to stable storage, in the timed part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Flush {
    /// Never.
    #[default]
    Never,
    /// Once per thread, after its last write.
    End,
    /// After each write, as a commit.
    Each,
    /// Each write itself, to a file that is open with O_DSYNC.
    Dsync,
}

/// A trial's use of the workload's own file, and the file's state after the trial. `None`: the
/// system does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileState {
    /// Bytes that the workload requested to read.
    pub asked_read_bytes: u64,
    /// Bytes that the workload requested to write.
    pub asked_written_bytes: u64,
    /// Mean number of I/Os that each thread had in flight, from right before the submission until
    /// the thread saw the completion; null where it has no queue, or did not time each I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<f64>,
    /// Order in which each thread took its blocks.
    pub order: Order,
    /// Time of the flushes.
    pub flush: Flush,
    /// Bytes that were written between two flushes, where each flush is for several writes.
    #[serde(default)]
    pub flush_every_bytes: Option<u64>,
    /// True if the file was open for direct I/O, as the system reports.
    pub direct: Option<bool>,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Share of the file that was never written: holes and unwritten extents, 0 to 1.
    pub unwritten: Option<f64>,
    /// Share of the file that was in the page cache before the trial, 0 to 1.
    pub cached: Option<f64>,
    /// Entropy of a sample of the data in bits per byte: 8 where nothing can be compressed.
    pub entropy_bits: Option<f64>,
}

impl FileState {
    /// Returns true if the timed part flushed to stable storage.
    pub fn flushed(&self) -> bool {
        self.flush != Flush::Never
    }
}
