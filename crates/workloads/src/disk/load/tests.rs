use std::os::unix::fs::FileExt;

use Operation::{Copy, Mixed, Read, Write};
use proofmark_testing::skip;
use rustix::fs::ftruncate;

use super::super::engine::Kind;
use super::super::order::Order::{Rand, Seq};
use super::super::shape::testing::SHAPE;
use super::*;
use crate::params::testing::{uneven_slices, verified};

const MIB: u64 = 1 << 20;

/// Each test has its own file size, so that no test gets a file that another one damaged.
fn shape(file_size: u64, block_size: u64, queue_depth: u64, direct: bool) -> Shape {
    let engine = if queue_depth > 1 { Kind::Uring } else { Kind::Psync };
    let cache = if direct { Cache::None } else { Cache::Cold };
    Shape { block_size, queue_depth, file_size, engine, direct, cache, ..SHAPE }
}

/// Returns the task and its only thread, or `None` where the system does not support it.
fn task(kind: (Operation, Order), shape: Shape) -> Option<(Arc<Task>, Thread)> {
    let task = match Task::new(kind, shape) {
        Err(reason) if shape.direct => {
            skip(reason.0);
            return None;
        }
        task => Arc::new(task.unwrap()),
    };
    match Thread::new(&task, 0, 1) {
        Err(reason) if shape.engine == Kind::Uring => {
            skip(reason.0);
            None
        }
        thread => Some((task, thread.unwrap())),
    }
}

fn trial(thread: &mut Thread, iterations: u64) -> Result<u64, String> {
    trial_in(thread, &[iterations])
}

/// Runs a trial in these slices, after some I/Os ahead that do not count.
fn trial_in(thread: &mut Thread, slices: &[u64]) -> Result<u64, String> {
    thread.prepare(slices.iter().sum());
    thread.run(3);
    verified(thread, slices)
}

#[test]
fn every_workload_does_what_it_is_asked_and_proves_it() {
    let size = 3 * MIB;
    for (operation, order, reads) in [
        (Read, Seq, 100),
        (Write, Seq, 0),
        (Copy, Seq, 50),
        (Read, Rand, 100),
        (Write, Rand, 0),
        (Mixed, Rand, 70),
    ] {
        for (block, depth, direct) in [
            (4096, 1, true),
            (4096, 32, true),
            (65536, 8, true),
            (MIB, 2, true),
            (1, 1, false),
            (8, 1, false),
            (1000, 1, false),
            (8, 4, false),
        ] {
            let shape =
                Shape { reads, flush: operation != Read, ..shape(size, block, depth, direct) };
            let Some((task, mut thread)) = task((operation, order), shape) else {
                continue;
            };
            let what = format!("{operation:?} {order:?} {block} {depth}");
            // More than the number of larger blocks in the file.
            for slices in [vec![0], vec![1], uneven_slices(150), vec![200], uneven_slices(200)] {
                let all = slices.iter().sum();
                assert_eq!(trial_in(&mut thread, &slices), Ok(all), "{what}");
            }
            let state = Blocks(task).file().unwrap();
            let read = 200 * reads / 100 * block;
            assert_eq!(
                (state.asked_read_bytes, state.asked_written_bytes),
                (read, 200 * block - read),
                "{what}"
            );
            assert_eq!((state.direct, state.size_bytes), (Some(direct), size), "{what}");
            let flush = if operation == Read { Flush::Never } else { Flush::End };
            assert_eq!((state.order, state.flush), (order, flush), "{what}");
            assert!(state.unwritten.is_none_or(|share| share == 0.0), "{what}: {state:?}");
            assert!(state.cached.is_none_or(|share| share == 0.0), "{what}: {state:?}");
            assert!(state.entropy_bits.unwrap() > 7.9, "{what}: {state:?}");
            let mut times = Latencies::default();
            thread.latencies(&mut times);
            let count = times.summary().unwrap().count;
            let range = if direct { 200..=200 } else { 3..=4 };
            assert!(range.contains(&count), "{what}: {count} timed");
            // The clock readings of a sample would show more than were in flight.
            assert_eq!(state.in_flight.is_some(), direct, "{what}");
            let in_flight = state.in_flight.unwrap_or(1.0);
            assert!(in_flight > 0.0 && in_flight <= depth as f64, "{what}: {in_flight} in flight");
        }
    }
}

#[test]
fn a_warm_cache_is_warm_and_a_cold_one_cold() {
    for (cache, share) in [(Cache::Warm, 1.0), (Cache::Cold, 0.0), (Cache::Warm, 1.0)] {
        let shape = Shape { cache, ..shape(5 * MIB, 8, 1, false) };
        let (task, mut thread) = task((Read, Seq), shape).unwrap();
        assert_eq!(trial(&mut thread, 100), Ok(100));
        let setup = Blocks(task);
        let cached = setup.file().unwrap().cached;
        // The system may evict a page or two at any time.
        assert!(cached.is_none_or(|c| (c - share).abs() < 0.01), "{cache:?}: {cached:?}");
        let ahead = if cache == Cache::Cold { 0.0 } else { 0.25 };
        assert_eq!((setup.ahead_s(2.0), setup.ahead_s(0.5)), (ahead, 0.0));
    }
}

#[test]
fn threads_read_and_write_each_its_own_part() {
    let shape = Shape { threads: 3, reads: 0, flush: true, ..shape(6 * MIB, 4096, 1, false) };
    let task = Arc::new(Task::new((Write, Seq), shape).unwrap());
    let mut threads: Vec<_> = (0..3).map(|i| Thread::new(&task, i, 3).unwrap()).collect();
    // Each thread writes its third of the file once: all is written, and nothing twice.
    for thread in &mut threads {
        thread.prepare(512);
        thread.run(512);
    }
    for thread in &mut threads {
        assert_eq!(thread.verify(), Ok(512), "another thread's blocks are in its place");
    }
    assert_eq!(Blocks(task).file().unwrap().asked_written_bytes, 6 * MIB);
}

#[test]
fn a_wrong_byte_in_the_file_is_found_by_what_reads_it() {
    for (order, direct) in [(Seq, false), (Rand, false), (Rand, true)] {
        // Few enough blocks that all are verified.
        let (size, block) =
            (7 * MIB + 16384 * (u64::from(direct) + u64::from(order == Rand)), 16384);
        let Some((task, mut thread)) = task((Read, order), shape(size, block, 1, direct)) else {
            continue;
        };
        let blocks = size / block;
        assert_eq!(trial(&mut thread, blocks), Ok(blocks));
        let file = std::fs::File::from(task.file.buffered().try_clone_to_owned().unwrap());
        let mut byte = [0];
        file.read_exact_at(&mut byte, 5 * MIB + 2).unwrap();
        file.write_all_at(&[byte[0] ^ 1], 5 * MIB + 2).unwrap();
        file.sync_all().unwrap();
        // A pass in random order may begin within a trial: two lengths hold a whole one.
        let reason = trial_in(&mut thread, &[7, 2 * blocks - 8, 1]).unwrap_err();
        assert!(reason.starts_with("byte 5242882 of the test file: read"), "{reason}");
    }
}

#[test]
fn a_write_that_is_dropped_is_found() {
    for (block, direct) in [(4096, true), (4096, false), (1000, false), (2 * MIB, false)] {
        let shape = Shape { reads: 0, flush: true, ..shape(9 * MIB, block, 1, direct) };
        let Some((task, mut thread)) = task((Write, Rand), shape) else { continue };
        assert_eq!(trial(&mut thread, 4), Ok(4));
        thread.begin();
        thread.run(1);
        thread.run(3);
        // The file has its previous data again.
        task.file.lay_out().unwrap();
        let reason = thread.verify().unwrap_err();
        assert!(reason.contains("the last write is missing"), "{block}: {reason}");
    }
}

#[test]
fn a_write_that_is_dropped_in_a_middle_run_is_found() {
    let shape = Shape { reads: 0, ..shape(13 * MIB, 4096, 1, false) };
    let (task, mut thread) = task((Write, Seq), shape).unwrap();
    let file = std::fs::File::from(task.file.buffered().try_clone_to_owned().unwrap());
    for (trial, drops) in [(0, false), (1, true)] {
        // A trial writes 30 blocks in order, and its middle run blocks 5 to 24.
        let (offset, mut block) = ((trial * 30 + 17) * 4096, [0; 4096]);
        file.read_exact_at(&mut block, offset).unwrap();
        thread.begin();
        thread.run(5);
        thread.run(20);
        if drops {
            file.write_all_at(&block, offset).unwrap();
        }
        thread.run(5);
        let verified = thread.verify();
        let missing = format!("byte {offset} of the test file: the last write is missing");
        assert_eq!(
            verified.as_ref().is_err_and(|e| e.starts_with(&missing)),
            drops,
            "{verified:?}"
        );
        assert_eq!(verified == Ok(30), !drops);
    }
}

#[test]
fn a_file_that_was_truncated_is_a_failure_with_its_offset() {
    let (task, mut thread) = task((Read, Seq), shape(11 * MIB, 4096, 1, false)).unwrap();
    ftruncate(task.file.buffered(), 8192).unwrap();
    thread.prepare(100);
    thread.run(100);
    let reason = "reading 4096 B at offset 8192 of the test file: only 0 B were transferred";
    assert_eq!(thread.failure().as_deref(), Some(reason));
    assert_eq!(thread.failure(), None, "reported once");
}
