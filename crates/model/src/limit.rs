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

    fn name_and_unit(self) -> (&'static str, Unit) {
        match self {
            Self::DiskRead => ("disk.read", Unit::BytePerSecond),
            Self::DiskWrite => ("disk.write", Unit::BytePerSecond),
            Self::DiskReadIops => ("disk.read_iops", Unit::OpPerSecond),
            Self::DiskWriteIops => ("disk.write_iops", Unit::OpPerSecond),
            Self::NetworkSend => ("network.send", Unit::BitPerSecond),
            Self::NetworkReceive => ("network.receive", Unit::BitPerSecond),
        }
    }

    /// The name that is typed and printed, and the key in [`crate::Limits::declared`].
    pub fn name(self) -> &'static str {
        self.name_and_unit().0
    }

    /// Base unit of its value.
    pub fn unit(self) -> Unit {
        self.name_and_unit().1
    }

    /// The limit of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}
