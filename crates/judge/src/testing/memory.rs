//! Healthy results of memory workloads.

use proofmark_model::{Measurement, Params, Touched, Unit, key};

use super::{around, each, measurement};

/// A STREAM workload: arrays of 1 GiB, non-temporal stores, 10 GB/s per thread.
pub(crate) fn stream(op: &str, threads: u64) -> Measurement {
    let mut params = Params::default()
        .with(key::THREADS, threads)
        .with(key::ISA, "avx512")
        .with(key::ARRAY_SIZE, 1 << 30)
        .with(key::PAGES, "huge");
    if op != "read" {
        params = params.with(key::STORES, "nontemporal");
    }
    let value = 1e10 * threads.clamp(1, 2) as f64;
    memory(op, params, value)
}

/// A sweep's result with a set of that size for each thread; 10 GB/s per thread.
pub(crate) fn sweep(op: &str, threads: u64, working_set: u64) -> Measurement {
    let params = Params::default()
        .with(key::OPERATION, op)
        .with(key::THREADS, threads)
        .with(key::ISA, "avx512")
        .with(key::WORKING_SET, working_set)
        .with(key::PAGES, "huge");
    memory("sweep", params, 1e10 * threads as f64)
}

/// A published operation on one thread with 1 GiB of data; 10 GB/s.
pub(crate) fn blocks(op: &str, block_size: u64) -> Measurement {
    let params = Params::default()
        .with(key::THREADS, 1)
        .with(key::BLOCK_SIZE, block_size)
        .with(key::DATA_SIZE, 1 << 30)
        .with(key::PAGES, "huge");
    memory(op, params, 1e10)
}

/// A pointer chase through a set of that size, at that many seconds per load.
pub(crate) fn latency(working_set: u64, seconds: f64) -> Measurement {
    let params = Params::default().with(key::WORKING_SET, working_set).with(key::PAGES, "huge");
    let params = params.with(key::ORDER, "local");
    memory("latency", params, seconds)
}

/// A trial that visited no place twice.
fn nothing_twice() -> Touched {
    Touched { place_bytes: 64, places: 1, least_visits: 1, most_visits: 1, reuse_bytes: None }
}

fn memory(workload: &str, params: Params, value: f64) -> Measurement {
    let m = measurement(&format!("memory.{workload}"), params, &around(value));
    let moves = m.unit == Unit::BytePerSecond;
    each(m, |_, t| {
        t.moved = moves.then_some(t.work);
        t.touched = Some(nothing_twice());
        t.conditions.huge_pages = Some(1.0);
        t.conditions.misplaced_pages = Some(0.0);
    })
}
