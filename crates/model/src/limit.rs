//! Limits that a user can declare: the one list of their names.

use crate::Unit;

/// A limit that a user can declare, as in `--limit disk.read=160MB/s`. A cgroup may set
/// those of a disk on a device too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes a second that are read from a disk.
    DiskRead,
    /// Bytes a second that are written to a disk.
    DiskWrite,
    /// I/Os a second that read from a disk.
    DiskReadIops,
    /// I/Os a second that write to a disk.
    DiskWriteIops,
    /// Bits a second that leave by the interface to the server, headers included.
    NetworkSend,
    /// Bits a second that come in by it.
    NetworkReceive,
}

impl Limit {
    /// All.
    pub const ALL: [Self; 6] = [
        Self::DiskRead,
        Self::DiskWrite,
        Self::DiskReadIops,
        Self::DiskWriteIops,
        Self::NetworkSend,
        Self::NetworkReceive,
    ];

    /// The name that is typed and printed, and the key in [`crate::Limits::declared`].
    pub fn name(self) -> &'static str {
        match self {
            Self::DiskRead => "disk.read",
            Self::DiskWrite => "disk.write",
            Self::DiskReadIops => "disk.read_iops",
            Self::DiskWriteIops => "disk.write_iops",
            Self::NetworkSend => "network.send",
            Self::NetworkReceive => "network.receive",
        }
    }

    /// Base unit of its value: what it counts, a second.
    pub fn unit(self) -> Unit {
        match self {
            Self::DiskRead | Self::DiskWrite => Unit::BytePerSecond,
            Self::DiskReadIops | Self::DiskWriteIops => Unit::OpPerSecond,
            Self::NetworkSend | Self::NetworkReceive => Unit::BitPerSecond,
        }
    }

    /// The limit of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}
