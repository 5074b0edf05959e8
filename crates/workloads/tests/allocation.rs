//! Tests that the timed part of a workload allocates no memory.

#![allow(unsafe_code)] // Implements a counting allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proofmark_engine::{Latencies, Load};
use proofmark_model::{Params, key};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does all work, and counting allocates no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the number of allocations by this thread during `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn recording_takes_none_where_it_was_made_ready() {
    let mut ready = Latencies::ready();
    let all = || (0..64).for_each(|bit| ready.record(1 << bit));
    assert_eq!(allocations(all), 0);
    let mut first = Latencies::default();
    assert!(allocations(|| first.record(1)) > 0, "nothing is counted");
    assert_eq!(allocations(|| first.record(2)), 0);
}

fn params(engine: &str, depth: u64) -> Params {
    Params::default()
        .with(key::THREADS, 1)
        .with(key::BLOCK_SIZE, 4096)
        .with(key::QUEUE_DEPTH, depth)
        .with(key::FILE_SIZE, 1 << 20)
        .with(key::ENGINE, engine)
        .with(key::DIRECT, "off")
        .with(key::CACHE, "warm")
        .with(key::FLUSH, "end")
        .with_auto(key::AMOUNT)
        .with(key::MODE, "append")
        .with(key::METHOD, "fdatasync")
}

#[test]
fn disk_workloads_take_none_while_they_are_timed() {
    for id in ["disk.rand_read", "disk.rand_write", "disk.fsync"] {
        let workload = proofmark_workloads::find(id).unwrap();
        for (engine, depth) in [("psync", 1), ("io_uring", 8)] {
            let setup = workload.configure(&params(engine, depth)).and_then(|c| c.setup()).unwrap();
            let mut load: Box<dyn Load> = match setup.thread(0, 1) {
                Ok(load) => load,
                Err(refused) => {
                    proofmark_testing::skip(format!("{engine}: {refused}"));
                    continue;
                }
            };
            for ios in [10, 300] {
                load.prepare(ios);
                load.begin();
                assert_eq!(allocations(|| load.run(ios)), 0, "{id} {engine}");
                assert_eq!(allocations(|| load.run(2 * ios)), 0, "{id} {engine}");
                assert_eq!((load.failure(), load.verify()), (None, Ok(3 * ios)));
            }
            let mut times = Latencies::default();
            load.latencies(&mut times);
            assert!(times.summary().is_some());
        }
    }
}

#[test]
fn loads_that_run_in_slices_take_none_in_a_run() {
    let common = Params::default()
        .with(key::THREADS, 1)
        .with(key::ISA, "scalar")
        .with(key::NUMBER_TYPE, "f64")
        .with(key::STORES, "temporal")
        .with(key::PAGES, "small")
        .with(key::ORDER, "rand")
        .with(key::WORKING_SET, 1 << 20)
        .with(key::ARRAY_SIZE, 1 << 20)
        .with(key::OPERATION, "copy")
        .with(key::BLOCK_SIZE, 256 << 10)
        .with(key::DATA_SIZE, 8 << 20);
    for id in [
        "cpu.clock",
        "cpu.flops",
        "memory.copy",
        "memory.read",
        "memory.sweep",
        "memory.latency",
        "memory.rand_read",
        "memory.rand_read_write",
        "memory.seq_write",
    ] {
        let setup = proofmark_workloads::find(id)
            .unwrap()
            .configure(&common)
            .and_then(|c| c.setup())
            .unwrap();
        let mut load = setup.thread(0, 1).unwrap();
        load.prepare(100);
        load.run(3);
        load.begin();
        // Far more iterations than were prepared.
        assert_eq!(allocations(|| (0..5000).for_each(|k| load.run(k % 3))), 0, "{id}");
        assert_eq!((load.failure(), load.verify()), (None, Ok(4999)), "{id}");
    }
}
