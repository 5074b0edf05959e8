//! Tests that every workload proves its work, and that planted faults are found.

use proofmark_model::key;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::body::{Area, Blocks as Visited, Body, body};
use super::*;
use crate::memory::testing::host;
use crate::params::testing::{WorkloadExt, params, prove, uneven_slices, verified};

const ALL: [&Blocks; 6] =
    [&READ_WRITE, &RAND_READ_WRITE, &SEQ_WRITE, &RAND_WRITE, &SEQ_READ, &RAND_READ];
const SIZES: [u64; 7] = [1, 3, 8, 64, 100, 1024, 8192];
const OPERATIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Copy];

fn point(block_size: u64, data_size: u64, threads: u64) -> Params {
    let words = format!("threads={threads} block_size={block_size} data_size={data_size}");
    params(&format!("{words} pages=small"))
}

#[test]
fn every_workload_proves_every_block_on_every_thread() {
    for workload in ALL {
        for size in SIZES {
            // Data whose parts begin and end anywhere in a word.
            let data = if size < 8 { 10_000 } else { 150_000 } + 3 * size;
            let setup = workload.setup(&point(size, data, 2)).unwrap();
            let part = data / size / 2;
            // No iterations, more than a pass has left, several passes, and more passes than
            // stamps.
            let trials = [1, part / 2, part, 0, part + 2, 3 * part + 1, 130 * part];
            prove(&*setup, 2, &trials, &format!("{} {size} B", workload.spec.id));
        }
    }
}

#[test]
fn a_large_block_is_visited_in_pieces_and_counts_as_much() {
    const PIECE: u64 = 128 << 10;
    for workload in ALL {
        for (size, in_pieces) in [(PIECE, 1), (2 * PIECE, 2), (3 * PIECE, 3), (PIECE + 64, 1)] {
            let pieces = if body::streams(size) { in_pieces } else { 1 };
            let params = point(size, 9 * size, 2);
            let setup = workload.setup(&params).unwrap();
            let whole = workload.operation.sides() * size;
            assert_eq!(setup.work_per_iteration() * pieces as f64, whole as f64);
            prove(&*setup, 2, &[1, 4 * pieces - 1, 25], &format!("{} {size} B", workload.spec.id));

            let shape = Shape::from_params(&params).unwrap();
            let task = Task::new(workload.operation, workload.random, shape, Pages::Small).unwrap();
            let Some(order) = task.part(1, 2).random else { continue };
            // The pieces of a block follow each other.
            let blocks = order.chunks(pieces as usize);
            assert_eq!(blocks.len(), 4);
            for block in blocks {
                let first = block[0];
                assert!(first.is_multiple_of(pieces as u32));
                assert!(block.iter().zip(first..).all(|(piece, due)| *piece == due), "{block:?}");
            }
        }
    }
}

/// Threads that run in parallel touch every block, and none that another touches.
#[test]
fn the_threads_of_a_point_share_out_all_blocks() {
    for workload in [&SEQ_WRITE, &RAND_WRITE] {
        for threads in [1, 3, 7] {
            let shape = Shape { threads, block_size: 100, data_size: 10_000 };
            let task = Task::new(workload.operation, workload.random, shape, Pages::Small).unwrap();
            let mut parts: Vec<_> = (0..threads).map(|i| task.part(i, threads)).collect();
            let mut touched = vec![0; 100];
            for (index, part) in parts.iter_mut().enumerate() {
                let own = match &part.random {
                    Some(order) => order.len(),
                    None => part.blocks,
                } as u64;
                part.begin();
                // SAFETY: all of the data, which no thread writes meanwhile.
                let data = || unsafe { std::slice::from_raw_parts(task.arena.base(), 10_000) };
                let before = data().to_vec();
                part.run(own);
                for (block, bytes) in data().chunks(100).enumerate() {
                    touched[block] += usize::from(bytes != &before[block * 100..][..100]);
                }
                assert_eq!(part.verify(), Ok(own), "thread {index} of {threads}");
            }
            assert_eq!(touched, vec![1; 100], "{} {threads}", workload.spec.id);
        }
    }
}

/// A part of 40 blocks.
fn part(operation: Operation, random: bool, size: u64) -> load::BlockLoad {
    let shape = Shape { threads: 1, block_size: size, data_size: size * 40 };
    let mut part = Task::new(operation, random, shape, Pages::Small).unwrap().part(0, 1);
    if let Some(order) = &mut part.random {
        // Data this small would not have such a long order.
        *order = order::Permutation::new(order::Share::new(40, 0, 1), 3).first(40, 1);
    }
    part
}

fn list(blocks: Visited<'_>) -> Vec<u32> {
    match blocks {
        Visited::Row(first, count) => (first as u32..(first + count) as u32).collect(),
        Visited::List(list) => list.to_vec(),
    }
}

/// Runs the correct body of operation number `O`.
unsafe fn right<const O: usize>(area: &Area, blocks: &[u32], stamp: u8) -> u64 {
    // SAFETY: the caller's promise, passed on.
    unsafe { body(OPERATIONS[O], area.size as u64)(area, Visited::List(blocks), stamp) }
}

/// Returns the faulty block. The stretches before this one did not include it correctly.
fn victim(list: &[u32]) -> u32 {
    if list.contains(&20) { 20 } else { list[0] }
}

/// Omits one block.
unsafe fn skips<const O: usize>(area: &Area, blocks: Visited<'_>, stamp: u8) -> u64 {
    let mut list = list(blocks);
    let victim = victim(&list);
    list.retain(|block| *block != victim);
    // SAFETY: the caller's promise, passed on.
    unsafe { right::<O>(area, &list, stamp) }
}

/// Visits one block a second time in place of another.
unsafe fn repeats<const O: usize>(area: &Area, blocks: Visited<'_>, stamp: u8) -> u64 {
    let mut list = list(blocks);
    let victim = victim(&list);
    let other = list.iter().copied().find(|block| *block != victim).unwrap_or(victim);
    list.iter_mut().filter(|block| **block == victim).for_each(|block| *block = other);
    // SAFETY: the caller's promise, passed on.
    unsafe { right::<O>(area, &list, stamp) }
}

/// Corrupts the last byte of a block.
unsafe fn errs<const O: usize>(area: &Area, blocks: Visited<'_>, stamp: u8) -> u64 {
    let list = list(blocks);
    // SAFETY: the caller's promise, passed on.
    let sum = unsafe { right::<O>(area, &list, stamp) };
    if OPERATIONS[O] == Operation::Read {
        return sum + 1;
    }
    let last = (victim(&list) as usize + 1) * area.size - 1;
    // SAFETY: the last byte of one of the caller's blocks.
    unsafe { *area.target.add(last) ^= 1 };
    0
}

unsafe fn idles(_: &Area, _: Visited<'_>, _: u8) -> u64 {
    0
}

/// Runs the given slices with the correct body `good` times, then once with `body`. Returns the
/// result of the last verification.
fn outcome(
    mut part: load::BlockLoad,
    slices: &[u64],
    good: u64,
    body: Body,
) -> Result<u64, String> {
    let blocks = slices.iter().sum();
    for _ in 0..good {
        assert_eq!(verified(&mut part, slices), Ok(blocks));
    }
    part.body = body;
    verified(&mut part, slices)
}

fn every_fault<const O: usize>() {
    for size in SIZES {
        for random in [false, true] {
            for blocks in [10, 40, 57, 200] {
                let operation = OPERATIONS[O];
                let faults: [(&str, Body); 4] = [
                    ("skips", skips::<O>),
                    ("repeats", repeats::<O>),
                    ("errs", errs::<O>),
                    ("idles", idles),
                ];
                for ((fault, body), good) in faults.into_iter().flat_map(|f| [(f, 0), (f, 3)]) {
                    for slices in [vec![blocks], uneven_slices(blocks)] {
                        let found = outcome(part(operation, random, size), &slices, good, body);
                        let what = format!("{operation:?}, {size} B, random: {random}, {slices:?}");
                        assert!(
                            found.is_err(),
                            "{what}, after {good} trials: {fault} is not found"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_faulty_operation_is_found() {
    every_fault::<0>();
    every_fault::<1>();
    every_fault::<2>();
}

/// Calls of the body below.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Does nothing in its first call.
unsafe fn late<const O: usize>(area: &Area, blocks: Visited<'_>, stamp: u8) -> u64 {
    if CALLS.fetch_add(1, Ordering::Relaxed) == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { right::<O>(area, &list(blocks), stamp) }
}

#[test]
fn a_pass_left_out_is_found_though_the_next_one_writes_over_it() {
    for (operation, body) in [(OPERATIONS[1], late::<1> as Body), (OPERATIONS[2], late::<2>)] {
        CALLS.store(0, Ordering::Relaxed);
        let mut part = part(operation, false, 64);
        part.body = body;
        let error = verified(&mut part, &[80]).unwrap_err();
        assert_eq!(error, "byte 0 of block 39 was not written at the end of a run");
        assert_eq!(verified(&mut part, &[80]), Ok(80), "the body is right from the second call on");
    }
}

/// Calls of the body below until the faulty one.
static UNTIL_FAULT: AtomicU64 = AtomicU64::new(0);
static FAULT: Mutex<Option<Body>> = Mutex::new(None);

/// Commits the planted fault in one call.
unsafe fn once<const O: usize>(area: &Area, blocks: Visited<'_>, stamp: u8) -> u64 {
    let is_due = UNTIL_FAULT.fetch_sub(1, Ordering::Relaxed) == 0;
    let fault = FAULT.lock().unwrap().filter(|_| is_due);
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match fault {
            Some(fault) => fault(area, blocks, stamp),
            None => right::<O>(area, &list(blocks), stamp),
        }
    }
}

fn every_fault_in_a_slice<const O: usize>() {
    let faults: [(&str, Body); 4] =
        [("skips", skips::<O>), ("repeats", repeats::<O>), ("errs", errs::<O>), ("idles", idles)];
    // First less than one round, then more, with the fault where a later pass overwrites it.
    for (slices, wrong) in [([7, 2, 9, 5, 8], 1..4), ([30, 6, 30, 2, 29], 0..5)] {
        let counted = slices.iter().sum();
        let overwritten = counted > 40;
        for (random, ((fault, body), at)) in [false, true].into_iter().flat_map(|random| {
            let wrong = wrong.clone();
            let cases = faults.into_iter().flat_map(move |f| wrong.clone().map(move |at| (f, at)));
            cases.map(move |case| (random, case))
        }) {
            // Omissions within a stretch that is overwritten stay unproven.
            if overwritten && OPERATIONS[O] != Operation::Read && fault != "idles" {
                continue;
            }
            let mut part = part(OPERATIONS[O], random, 64);
            part.body = once::<O>;
            *FAULT.lock().unwrap() = None;
            part.run(6); // Ahead of the trial, without a fault.
            assert_eq!(verified(&mut part, &slices), Ok(counted), "an honest body");
            part.run(6);
            *FAULT.lock().unwrap() = Some(body);
            UNTIL_FAULT.store(at, Ordering::Relaxed);
            let found = verified(&mut part, &slices);
            let what = format!("{:?}, random: {random}, {slices:?}", OPERATIONS[O]);
            assert!(found.is_err(), "{what}: {fault} in stretch {at} is not found");
        }
    }
}

#[test]
fn a_fault_in_a_middle_slice_is_found() {
    every_fault_in_a_slice::<0>();
    every_fault_in_a_slice::<1>();
    every_fault_in_a_slice::<2>();
}

/// Blocks that ran ahead do not count, but an omission there is still found.
#[test]
fn blocks_that_ran_ahead_are_verified_too() {
    for operation in [Operation::Write, Operation::Copy] {
        let mut part = part(operation, false, 64);
        part.run(10);
        // SAFETY: the first byte of block 3.
        unsafe { *part.area.target.add(3 * 64) ^= 1 };
        let error = verified(&mut part, &[20]).unwrap_err();
        assert!(error.starts_with("byte 0 of block 3 is "), "{error}");
        // A copy that is left from the run ahead proves nothing later.
        let mut part = self::part(operation, false, 64);
        part.run(10);
        assert_eq!(verified(&mut part, &[30]), Ok(30));
        part.body = idles;
        assert!(verified(&mut part, &[1, 9]).is_err());
    }
}

#[test]
fn an_order_that_holds_a_block_twice_is_found() {
    for operation in [Operation::Write, Operation::Copy] {
        let mut part = part(operation, true, 64);
        let order = part.random.as_mut().unwrap();
        order[20] = order[7];
        let error = verified(&mut part, &[15, 15, 10]).unwrap_err();
        assert!(error.starts_with("byte ") && error.contains(", expected "), "{error}");
    }
}

#[test]
fn the_difference_is_reported() {
    let mut part = part(Operation::Write, false, 100);
    part.run(40);
    // SAFETY: byte 4 of block 12.
    unsafe { *part.area.target.add(1204) = 77 };
    assert_eq!(part.verify(), Err("byte 4 of block 12 is 77, expected 1".to_owned()));
}

#[test]
fn data_left_to_the_machine_defeats_the_cache_and_holds_the_blocks() {
    let resolved = |block_size: u64, threads: u64, cache_mib: u64| {
        let params = point(block_size, 0, threads).with_auto(key::DATA_SIZE);
        let params = RAND_READ.resolve_auto(params, &host(Some(cache_mib << 20))).remove(0);
        assert_eq!(RAND_READ.refusal(&params), None);
        params.get(key::DATA_SIZE).unwrap()
    };
    assert_eq!(resolved(8192, 1, 32), 1 << 30);
    assert_eq!(resolved(8192, 1, 480), 1920 << 20);
    assert_eq!(resolved(80 << 20, 16, 32), 1280 << 20, "a block a thread");
    assert_eq!(resolved(1, 1, 2048), 1 << 32, "no more blocks than an order holds");
}

#[test]
fn blocks_that_do_not_fit_are_refused_in_one_line() {
    for (point, reason) in [
        (
            point(80 << 20, 512 << 20, 8),
            "blocks of 80 MiB for 8 threads need at least 640 MiB of data, but data_size is 512 MiB",
        ),
        (
            point(1, 1 << 34, 2),
            "16 GiB in blocks of 1 B exceed the most blocks that a random order supports: 4294967296",
        ),
        (params("pages=small block_size=8"), "data_size is not set"),
    ] {
        assert_eq!(SEQ_READ.refusal(&point).as_deref(), Some(reason));
    }
}

#[test]
fn a_copy_counts_and_takes_both_sides() {
    let point = point(1 << 20, 10 << 20, 2);
    let pieces = if body::streams(1 << 20) { 8 } else { 1 };
    let sizes = |workload: &Blocks| {
        let setup = workload.setup(&point).unwrap();
        (setup.work_per_iteration() * pieces as f64, workload.needs(&point).memory_bytes)
    };
    assert_eq!(sizes(&SEQ_READ), (1048576.0, 10 << 20));
    assert_eq!(sizes(&READ_WRITE), (2097152.0, 20 << 20));
    // 5 blocks for each of 2 threads, with an entry of 4 bytes for each of their pieces.
    assert_eq!(sizes(&RAND_READ_WRITE), (2097152.0, (20 << 20) + 5 * pieces * 4 * 2));
}
