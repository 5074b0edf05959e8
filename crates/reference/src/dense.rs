//! What the tools share that solve and multiply dense matrices.

use crate::{Figure, Output, Task};
use proofmark_model::{Isa, key};

/// The one instruction set below the widest that libraries are held to.
pub(crate) const AVX2: &str = Isa::Avx2Fma.name();

/// The widest instruction set of this CPU that our workloads have loops for, as they name it:
/// what a library takes by itself is held against that.
pub(crate) fn widest() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return Isa::Avx512.name();
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return AVX2;
        }
        Isa::Sse2.name()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Isa::Scalar.name()
}

/// Threads of the task, each of them one of `called`; fails if they are more than its CPUs.
pub(crate) fn threads(task: &Task, called: &str) -> Result<u64, String> {
    let threads = task.params.threads();
    if threads > task.cpus.len() as u64 {
        return Err(format!("it runs no more {called} than it has CPUs"));
    }
    Ok(threads)
}

/// Holds that the task's instruction set is the widest, which a library takes by itself.
/// Fails if it is another, of a library of that name: `its BLAS cannot be limited to sse2`.
pub(crate) fn by_itself(task: &Task, library: &str, widest: &str) -> Result<(), String> {
    match task.params.get(key::ISA) {
        Some(isa) if isa != widest => Err(format!("{library} cannot be limited to {isa}")),
        _ => Ok(()),
    }
}

/// An environment that gives a library so many threads, by variables of these names.
pub(crate) fn environment(names: &[&'static str], threads: u64) -> Vec<(&'static str, String)> {
    let variables = names.iter().map(|name| (*name, threads.to_string()));
    // It would take fewer where it thinks that better.
    variables.chain([("MKL_DYNAMIC", "FALSE".to_owned())]).collect()
}

/// Rows of the task's matrices; 0 where it does not say.
pub(crate) fn rows(task: &Task) -> u64 {
    task.params.get(key::MATRIX_SIZE).unwrap_or(0)
}

/// Bytes of a program that has matrices of so many, and calls a library for them.
pub(crate) fn memory(task: &Task, matrices: u64) -> u64 {
    // What program and library are, and a thread's packed blocks.
    const PROGRAM: u64 = 128 << 20;
    const THREAD: u64 = 32 << 20;
    let threads = task.params.threads().saturating_mul(THREAD);
    matrices.saturating_add(threads).saturating_add(PROGRAM)
}

/// Operations of a solve of so many equations, as proofmark counts them.
pub(crate) fn operations(n: u64) -> f64 {
    let n = n as f64;
    n * n * (2.0 / 3.0 * n + 2.0)
}

/// The figure of the task's test and size on so many threads, or what it takes for them.
pub(crate) fn figure(
    task: &Task,
    output: Output,
    threads: impl Fn(&Figure) -> Option<u64>,
) -> Option<Figure> {
    let asked = |f: &Figure| {
        f.test == task.test
            && f.params.get(key::MATRIX_SIZE) == task.params.get(key::MATRIX_SIZE)
            && threads(f) == Some(task.params.threads())
    };
    output.figures.into_iter().find(asked)
}
