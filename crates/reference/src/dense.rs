//! Common code of the tools that solve and multiply dense matrices.

use crate::{Figure, Output, Task};
use proofmark_model::{Isa, key};

/// The only instruction set below the widest that libraries can be limited to.
pub(crate) const AVX2: &str = Isa::Avx2Fma.name();

/// Returns the widest instruction set of this CPU that proofmark's workloads have loops for, by
/// their name. A library uses its widest by default, and is compared with that.
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

/// Returns the task's threads, which the tool calls `called`. Fails if they exceed the task's CPUs.
pub(crate) fn threads(task: &Task, called: &str) -> Result<u64, String> {
    let threads = task.params.threads();
    if threads > task.cpus.len() as u64 {
        return Err(format!("it runs no more {called} than it has CPUs"));
    }
    Ok(threads)
}

/// Checks that the task's instruction set is the widest, which a library uses by default. Fails if
/// it is another: `its BLAS cannot be limited to sse2`.
pub(crate) fn require_widest(task: &Task, library: &str, widest: &str) -> Result<(), String> {
    match task.params.get(key::ISA) {
        Some(isa) if isa != widest => Err(format!("{library} cannot be limited to {isa}")),
        _ => Ok(()),
    }
}

/// Returns an environment that sets a library's threads by variables of these names.
pub(crate) fn environment(names: &[&'static str], threads: u64) -> Vec<(&'static str, String)> {
    let variables = names.iter().map(|name| (*name, threads.to_string()));
    // Otherwise MKL uses fewer threads where it expects that to be faster.
    variables.chain([("MKL_DYNAMIC", "FALSE".to_owned())]).collect()
}

/// Returns the rows of the task's matrices; 0 if the task has no such parameter.
pub(crate) fn rows(task: &Task) -> u64 {
    task.params.get(key::MATRIX_SIZE).unwrap_or(0)
}

/// Returns the memory in bytes of a program with this many bytes of matrices that calls a library.
pub(crate) fn memory(task: &Task, matrices: u64) -> u64 {
    // The program with its library, and the packed blocks of a thread.
    const PROGRAM: u64 = 128 << 20;
    const THREAD: u64 = 32 << 20;
    let threads = task.params.threads().saturating_mul(THREAD);
    matrices.saturating_add(threads).saturating_add(PROGRAM)
}

/// Returns the operations of a solve of `n` equations, as proofmark counts them.
pub(crate) fn operations(n: u64) -> f64 {
    let n = n as f64;
    n * n * (2.0 / 3.0 * n + 2.0)
}

/// Returns the figure of the task's test and size on the task's threads. `threads` returns those of
/// a figure.
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
