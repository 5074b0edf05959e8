//! The parts of a file that were ever written, and those that are in the page cache.
//!
//! Sources: Documentation/filesystems/fiemap.rst of Linux, lseek(2), cachestat in
//! Linux 6.5 (mm/filemap.c, include/uapi/linux/mman.h), mincore(2).

#![allow(unsafe_code)] // Three system calls that no safe wrapper offers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// `struct fiemap` without its extents. The request code contains its size.
type Head = [u64; 4];
const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Head>(b'f', 11);
/// Flag: write delayed data out first, so that their place is known.
const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 1;
/// Flags of extents without written data: unknown place, delayed allocation, unwritten.
const NOT_WRITTEN: u32 = 0x2 | 0x4 | 0x800;
const EXTENTS: usize = 128;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

/// Returns the share (0 to 1) of the first `size` bytes that was never written. It consists of
/// holes and of allocated but unwritten extents, which a read fills with zeros without device I/O.
/// Dirty data in the page cache are written out first. `None` where the file system does not report
/// extents.
pub(crate) fn unwritten_share(fd: impl AsFd, size: u64) -> Option<f64> {
    let fd = fd.as_fd();
    if size == 0 {
        return None;
    }
    match written_extents(fd, size, EXTENTS) {
        Ok(written) => Some(1.0 - written.min(size) as f64 / size as f64),
        Err(_) => holes(fd, size).map(|bytes| bytes as f64 / size as f64),
    }
}

/// Returns the bytes in extents that hold data. Each request asks for up to `room` extents.
fn written_extents(fd: BorrowedFd, size: u64, room: usize) -> Result<u64, Errno> {
    let (mut at, mut written) = (0, 0);
    while at < size {
        let mut map = Fiemap {
            start: at,
            length: size - at,
            flags: FIEMAP_FLAG_SYNC,
            mapped: 0,
            room: room.min(EXTENTS) as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS],
        };
        // SAFETY: the request reads and writes this structure, whose size it is given.
        unsafe { ioctl(fd, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map))? };
        let found = map.extents.get(..map.mapped as usize).unwrap_or(&map.extents);
        for extent in found {
            // Extents are whole blocks: the first may begin before the range, the last end after
            // it.
            let (from, to) = (extent.logical.max(at), (extent.logical + extent.length).min(size));
            if extent.flags & NOT_WRITTEN == 0 {
                written += to.saturating_sub(from);
            }
            at = at.max(to);
        }
        if found.last().is_none_or(|e| e.flags & FIEMAP_EXTENT_LAST != 0 || e.length == 0) {
            break;
        }
    }
    Ok(written)
}

/// Returns the bytes in holes, or `None` if there are none: a file system without holes reports
/// everything as data.
fn holes(fd: BorrowedFd, size: u64) -> Option<u64> {
    let (mut at, mut data) = (0, 0);
    while at < size {
        let from = match seek(fd, SeekFrom::Data(at)) {
            Ok(from) => from.min(size),
            // No data from here on.
            Err(Errno::NXIO) => break,
            Err(_) => return None,
        };
        at = seek(fd, SeekFrom::Hole(from)).ok()?.min(size).max(from);
        data += at - from;
        if at == from {
            break;
        }
    }
    (data < size).then(|| size - data)
}

/// Returns the cached share (0 to 1) of the first `size` bytes, or `None` where the system does not
/// report it.
pub(crate) fn cached_share(fd: impl AsFd, size: u64) -> Option<f64> {
    let fd = fd.as_fd();
    let pages = size.div_ceil(rustix::param::page_size() as u64);
    if pages == 0 {
        return None;
    }
    let cached = cachestat(fd, size).or_else(|| resident(fd, size))?;
    Some((cached as f64 / pages as f64).min(1.0))
}

/// Counts pages in the cache by cachestat(2). `None` before Linux 6.5, or where a filter refuses.
fn cachestat(fd: BorrowedFd, size: u64) -> Option<u64> {
    // The crate libc does not define it yet.
    const SYS_CACHESTAT: libc::c_long = 451;
    let range = [0_u64, size];
    // Pages in the cache, dirty, in writeback, evicted, recently evicted.
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads two numbers and writes five.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, fd.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0_u32)
    };
    (result == 0).then_some(counts[0])
}

/// Counts pages in the cache by mincore(2): those of a mapping that are resident.
fn resident(fd: BorrowedFd, size: u64) -> Option<u64> {
    let bytes = usize::try_from(size).ok()?;
    let mut pages = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping. Nothing touches it, so nothing is read into it.
    let start =
        unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, fd, 0) };
    let start = start.ok()?;
    // SAFETY: the mapping has this many bytes, and the vector one byte for each of its pages.
    let result = unsafe { libc::mincore(start, bytes, pages.as_mut_ptr()) };
    // SAFETY: mapped above, and nothing points into it.
    let _ = unsafe { munmap(start, bytes) };
    (result == 0).then(|| pages.iter().filter(|p| **p & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use proofmark_testing::skip;
    use rustix::fs::{FallocateFlags, fallocate, ftruncate};

    use super::super::file::testing::Folder;
    use super::*;

    const KIB: u64 = 1024;
    const SIZE: u64 = 1024 * KIB;

    /// Creates a file, if the file system reports its extents.
    #[track_caller]
    fn file() -> Option<File> {
        let file = Folder::new().unnamed(SIZE).buffered;
        ftruncate(&file, SIZE).unwrap();
        match written_extents(file.as_fd(), SIZE, EXTENTS) {
            Ok(_) => Some(file),
            Err(e) => {
                skip(format!("the file system does not report extents: {e}"));
                None
            }
        }
    }

    #[test]
    fn holes_and_what_was_only_allocated_were_never_written() {
        let Some(file) = file() else { return };
        let unwritten = || unwritten_share(&file, SIZE).unwrap();
        assert_eq!(unwritten(), 1.0);
        if fallocate(&file, FallocateFlags::empty(), 0, SIZE / 2).is_ok() {
            assert_eq!(unwritten(), 1.0, "allocated");
        }
        // The data wait in the page cache until the request.
        file.write_all_at(&[1; 256 * 1024], 0).unwrap();
        assert_eq!(unwritten(), 0.75);
        file.write_all_at(&[1; 256 * 1024], 600 * KIB).unwrap();
        assert_eq!(unwritten(), 0.5);
        file.write_all_at(&vec![1; SIZE as usize], 0).unwrap();
        assert_eq!(unwritten(), 0.0);
        assert_eq!(unwritten_share(&file, 0), None);
    }

    #[test]
    fn extents_beyond_one_answer_are_asked_for() {
        let Some(file) = file() else { return };
        for at in (0..SIZE).step_by(64 * 1024) {
            file.write_all_at(&[1; 4096], at).unwrap();
        }
        for room in [1, 3, EXTENTS] {
            assert_eq!(written_extents(file.as_fd(), SIZE, room), Ok(SIZE / 16), "{room}");
        }
        assert_eq!(written_extents(file.as_fd(), 66 * KIB, 1), Ok(6 * KIB), "cut at the size");
    }

    #[test]
    fn holes_are_found_without_extents_too() {
        let Some(file) = file() else { return };
        assert_eq!(holes(file.as_fd(), SIZE), Some(SIZE));
        file.write_all_at(&[1; 64 * 1024], 128 * KIB).unwrap();
        file.write_all_at(&[1; 64 * 1024], SIZE - 64 * KIB).unwrap();
        assert_eq!(holes(file.as_fd(), SIZE), Some(SIZE - 128 * KIB));
        file.write_all_at(&vec![1; SIZE as usize], 0).unwrap();
        assert_eq!(holes(file.as_fd(), SIZE), None, "none seen is not none there");
        let pipe = std::io::pipe().unwrap().0;
        assert_eq!((holes(pipe.as_fd(), SIZE), unwritten_share(&pipe, SIZE)), (None, None));
    }

    #[test]
    fn both_ways_to_ask_for_the_cache_agree() {
        let folder = Folder::new();
        for written in [SIZE, SIZE / 2, 0] {
            let file = folder.unnamed(SIZE).buffered;
            ftruncate(&file, SIZE).unwrap();
            file.write_all_at(&vec![1; written as usize], 0).unwrap();
            let pages = written / rustix::param::page_size() as u64;
            assert_eq!(resident(file.as_fd(), SIZE), Some(pages));
            match cachestat(file.as_fd(), SIZE) {
                Some(counted) => assert_eq!(counted, pages),
                None => skip("no cachestat here"),
            }
            assert_eq!(cached_share(&file, SIZE), Some(written as f64 / SIZE as f64));
            assert_eq!(cached_share(&file, 0), None);
        }
    }
}
