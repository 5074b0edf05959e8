//! Intel's LINPACK beside our solver: one solve after a small one.

use super::Linpack;
use crate::lapack::widest;
use crate::{Beside, Figure, Installed, Invocation, Output, Task, on_path};

/// Equations of the solve that starts its threads, which is not taken; another where these are
/// the task's.
const FIRST: [u64; 2] = [500, 400];

impl Beside for Linpack {
    fn installed(&self) -> Option<Installed> {
        let program = on_path(&["xlinpack_xeon64", "xlinpack"], &[])?;
        Some(Installed { program, version: "version not told".to_owned() })
    }

    fn package(&self) -> &'static str {
        "Intel: onemkl-benchmarks (xlinpack_xeon64)"
    }

    fn counts(&self, kernel: &str) -> Option<&'static str> {
        (kernel == "cpu.linpack").then_some(
            "2/3 n^3 + 2 n^2 operations, as ours, in its own blocks and threads; A by columns",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        solve(task, widest())
    }

    fn takes(&self, task: &Task) -> f64 {
        // One thread makes A, and makes it again for the residual.
        let n = task.params.int("n").unwrap_or(0) as f64;
        1.0 + 5e-8 * n * n + 1.5 * task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        // The program, and a thread's packed blocks.
        const PROGRAM: u64 = 128 << 20;
        const THREAD: u64 = 32 << 20;
        let n = task.params.int("n").unwrap_or(0);
        let matrix = leading(n).saturating_mul(n).saturating_mul(8);
        let threads = task.params.threads().saturating_mul(THREAD);
        matrix.saturating_add(threads).saturating_add(PROGRAM)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let asked = |f: &Figure| {
            f.kernel == task.kernel
                && f.params.int("n") == task.params.int("n")
                && f.params.int("threads").is_none_or(|t| t == task.params.threads())
        };
        output.figures.into_iter().find(asked)
    }
}

/// How it does the task's work on a CPU whose widest instruction set is that.
pub(super) fn solve(task: &Task, widest: &str) -> Result<Invocation, String> {
    let n = task.params.int("n").ok_or("n is not set")?;
    let threads = task.params.threads();
    if threads > task.cpus.len() as u64 {
        return Err("it runs no more threads than it has CPUs".to_owned());
    }
    if let Some(isa) = task.params.text("isa").filter(|isa| *isa != widest) {
        return Err(format!("it cannot be held to {isa}"));
    }
    let environment =
        ["OMP_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, threads.to_string()));
    let dynamic = ("MKL_DYNAMIC", "FALSE".to_owned());
    Ok(Invocation {
        arguments: vec!["lininput".to_owned()],
        environment: environment.into_iter().chain([dynamic]).collect(),
        files: vec![("lininput", input(n))],
        ..Invocation::default()
    })
}

/// Its input: two lines of text, then tests, sizes, leading dimensions, times that each is run,
/// and alignments in KiB.
fn input(n: u64) -> String {
    let first = FIRST.into_iter().find(|first| *first != n).unwrap_or_default();
    let (one, two) = (leading(first), leading(n));
    format!(
        "Intel(R) Optimized LINPACK Benchmark data file
One solve after a small one
2                # number of tests
{first} {n}      # problem sizes
{one} {two}      # leading dimensions
1 1              # times to run a test
4 4              # alignment values (in KBytes)
"
    )
}

/// Whole lines of 64 bytes, and no power of two, by which columns would share cache sets.
fn leading(n: u64) -> u64 {
    let lda = n.checked_next_multiple_of(8).unwrap_or(u64::MAX);
    if lda.is_multiple_of(256) { lda + 8 } else { lda }
}
