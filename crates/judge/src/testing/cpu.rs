//! Healthy results of CPU workloads.

use proofmark_model::{Measurement, Params, Solution, key};

use super::{around, each, measurement};

/// f64 FMA with AVX2 at 99 % of its ceiling.
pub(crate) fn flops(threads: u64) -> Measurement {
    let params = Params::default()
        .with(key::THREADS, threads)
        .with(key::ISA, "avx2+fma")
        .with(key::NUMBER_TYPE, "f64");
    let value = 0.99 * 64e9 * threads.clamp(1, 2) as f64;
    measurement("cpu.flops", params, &around(value))
}

/// Scalar i64 additions at 98 % of their ceiling.
pub(crate) fn iops(threads: u64) -> Measurement {
    let params = Params::default()
        .with(key::THREADS, threads)
        .with(key::ISA, "scalar")
        .with(key::NUMBER_TYPE, "i64");
    let value = 0.98 * 20e9 * threads.clamp(1, 2) as f64;
    measurement("cpu.iops", params, &around(value))
}

/// A dense system of `n` equations, solved at 90 % of the ceiling.
pub(crate) fn linpack(n: u64, threads: u64) -> Measurement {
    let x = n as f64;
    let m = dense("cpu.linpack", n, threads, 2.0 / 3.0 * x.powi(3) + 2.0 * x * x);
    each(m, |_, t| {
        t.solution = Some(Solution {
            n,
            leading_dimension: 8,
            alignment: 64,
            residual: 1e-12,
            normalised_residual: 0.004,
        });
    })
}

/// The product of two dense matrices at 90 % of the ceiling.
pub(crate) fn dgemm(n: u64, threads: u64) -> Measurement {
    dense("cpu.dgemm", n, threads, 2.0 * (n as f64).powi(3))
}

/// A result with that many operations per trial, at 90 % of the ceiling.
fn dense(workload: &str, n: u64, threads: u64, operations: f64) -> Measurement {
    let params = Params::default()
        .with(key::THREADS, threads)
        .with(key::MATRIX_SIZE, n)
        .with(key::ISA, "avx2+fma");
    let busy = threads.clamp(1, 2) as f64;
    let m = measurement(workload, params, &around(0.9 * 64e9 * busy));
    each(m, |_, t| {
        t.work = operations;
        t.seconds = operations / t.value;
        t.conditions.own_cpu_s = Some(busy * t.seconds);
    })
}

/// A published instruction mix on one thread.
pub(crate) fn mix(float: bool, name: &str, isa: &str) -> Measurement {
    let (workload, kind) = if float { ("cpu.mix.float", "f64") } else { ("cpu.mix.int", "i64") };
    let params = Params::default()
        .with(key::THREADS, 1)
        .with(key::MIX, name)
        .with(key::ISA, isa)
        .with(key::NUMBER_TYPE, kind)
        .with(key::ITERATIONS, 1_000_000_000);
    measurement(workload, params, &around(7.8e9))
}

/// The clock of one core.
pub(crate) fn clock(hz: f64) -> Measurement {
    let params = Params::default().with(key::THREADS, 1);
    measurement("cpu.clock", params, &around(hz))
}
