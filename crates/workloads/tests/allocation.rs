//! The timed part of a workload that times single operations takes no memory.

#![allow(unsafe_code)] // An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proofmark_engine::{Latencies, Load};
use proofmark_model::Params;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does it all; to count takes no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
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

/// How often this thread takes memory meanwhile.
fn taken(work: impl FnOnce()) -> u64 {
    let before = TAKEN.get();
    work();
    TAKEN.get() - before
}

#[test]
fn recording_takes_none_where_it_was_made_ready() {
    let mut ready = Latencies::ready();
    let all = || (0..64).for_each(|bit| ready.record(1 << bit));
    assert_eq!(taken(all), 0);
    let mut first = Latencies::default();
    assert!(taken(|| first.record(1)) > 0, "nothing is counted");
    assert_eq!(taken(|| first.record(2)), 0);
}

fn params(engine: &str, depth: u64) -> Params {
    Params::default()
        .with("threads", 1)
        .with("block_size", 4096)
        .with("queue_depth", depth)
        .with("file_size", 1 << 20)
        .with("engine", engine)
        .with("direct", "off")
        .with("cache", "warm")
        .with("flush", "end")
        .with("amount", "auto")
}

#[test]
fn disk_workloads_take_none_while_they_are_timed() {
    for id in ["disk.rand_read", "disk.rand_write", "disk.fsync"] {
        let workload = proofmark_workloads::find(id).unwrap();
        for (engine, depth) in [("psync", 1), ("io_uring", 8)] {
            let setup = workload.setup(&params(engine, depth)).unwrap();
            let mut load: Box<dyn Load> = match setup.thread(0, 1) {
                Ok(load) => load,
                Err(refused) => {
                    proofmark_testing::skip(format!("{engine}: {refused}"));
                    continue;
                }
            };
            for ios in [10, 300] {
                load.prepare(ios);
                assert_eq!(taken(|| load.run(ios)), 0, "{id} {engine}");
                assert_eq!((load.failure(), load.verify()), (None, Ok(ios)));
            }
            let mut times = Latencies::default();
            load.latencies(&mut times);
            assert!(times.summary().is_some());
        }
    }
}
