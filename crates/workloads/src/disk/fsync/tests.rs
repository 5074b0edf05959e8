use proofmark_engine::Workload;
use proofmark_model::Params;

use super::super::FSYNC;
use super::super::shape::Operation;
use super::*;
use crate::params::testing::{self, uneven_slices, verified};

fn params(block: u64, file_size: u64) -> Params {
    testing::params(&format!("threads=1 block_size={block} file_size={file_size} amount=auto"))
}

fn log(block: u64, file_size: u64) -> Log {
    let shape = Shape::from_params(Operation::Append, &params(block, file_size)).unwrap();
    let file = TestFile::new_unnamed(Path::new(FOLDER), file_size).unwrap();
    Log::new(file, shape, (Arc::new(Seen::new(1)), 0)).unwrap()
}

#[test]
fn commits_are_appended_timed_and_read_back() {
    let setup = FSYNC.setup(&params(4096, 1 << 20)).unwrap();
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
        assert!(state.flush == Flush::Each && state.direct == Some(false), "{state:?}");
        if commits > 0 {
            assert!(state.unwritten.is_none_or(|share| share == 0.0), "{state:?}");
            assert!(state.entropy_bits.unwrap() > 7.9, "{state:?}");
        }
    }
    let mut times = Latencies::default();
    load.latencies(&mut times);
    assert_eq!(times.summary().unwrap().count, 10);
}

#[test]
fn threads_add_up() {
    let setup = FSYNC.setup(&params(512, 1 << 20).with("threads", 2)).unwrap();
    let mut loads: Vec<_> = (0..2).map(|i| setup.thread(i, 2).unwrap()).collect();
    for load in &mut loads {
        load.run(3);
        assert_eq!(load.verify(), Ok(3));
    }
    assert_eq!(setup.file().unwrap().asked_written_bytes, 6 * 512);
    assert_eq!(FSYNC.disk_bytes(&params(512, 1 << 20).with("threads", 2)), 2 << 20);
}

#[test]
fn a_full_file_is_begun_anew() {
    let mut log = log(1000, 4500);
    log.prepare(3);
    log.run(3);
    assert_eq!(log.length, 3000);
    assert_eq!(log.verify(), Ok(3));
    log.prepare(2);
    assert_eq!(log.length, 0, "two more do not fit");
    // More than fits at all: begun anew on the way.
    log.prepare(6);
    assert_eq!(verified(&mut log, &[1, 4, 1]), Ok(6));
    assert_eq!(log.length, 2000);
    assert_eq!(log.file().metadata().unwrap().len(), 2000);
}

#[test]
fn what_is_lost_at_the_end_of_the_file_is_found() {
    let mut log = log(4096, 1 << 20);
    log.run(8);
    let mut last = [0; 16];
    log.file().read_exact_at(&mut last, 7 * 4096).unwrap();
    log.file().set_len(7 * 4096).unwrap();
    let reason = log.verify().unwrap_err();
    assert!(reason.starts_with("the file ends before byte 32768"), "{reason}");
    log.file().set_len(8 * 4096).unwrap();
    let reason = log.verify().unwrap_err();
    // One random byte in 256 is a zero, as the hole that is read back.
    let first = 28672 + last.iter().position(|byte| *byte != 0).unwrap();
    assert!(reason.starts_with(&format!("byte {first} of the test file: read 00")), "{reason}");
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
