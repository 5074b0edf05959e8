use proofmark_testing::skip;

use super::super::extents::{cached_share, unwritten_share};
use super::testing::Folder;
use super::*;

const MIB: u64 = 1 << 20;

fn read(file: &File, size: u64) -> Vec<u8> {
    let mut block = Buffers::new(1, (size as usize).next_multiple_of(PAGE)).unwrap();
    let length = file.read_at(block.slot(0), 0).unwrap();
    block.slot(0)[..length].to_vec()
}

/// Returns the share that was never written. Where it is not reported, the test is skipped by name.
#[track_caller]
fn unwritten(file: &TestFile) -> Option<f64> {
    let share = unwritten_share(file.buffered(), file.size);
    if share.is_none() {
        skip("the file system does not report extents");
    }
    share
}

#[test]
fn every_byte_is_written_on_the_device_and_out_of_the_cache() {
    let folder = Folder::new();
    // Whole blocks, a part of a sector at the end, and less than one block.
    for size in [8 * MIB, 3 * MIB + 12_345, 100] {
        let file = TestFile::new(folder.path(), size).unwrap();
        assert_eq!(folder.names(), [""; 0]);
        assert_eq!((file.size, file.file.buffered.metadata().unwrap().len()), (size, size));
        assert_eq!(unwritten(&file).unwrap_or(0.0), 0.0, "{size}");
        if let Some(cached) = cached_share(file.buffered(), size) {
            assert!(cached < 0.01 || file.direct().is_err(), "{size}: {cached}");
        }
        let through_the_cache = read(&file.file.buffered, size);
        assert_eq!(through_the_cache.len() as u64, size);
        assert_eq!(file.content.check_all(&through_the_cache, 0), Ok(()), "{size}");
        match file.file.direct_file() {
            Some(direct) => assert!(read(direct, size) == through_the_cache, "{size}"),
            None => skip(file.direct().unwrap_err().0),
        }
        if size > MIB {
            file.evict().unwrap();
            assert!(file.entropy_bits().unwrap() > 7.99);
            let past_the_cache = file.direct().is_ok() && size.is_multiple_of(MIB);
            let cached = cached_share(file.buffered(), size).filter(|_| past_the_cache);
            assert!(cached.is_none_or(|share| share == 0.0), "{size}: {cached:?}");
        }
    }
}

#[test]
fn it_goes_into_the_cache_and_out_again() {
    let folder = Folder::new();
    let file = TestFile::new(folder.path(), 4 * MIB).unwrap();
    let cached = || cached_share(file.buffered(), file.size);
    if cached().is_none() {
        return skip("the system does not report it");
    }
    file.warm().unwrap();
    assert_eq!(cached(), Some(1.0));
    file.evict().unwrap();
    assert_eq!(cached(), Some(0.0));
    // Dirty data leave the cache too, and are not lost.
    let mut block = vec![0; 8192];
    file.content.fill(&mut block, MIB, 3);
    file.file.buffered.write_all_at(&block, MIB).unwrap();
    assert!(cached().unwrap() > 0.0);
    file.evict().unwrap();
    assert_eq!(cached(), Some(0.0));
    let found = read(&file.file.buffered, 2 * MIB)[MIB as usize..][..8192].to_vec();
    assert_eq!(file.content.generation(&found, MIB), Some(3));
    assert_eq!(found, block);
}

#[test]
fn direct_io_that_fails_is_refused_in_words() {
    let folder = Folder::new();
    let mut file = TestFile::new(folder.path(), MIB).unwrap();
    let einval = io::Error::from(Errno::INVAL);
    file.file.refuse_direct(unnamed::no_direct(&einval));
    let Refusal(why) = file.direct().unwrap_err();
    assert_eq!(why, "this file system refuses direct I/O (EINVAL)");
    // It is still laid out and read.
    file.lay_out().unwrap();
    assert!(file.entropy_bits().unwrap() > 7.99);
    assert_eq!(file.content.check_all(&read(&file.file.buffered, MIB), 0), Ok(()));
}

#[test]
fn an_error_ends_all_writers_and_is_reported() {
    let folder = Folder::new();
    let file = TestFile {
        file: folder.unnamed(0),
        folder: (0, 0),
        size: 64 * MIB,
        content: Content::new(),
    };
    let begun = AtomicU64::new(0);
    let reported = file.in_blocks(|_, offset| {
        begun.fetch_add(1, Ordering::Relaxed);
        if offset == 0 {
            return Err(Errno::IO.into());
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        Ok(())
    });
    assert_eq!(reported.unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
    assert!(begun.into_inner() < 64);
    let offsets = Mutex::new(vec![]);
    file.in_blocks(|buf, offset| {
        offsets.lock().unwrap().push((offset, buf.len() as u64));
        Ok(())
    })
    .unwrap();
    let mut offsets = offsets.into_inner().unwrap();
    offsets.sort_unstable();
    assert!(offsets.into_iter().eq((0..64).map(|k| (k * MIB, MIB))));
}

#[test]
fn the_next_point_has_the_same_file() {
    let (folder, other) = (Folder::new(), Folder::new());
    let kept = Mutex::new(None);
    let get = |folder: &Folder, bytes| TestFile::get_from(&kept, folder.path(), bytes);
    let inode = |file: &Arc<TestFile>| {
        let stat = rustix::fs::fstat(file.buffered()).unwrap();
        (stat.st_dev, stat.st_ino)
    };
    let one = get(&folder, MIB).unwrap();
    let first = inode(&one);
    let second = get(&folder, MIB).unwrap();
    assert_ne!(inode(&second), first, "one in use is not shared");
    drop((one, second));
    let again = inode(&get(&folder, MIB).unwrap());
    assert_eq!(inode(&get(&folder, MIB).unwrap()), again);
    let larger = get(&folder, 2 * MIB).unwrap();
    assert_eq!(larger.size, 2 * MIB);
    drop(larger);
    assert_eq!(get(&folder, MIB).unwrap().size, MIB);
    drop(get(&folder, 2 * MIB).unwrap());
    let elsewhere = get(&other, 2 * MIB).unwrap();
    assert_eq!(Some(elsewhere.folder), unnamed::number(other.path()).ok());
    assert!(get(&other, 1 << 60).is_err());
    assert!(kept.lock().unwrap().is_none(), "the old one gave up its space");
}
