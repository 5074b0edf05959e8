//! Limits that a user can declare, with their names.

use crate::Unit;

/// Share of a limit, such as a quota, from which on a result is at the limit.
pub const AT_LIMIT: f64 = 0.95;

/// A limit that a user can declare, as in `--limit disk.read=160MB/s`. A cgroup may set those of a
/// disk on a device too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes per second read from a disk.
    DiskRead,
    /// Bytes per second written to a disk.
    DiskWrite,
    /// Read I/Os per second of a disk.
    DiskReadIops,
    /// Write I/Os per second of a disk.
    DiskWriteIops,
    /// Bytes per second that the memory of all sockets transfers.
    MemoryDram,
    /// Bits per second sent by the interface to the server, headers included.
    NetworkSend,
    /// Bits per second received by that interface, headers included.
    NetworkReceive,
}

impl Limit {
    /// All limits.
    pub const ALL: [Self; 7] = [
        Self::DiskRead,
        Self::DiskWrite,
        Self::DiskReadIops,
        Self::DiskWriteIops,
        Self::MemoryDram,
        Self::NetworkSend,
        Self::NetworkReceive,
    ];

    fn name_and_unit(self) -> (&'static str, Unit) {
        match self {
            Self::DiskRead => ("disk.read", Unit::BytePerSecond),
            Self::DiskWrite => ("disk.write", Unit::BytePerSecond),
            Self::DiskReadIops => ("disk.read_iops", Unit::OpPerSecond),
            Self::DiskWriteIops => ("disk.write_iops", Unit::OpPerSecond),
            Self::MemoryDram => ("memory.dram", Unit::BytePerSecond),
            Self::NetworkSend => ("network.send", Unit::BitPerSecond),
            Self::NetworkReceive => ("network.receive", Unit::BitPerSecond),
        }
    }

    /// Returns the name that is typed and printed, also the key in [`crate::Limits::declared`].
    pub fn name(self) -> &'static str {
        self.name_and_unit().0
    }

    /// Returns the base unit of the value.
    pub fn unit(self) -> Unit {
        self.name_and_unit().1
    }

    /// Returns the limit of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}
