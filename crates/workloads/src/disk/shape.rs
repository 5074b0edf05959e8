//! Turns parameters into numbers: resolves `auto`, rejects contradictions, estimates the cost.

use proofmark_engine::Refusal;
use proofmark_model::{AUTO, Host, Params, format_size, key, word};

use super::buffers::Buffers;
use super::engine::Kind;
use super::readback;
use crate::params::{choice, required, resolved};

/// The kind of I/Os of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write,
    /// Reads and writes alternate, from the first half of a part to the second.
    Copy,
    /// Reads and writes at random places of a part.
    Mixed,
    /// Each thread writes to its own file, and each block is durable before the next.
    Commit,
}

impl Operation {
    pub(super) fn writes(self) -> bool {
        self != Self::Read
    }

    /// Returns the minimum bytes of a file for these threads.
    fn least_file(self, block: u64, threads: u64) -> u64 {
        match self {
            Self::Commit => block,
            Self::Copy => block.saturating_mul(threads).saturating_mul(2),
            _ => block.saturating_mul(threads),
        }
    }
}

/// The state of the file in the page cache before a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    /// Bypassed by direct I/O.
    None,
    /// Evicted.
    Cold,
    /// Fully cached.
    Warm,
}

/// The place of a commit's write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The end of a file, which grows.
    Append,
    /// The next block of a file that was written before.
    Overwrite,
}

/// The method that makes a commit durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Fdatasync,
    /// A file that is open with O_DSYNC.
    ODsync,
}

/// Default file size in bytes.
const FILE: u64 = 1 << 30;
/// Default file size of `disk.fsync`, in bytes.
const FSYNC_FILE: u64 = 64 << 20;
const MIB: u64 = 1 << 20;
/// The smallest sector of any device, in bytes.
const MIN_SECTOR: u64 = 512;
/// Sector size assumed for an unknown device, in bytes.
const USUAL_SECTOR: u64 = 4096;
/// Bytes per second of a disk, for estimates only.
const NOMINAL: f64 = 200e6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) threads: u64,
    pub(super) block_size: u64,
    pub(super) queue_depth: u64,
    /// Number of reads per 100 I/Os.
    pub(super) reads: u64,
    pub(super) file_size: u64,
    pub(super) engine: Kind,
    pub(super) direct: bool,
    pub(super) cache: Cache,
    /// True if each thread ends with an fdatasync.
    pub(super) flush: bool,
    /// Mode of commits.
    pub(super) mode: Mode,
    /// Method of commits.
    pub(super) method: Method,
    /// Bytes of a trial, if they are fixed.
    pub(super) amount: Option<u64>,
}

impl Shape {
    /// Reads the numbers from resolved parameters.
    pub(super) fn from_params(operation: Operation, params: &Params) -> Result<Self, Refusal> {
        let mut shape = Self {
            threads: params.threads().max(1),
            block_size: required(params, key::BLOCK_SIZE)?.max(1),
            queue_depth: 1,
            reads: match operation {
                Operation::Read => 100,
                Operation::Write | Operation::Commit => 0,
                Operation::Copy => 50,
                Operation::Mixed => required(params, key::READS)?,
            },
            file_size: required(params, key::FILE_SIZE)?,
            engine: Kind::Psync,
            direct: false,
            cache: Cache::Warm,
            flush: true,
            mode: Mode::Append,
            method: Method::Fdatasync,
            amount: params.get(key::AMOUNT),
        };
        if operation == Operation::Commit {
            let modes = [("append", Mode::Append), ("overwrite", Mode::Overwrite)];
            let methods = [("fdatasync", Method::Fdatasync), ("o_dsync", Method::ODsync)];
            shape.mode = choice(params, key::MODE, &modes)?;
            shape.method = choice(params, key::METHOD, &methods)?;
        } else {
            let caches = [("none", Cache::None), ("cold", Cache::Cold), ("warm", Cache::Warm)];
            shape.queue_depth = required(params, key::QUEUE_DEPTH)?.max(1);
            shape.engine = choice(params, key::ENGINE, &Kind::ALL.map(|kind| (kind.name(), kind)))?;
            shape.direct = choice(params, key::DIRECT, &[(word::ON, true), (word::OFF, false)])?;
            shape.cache = choice(params, key::CACHE, &caches)?;
            shape.flush = operation.writes()
                && choice(params, key::FLUSH, &[(word::END, true), (word::NONE, false)])?;
        }
        shape.check(operation)?;
        Ok(shape)
    }

    fn check(&self, operation: Operation) -> Result<(), Refusal> {
        let refuse = |reason: String| Err(Refusal(reason));
        let block = format_size(self.block_size);
        if self.direct && !self.block_size.is_multiple_of(MIN_SECTOR) {
            return refuse(format!(
                "direct I/O needs multiples of a sector of at least {MIN_SECTOR} B, but \
                 block_size is {block}; set direct=off"
            ));
        }
        if !self.engine.queues() && self.queue_depth > 1 {
            return refuse(format!(
                "{} has 1 I/O in flight per thread, but queue_depth is {}; set engine={}",
                self.engine.name(),
                self.queue_depth,
                Kind::Uring.name()
            ));
        }
        match (self.direct, self.cache) {
            (true, Cache::Cold | Cache::Warm) => {
                return refuse(
                    "direct I/O bypasses the page cache: direct=on needs cache=none".into(),
                );
            }
            (false, Cache::None) => {
                return refuse(
                    "buffered I/O uses the page cache: direct=off needs cache=cold or cache=warm"
                        .into(),
                );
            }
            _ => {}
        }
        let size = format_size;
        let (file, threads) = (self.file_size, self.threads);
        let least = operation.least_file(self.block_size, threads);
        if file < least {
            let (least, file) = (size(least), size(file));
            return refuse(format!(
                "block_size {block} with threads={threads} needs a file of {least}, but file_size is \
                 {file}"
            ));
        }
        let least = self.block_size.saturating_mul(threads);
        match self.amount.filter(|amount| *amount < least) {
            Some(amount) => refuse(format!(
                "one block of {block} for each of {threads} threads is {}, but amount is {}",
                size(least),
                size(amount)
            )),
            None => Ok(()),
        }
    }

    /// Returns the iterations of a trial, if they are fixed.
    pub(super) fn iterations(&self) -> Option<u64> {
        self.amount.map(|amount| amount / self.block_size)
    }

    /// Returns the bytes of the buffers of all threads, including those for reading back.
    pub(super) fn memory_bytes(&self) -> u64 {
        let queue = Buffers::bytes(self.queue_depth, self.block_size);
        self.threads.saturating_mul(queue.saturating_add(readback::BYTES as u64))
    }

    /// Estimates the duration in seconds of a trial with a fixed amount, at 200 MB/s.
    pub(super) fn fixed_s(&self) -> Option<f64> {
        self.amount.map(|amount| amount as f64 / NOMINAL)
    }
}

/// Resolves `auto`. Buffered I/O with cache=auto becomes two configurations, cold and warm.
pub(super) fn resolve_auto(operation: Operation, params: Params, host: &Host) -> Vec<Params> {
    let params = resolve_engine(params, host);
    let block = params.get(key::BLOCK_SIZE).unwrap_or(1);
    let least = operation.least_file(block, params.threads());
    let usual = if operation == Operation::Commit { FSYNC_FILE } else { FILE };
    let params = resolved(params, key::FILE_SIZE, |_| usual.max(least.next_multiple_of(MIB)));
    let cached = matches!(params.get(key::CACHE), Some(word::COLD | word::WARM));
    let sector = host.storage.get().and_then(|s| s.sector_bytes()).unwrap_or(USUAL_SECTOR);
    let direct = !cached && block.is_multiple_of(sector.max(1));
    let params = resolved(params, key::DIRECT, |_| if direct { word::ON } else { word::OFF });
    if params.get(key::DIRECT) == Some(word::ON) {
        return vec![resolved(params, key::CACHE, |_| word::NONE)];
    }
    let mut all: Vec<_> =
        ["cold", "warm"].iter().map(|c| resolved(params.clone(), key::CACHE, |_| *c)).collect();
    all.dedup();
    all
}

/// Selects io_uring where there is a queue. Where the system refuses io_uring, it selects psync
/// without a queue.
fn resolve_engine(params: Params, host: &Host) -> Params {
    if params.get(key::ENGINE) != Some(AUTO) {
        return params;
    }
    if host.limits.io_uring.get() == Some(&false) {
        return params.with(key::ENGINE, Kind::Psync.name()).with(key::QUEUE_DEPTH, 1);
    }
    let queue = params.get(key::QUEUE_DEPTH).is_some_and(|depth| depth > 1);
    let engine = if queue { Kind::Uring } else { Kind::Psync };
    params.with(key::ENGINE, engine.name())
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Direct reads of a file of 1 GiB, one at a time.
    pub(in super::super) const SHAPE: Shape = Shape {
        threads: 1,
        block_size: 4096,
        queue_depth: 1,
        reads: 100,
        file_size: 1 << 30,
        engine: Kind::Psync,
        direct: true,
        cache: Cache::None,
        flush: false,
        mode: Mode::Append,
        method: Method::Fdatasync,
        amount: None,
    };
}
#[cfg(test)]
mod tests;
