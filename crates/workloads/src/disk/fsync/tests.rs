use proofmark_engine::Workload;
use proofmark_model::{Params, key};

use super::super::FSYNC;
use super::super::shape::Operation;
use super::*;
use crate::params::testing::{self, WorkloadExt, uneven_slices, verified};

fn params(block: u64, file_size: u64) -> Params {
    testing::params(&format!(
        "threads=1 block_size={block} file_size={file_size} amount=auto mode=append \
         method=fdatasync"
    ))
}

/// Returns the parameters of all modes and methods, the default first, with their kind of flush.
fn all_four(block: u64, file_size: u64) -> impl Iterator<Item = (Params, Flush)> {
    let methods = [("fdatasync", Flush::Each), ("o_dsync", Flush::Dsync)];
    let modes = ["append", "overwrite"].into_iter();
    let all = modes.flat_map(move |mode| methods.map(|(method, flush)| (mode, method, flush)));
    all.map(move |(mode, method, flush)| {
        (params(block, file_size).with(key::MODE, mode).with(key::METHOD, method), flush)
    })
}

fn new_log(params: &Params) -> Log {
    let shape = Shape::from_params(Operation::Commit, params).unwrap();
    let all = shape.file_size;
    let file = TestFile::new_unnamed(Path::new(FOLDER), all, flags(shape.method)).unwrap();
    Log::new(file, shape, (Arc::new(Seen::new(1)), 0)).unwrap()
}

fn log(block: u64, file_size: u64) -> Log {
    new_log(&params(block, file_size))
}

fn length(log: &Log) -> u64 {
    log.file().metadata().unwrap().len()
}

#[test]
fn commits_are_written_timed_and_read_back() {
    for (params, flush) in all_four(4096, 1 << 20) {
        let setup = FSYNC.setup(&params).unwrap();
        assert_eq!((setup.work_per_iteration(), setup.amount()), (1.0, Amount::Calibrated));
        assert!(setup.on_disk());
        let mut load = setup.thread(0, 1).unwrap();
        for slices in [vec![0], vec![1], uneven_slices(12), vec![10]] {
            let commits = slices.iter().sum();
            load.prepare(commits);
            load.run(2);
            assert_eq!(verified(load.as_mut(), &slices), Ok(commits));
            let state = setup.file().unwrap();
            assert_eq!((state.asked_written_bytes, state.asked_read_bytes), (commits * 4096, 0));
            assert!(state.flush == flush && state.direct == Some(false), "{state:?}");
            assert!(state.unwritten.is_none_or(|share| share == 0.0), "{state:?}");
            assert!(state.entropy_bits.unwrap() > 7.9, "{state:?}");
        }
        let mut times = Latencies::default();
        load.latencies(&mut times);
        assert_eq!(times.summary().unwrap().count, 10);
    }
}

#[test]
fn appends_grow_the_file_and_overwrites_leave_its_length() {
    for (params, flush) in all_four(1000, 1 << 20) {
        let mut log = new_log(&params);
        let grows = params.get(key::MODE) == Some("append");
        assert_eq!(length(&log), if grows { 0 } else { 1 << 20 }, "{params:?}");
        log.run(3);
        assert_eq!(length(&log), if grows { 3000 } else { 1 << 20 }, "{params:?}");
        assert_eq!(log.verify(), Ok(3));
        let mut written = vec![0; 3000];
        log.file().read_exact_at(&mut written, 0).unwrap();
        assert_eq!(log.content.check_all(&written, 0), Ok(()));
        assert_eq!(log.content.generation(&written, 0), Some(log.generation));
        // Blocks that were not overwritten yet still have the initial data.
        let mut rest = vec![0; 4096];
        let read = log.file().read_at(&mut rest, 4096).unwrap();
        assert_eq!(read, if grows { 0 } else { 4096 });
        assert_eq!(log.content.generation(&rest[..read], 4096), (!grows).then_some(0));
        assert_eq!(is_dsync(log.file()), flush == Flush::Dsync, "{params:?}");
    }
}

#[test]
fn a_file_that_lost_its_flag_is_not_durable() {
    let mut log = new_log(&params(4096, 1 << 20).with(key::METHOD, "o_dsync"));
    log.run(1);
    assert_eq!((log.verify(), log.seen.file().flush), (Ok(1), Flush::Dsync));
    let plain = TestFile::new_unnamed(Path::new(FOLDER), 0, OFlags::empty()).unwrap();
    log.file = plain;
    log.next = 0;
    log.run(1);
    assert_eq!((log.verify(), log.seen.file().flush), (Ok(2), Flush::Never));
}

#[test]
fn overwriting_a_file_that_was_only_allocated_is_found() {
    let mut log = new_log(&params(4096, 1 << 20).with(key::MODE, "overwrite"));
    log.run(1);
    assert_eq!(log.verify(), Ok(1));
    if log.seen.file().unwritten.is_none() {
        return proofmark_testing::skip("the file system does not report extents");
    }
    log.file().set_len(0).unwrap();
    log.file().set_len(1 << 20).unwrap();
    (log.next, log.generation) = (0, new_generation());
    log.run(1);
    assert_eq!(log.verify(), Ok(2));
    let unwritten = log.seen.file().unwritten.unwrap();
    assert!(unwritten > 0.9, "{unwritten}");
}

#[test]
fn threads_add_up() {
    let setup = FSYNC.setup(&params(512, 1 << 20).with(key::THREADS, 2)).unwrap();
    let mut loads: Vec<_> = (0..2).map(|i| setup.thread(i, 2).unwrap()).collect();
    for load in &mut loads {
        load.run(3);
        assert_eq!(load.verify(), Ok(3));
    }
    assert_eq!(setup.file().unwrap().asked_written_bytes, 6 * 512);
    assert_eq!(FSYNC.needs(&params(512, 1 << 20).with(key::THREADS, 2)).disk_bytes, 2 << 20);
}

#[test]
fn a_full_file_is_begun_anew() {
    for (params, _) in all_four(1000, 4500) {
        let mut log = new_log(&params);
        let grows = params.get(key::MODE) == Some("append");
        log.prepare(3);
        log.run(3);
        assert_eq!(log.next, 3000);
        assert_eq!(log.verify(), Ok(3));
        log.prepare(2);
        assert_eq!(log.next, 0, "two more do not fit");
        // More than fits into the file: it restarts in between.
        log.prepare(6);
        assert_eq!(verified(&mut log, &[1, 4, 1]), Ok(6));
        assert_eq!((log.next, length(&log)), (2000, if grows { 2000 } else { 4500 }));
    }
}

#[test]
fn data_lost_at_the_end_of_the_file_are_found() {
    let mut log = log(4096, 1 << 20);
    log.run(8);
    let mut last = [0; 16];
    log.file().read_exact_at(&mut last, 7 * 4096).unwrap();
    log.file().set_len(7 * 4096).unwrap();
    let reason = log.verify().unwrap_err();
    assert!(reason.starts_with("the file ends before byte 32768"), "{reason}");
    log.file().set_len(8 * 4096).unwrap();
    let reason = log.verify().unwrap_err();
    // One random byte in 256 is zero, like the hole that is read back.
    let first = 28672 + last.iter().position(|byte| *byte != 0).unwrap();
    assert!(reason.starts_with(&format!("byte {first} of the test file: read 00")), "{reason}");
}

#[test]
fn an_overwrite_that_left_the_old_data_is_found() {
    let mut log = new_log(&params(4096, 1 << 20).with(key::MODE, "overwrite"));
    log.run(8);
    let mut old = vec![0; 4096];
    log.content.fill(&mut old, 7 * 4096, 0);
    log.file().write_all_at(&old, 7 * 4096).unwrap();
    let reason = log.verify().unwrap_err();
    assert!(reason.contains("the last write is missing"), "{reason}");
}

#[test]
fn a_full_disk_is_reported_in_the_systems_words() {
    let mut log = log(4096, 1 << 20);
    log.file.buffered = File::options().write(true).open("/dev/full").unwrap();
    log.run(2);
    let reason = log.failure().unwrap();
    assert!(reason.contains("at offset 0 failed: No space left on device"), "{reason}");
    assert_eq!(log.failure(), None);
}
