//! What is under a folder: its file system, the block devices down to the
//! hardware, and what those devices say that they did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Limit;

/// Where the disk subsystem works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The folder, absolute.
    pub path: String,
    /// File system as the kernel names it: `ext4`, `tmpfs`, `overlay`, `nfs4`.
    pub file_system: String,
    /// What holds its data.
    pub kind: StorageKind,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options, as the kernel lists them.
    pub mount_options: String,
    /// Size of the file system in bytes.
    pub total_bytes: u64,
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// The block devices, from the file system's own down; empty where there are none
    /// or they are not known.
    pub devices: Vec<BlockDevice>,
}

impl Storage {
    /// The devices at the bottom, which no other device of the list carries: their
    /// counters show what reached the hardware, as far as this system sees it.
    pub fn leaves(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.iter().filter(|d| d.over.is_empty())
    }

    /// Least block in bytes that every device can do without reading around it.
    pub fn sector_bytes(&self) -> Option<u64> {
        self.devices.iter().filter_map(|d| d.logical_sector_bytes).max()
    }
}

/// What holds the data of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StorageKind {
    /// Block devices that are no memory.
    Block,
    /// Memory: tmpfs, ramfs, a RAM disk, zram, or a loop device over one of these.
    Memory,
    /// A server on the network.
    Network,
    /// Another file system, whose device is not known.
    Layered,
    /// Not known.
    Unknown,
}

/// One block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// The kernel's name, as in /proc/diskstats: `sda1`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Major and minor number: `8:1`.
    pub number: String,
    /// What it is: `disk`, `partition`, `device mapper`, `RAID`, `loop`, `zram`, `RAM disk`.
    pub kind: String,
    /// Names of the devices that carry it; empty at the bottom.
    pub over: Vec<String>,
    /// Model, as the device reports it.
    pub model: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Least block that it can do, in bytes.
    pub logical_sector_bytes: Option<u64>,
    /// Block that it does without reading around it, in bytes.
    pub physical_sector_bytes: Option<u64>,
    /// Largest request that the kernel sends it, in bytes.
    pub request_bytes: Option<u64>,
    /// Whether the device reports that it rotates; a virtual disk's report is not evidence.
    pub rotational: Option<bool>,
    /// Whether what it calls written may still be in its own volatile cache: by the kernel's setting or
    /// by its driver.
    pub volatile_cache: Option<bool>,
    /// Whether the kernel was told that it has none (queue/write_cache), while its driver reports one:
    /// flushes do not reach it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flushes_withheld: bool,
    /// Whether it can make a single write durable without a flush of that cache (FUA).
    pub fua: Option<bool>,
    /// The kernel's I/O scheduler for it.
    pub scheduler: Option<String>,
    /// How it is attached: `sata`, `nvme`, `virtio`, `usb`, `scsi`, `mmc`, `memory`.
    pub transport: Option<String>,
    /// The link to it, where its rate is known.
    pub link: Option<Link>,
    /// The file behind a loop device.
    pub backing: Option<String>,
    /// Whether a loop device reads its file through the page cache, whatever is asked of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached_backing: bool,
}

/// A link with its rate after coding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Name, such as `SATA 6.0 Gbit/s` or `PCIe 8.0 GT/s x4`.
    pub name: String,
    /// Bytes a second that it carries after coding.
    pub bytes_per_s: f64,
    /// Where it was read.
    pub source: String,
}

/// A limit that a cgroup sets on a device, the tightest on the way up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoLimit {
    /// Major and minor number of the device: `8:0`.
    pub device: String,
    /// Bytes a second that may be read.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes a second that may be written.
    pub write_bytes_per_s: Option<f64>,
    /// Reads a second.
    pub reads_per_s: Option<f64>,
    /// Writes a second.
    pub writes_per_s: Option<f64>,
    /// The file with the limit.
    pub source: String,
}

impl IoLimit {
    /// What it lets through of that, in the limit's unit; `None` where it sets nothing.
    pub fn of(&self, limit: Limit) -> Option<f64> {
        match limit {
            Limit::DiskRead => self.read_bytes_per_s,
            Limit::DiskWrite => self.write_bytes_per_s,
            Limit::DiskReadIops => self.reads_per_s,
            Limit::DiskWriteIops => self.writes_per_s,
            Limit::NetworkSend | Limit::NetworkReceive => None,
        }
    }
}

/// What the devices at the bottom did during a trial, by their own counters
/// (/proc/diskstats), all together, and what this process had them do.
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
    /// Flushes of the device's cache; writes with FUA are none.
    pub flushes: Option<u64>,
    /// Seconds in which at least one I/O was in flight: the busiest device's.
    pub busy_s: f64,
    /// Seconds that reads and writes spent in flight, added up; over the trial's duration, the
    /// mean number in flight. Discards do not count: devices do them beside the others.
    pub in_flight_s: f64,
    /// Bytes that this process had devices read (/proc/self/io).
    pub own_read_bytes: Option<u64>,
    /// Bytes that this process had devices write, or made dirty.
    pub own_written_bytes: Option<u64>,
}

/// How successive blocks of a file follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By their offsets.
    #[default]
    Seq,
    /// In an order without a pattern, another in each pass.
    Rand,
}

/// When the timed part flushes to stable storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Flush {
    /// Never.
    #[default]
    Never,
    /// Once a thread, after its last write.
    End,
    /// After each write, as a commit.
    Each,
    /// By each write itself, to a file that is open with O_DSYNC.
    Dsync,
}

/// How a trial used the workload's own file, and the file's state, looked at after the
/// trial. `None`: the system does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileState {
    /// Bytes that the workload asked to read.
    pub asked_read_bytes: u64,
    /// Bytes that the workload asked to write.
    pub asked_written_bytes: u64,
    /// In which order each thread took its blocks.
    pub order: Order,
    /// When writes were flushed.
    pub flush: Flush,
    /// Bytes that were written between two flushes, where each flush is for several writes.
    #[serde(default)]
    pub flush_every_bytes: Option<u64>,
    /// Whether the file was open for direct I/O, as the system says.
    pub direct: Option<bool>,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Share of the file that was never written: holes and unwritten extents, 0 to 1.
    pub unwritten: Option<f64>,
    /// Share of the file that lay in the page cache before the trial, 0 to 1.
    pub cached: Option<f64>,
    /// Entropy of the data in bits a byte, of a sample: 8 where nothing can be compressed.
    pub entropy_bits: Option<f64>,
}

impl FileState {
    /// Whether the timed part ended with a flush to stable storage.
    pub fn flushed(&self) -> bool {
        self.flush != Flush::Never
    }
}
