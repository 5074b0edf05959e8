//! The test file of a worker: fully written once, then kept for the next configurations.
//!
//! Writing it takes longer than many trials, so the next configuration with the same size and
//! folder uses it again. Every byte is on the device before the first read. A read of a hole, of an
//! unwritten extent or of a cached page causes no device I/O.
//!
//! Sources: open(2), fallocate(2), posix_fadvise(2), statx(2).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proofmark_engine::Refusal;
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fcntl_getfl, ftruncate};
use rustix::io::Errno;

use proofmark_model::lock;

use super::buffers::{Buffers, PAGE};
use super::content::{Content, POOL, WINDOW, entropy_bits};

mod unnamed;

pub(crate) use unnamed::{Unnamed, refused};

/// Bytes that are written or read at once when the file is laid out or warmed.
const BLOCK: usize = POOL;
/// Blocks in flight during that, with one thread each.
const IN_FLIGHT: u64 = 8;
/// Pieces of the file, of [`WINDOW`] bytes each, whose entropy is estimated.
const SAMPLES: u64 = 8;

/// An unlinked file with known contents.
#[derive(Debug)]
pub(crate) struct TestFile {
    file: Unnamed,
    folder: (u64, u64),
    /// Size in bytes.
    pub(super) size: u64,
    /// The content with which the file was laid out.
    pub(super) content: Content,
}

static KEPT: Mutex<Option<Arc<TestFile>>> = Mutex::new(None);

impl TestFile {
    /// Returns a file of this many bytes in a folder: that of the previous configuration if it is
    /// the same, else a new one. The old file is deleted first to free its space. Refusals are
    /// those of [`Unnamed::create`].
    pub(crate) fn get(folder: &Path, bytes: u64) -> Result<Arc<Self>, Refusal> {
        Self::get_from(&KEPT, folder, bytes)
    }

    fn get_from(
        kept: &Mutex<Option<Arc<Self>>>,
        folder: &Path,
        bytes: u64,
    ) -> Result<Arc<Self>, Refusal> {
        let number = unnamed::number(folder)?;
        let mut kept = lock(kept);
        let fits = |f: &Arc<Self>| f.folder == number && f.size == bytes;
        // A file that is still in use, as when tests run in parallel, is not shared.
        let again = kept.take().filter(fits).filter(|f| Arc::strong_count(f) == 1);
        let file = match again {
            Some(file) => file,
            None => Arc::new(Self::new(folder, bytes)?),
        };
        *kept = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Creates an empty unlinked file, open with `more` flags. `bytes` is the size that will be
    /// written to it and to others like it.
    pub(crate) fn new_unnamed(folder: &Path, bytes: u64, more: OFlags) -> Result<Unnamed, Refusal> {
        // Deletes the kept test file, since both might need more than half of the free space.
        lock(&KEPT).take();
        Unnamed::create_with(folder, bytes, more)
    }

    /// Creates a file that no other configuration shares.
    pub(super) fn new(folder: &Path, size: u64) -> Result<Self, Refusal> {
        let number = unnamed::number(folder)?;
        let file = Unnamed::create(folder, size)?;
        let mut new = Self { file, folder: number, size, content: Content::new() };
        let done = new.reserve().and_then(|()| {
            new.try_direct();
            new.lay_out()
        });
        done.map_err(|e| refused(folder, size, &e))?;
        Ok(new)
    }

    /// Reserves the whole size, so that a full disk is reported at once and the file has few
    /// extents.
    fn reserve(&self) -> io::Result<()> {
        let file = &self.file.buffered;
        match fallocate(file, FallocateFlags::empty(), 0, self.size) {
            // If the file system cannot reserve space, the file is written anyway.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(ftruncate(file, self.size)?),
            done => Ok(done?),
        }
    }

    /// Tries direct I/O. Some file systems accept O_DIRECT and then refuse each I/O, or serve it
    /// from the page cache.
    fn try_direct(&mut self) {
        let alignment = self.file.alignment();
        let Some(file) = self.file.direct_file() else { return };
        if alignment == Some(0) {
            let why = "this file system serves direct I/O through the page cache";
            return self.file.refuse_direct(why.to_owned());
        }
        let read = Buffers::new(1, PAGE)
            .map_err(io::Error::other)
            .and_then(|mut block| file.read_at(block.slot(0), 0));
        if let Err(e) = read {
            let why = unnamed::no_direct(&e);
            self.file.refuse_direct(why);
        }
    }

    /// Writes the whole file to the device and evicts it from the page cache.
    pub(super) fn lay_out(&self) -> io::Result<()> {
        self.in_blocks(|buf, offset| {
            self.content.fill(buf, offset, 0);
            self.past_cache(buf.len()).write_all_at(buf, offset)
        })?;
        self.file.buffered.sync_all()?;
        self.evict()
    }

    /// Calls `work` with the buffer and offset of each block of the file, several blocks at a time.
    pub(super) fn in_blocks(
        &self,
        work: impl Fn(&mut [u8], u64) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        let next = AtomicU64::new(0);
        let some = || {
            let mut block = Buffers::new(1, BLOCK).map_err(io::Error::other)?;
            loop {
                let offset = next.fetch_add(1, Ordering::Relaxed).saturating_mul(BLOCK as u64);
                let left = self.size.saturating_sub(offset).min(BLOCK as u64) as usize;
                if left == 0 {
                    return Ok(());
                }
                if let Err(e) = work(&mut block.slot(0)[..left], offset) {
                    // Stops the other threads before their next block.
                    next.store(self.size / BLOCK as u64 + 1, Ordering::Relaxed);
                    return Err(e);
                }
            }
        };
        std::thread::scope(|scope| {
            let blocks = self.size.div_ceil(BLOCK as u64);
            let threads: Vec<_> = (0..blocks.min(IN_FLIGHT)).map(|_| scope.spawn(some)).collect();
            let died = |_| Err(io::Error::other("a thread panicked"));
            threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(died))
        })
    }

    /// Returns the descriptor for direct I/O if this many bytes are aligned for it, else the
    /// buffered one.
    fn past_cache(&self, bytes: usize) -> &File {
        let direct = self.file.direct_file().filter(|_| bytes.is_multiple_of(PAGE));
        direct.unwrap_or(&self.file.buffered)
    }

    pub(crate) fn direct(&self) -> Result<BorrowedFd<'_>, Refusal> {
        self.file.direct()
    }

    /// Returns the descriptor for I/O through the page cache.
    pub(crate) fn buffered(&self) -> BorrowedFd<'_> {
        self.file.buffered.as_fd()
    }

    /// Returns the alignment in bytes of offset, length and memory for direct I/O. `None` without
    /// direct I/O, or where the kernel does not report it (before Linux 6.1).
    pub(crate) fn block(&self) -> Option<u64> {
        self.file.alignment().filter(|bytes| *bytes > 0)
    }

    /// Flushes all written data to stable storage.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.file.buffered.sync_data()
    }

    pub(crate) fn cut(&self) -> io::Result<()> {
        Ok(ftruncate(&self.file.buffered, self.size)?)
    }

    /// Writes the file out and evicts it from the page cache.
    pub(crate) fn evict(&self) -> io::Result<()> {
        // Dirty pages cannot be evicted.
        self.flush()?;
        Ok(fadvise(&self.file.buffered, 0, None, Advice::DontNeed)?)
    }

    /// Reads the file into the page cache, as far as it fits.
    pub(crate) fn warm(&self) -> io::Result<()> {
        self.in_blocks(|buf, offset| self.file.buffered.read_exact_at(buf, offset))
    }

    /// Estimates the entropy of the file in bits per byte from pieces spread over it. `None` if it
    /// cannot be read. It bypasses the page cache where direct I/O works.
    pub(crate) fn entropy_bits(&self) -> Option<f64> {
        let window = WINDOW as u64;
        let pieces = self.size.div_ceil(window);
        let taken = pieces.min(SAMPLES);
        let mut piece = Buffers::new(1, WINDOW).ok()?;
        let mut sample = Vec::new();
        for k in 0..taken {
            let offset = k * pieces / taken * window;
            let length = (self.size - offset).min(window) as usize;
            let buf = &mut piece.slot(0)[..length];
            self.past_cache(length).read_exact_at(buf, offset).ok()?;
            sample.extend_from_slice(buf);
        }
        entropy_bits(&sample)
    }
}

/// Returns true if a descriptor is open for direct I/O, or `None` if the kernel does not report it.
pub(crate) fn is_direct(fd: impl AsFd) -> Option<bool> {
    fcntl_getfl(fd).ok().map(|flags| flags.contains(OFlags::DIRECT))
}

/// Returns true if the kernel reports that each write to a descriptor is durable.
pub(crate) fn is_dsync(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::DSYNC))
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
