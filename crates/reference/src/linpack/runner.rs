//! The run of Intel's LINPACK: one solve after a small one.

use super::{Linpack, TEST};
use crate::dense::{self, widest};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, on_path};
use proofmark_model::key;

/// The equations of the first solve, which starts the threads and is no result. The second number
/// is used where the task has the first.
const FIRST: [u64; 2] = [500, 400];

impl ReferenceRunner for Linpack {
    fn installed(&self) -> Option<Installed> {
        on_path(&["xlinpack_xeon64", "xlinpack"]).map(Installed::without_version)
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        (test == TEST).then_some(
            "2/3 n^3 + 2 n^2 operations, as in proofmark; its own blocks and threads; A by columns",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        solve(task, widest())
    }

    fn takes(&self, task: &Task) -> f64 {
        // One thread generates A, and generates it again for the residual.
        let n = dense::rows(task) as f64;
        1.0 + 5e-8 * n * n + 1.5 * task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        let n = dense::rows(task);
        dense::memory(task, leading(n).saturating_mul(n).saturating_mul(8))
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        // A listing may not report its threads.
        let asked = task.params.threads();
        dense::figure(task, output, |f| f.params.get(key::THREADS).or(Some(asked)))
    }
}

/// Returns the invocation for the task on a CPU with this widest instruction set.
pub(super) fn solve(task: &Task, widest: &str) -> Result<Invocation, String> {
    let n = task.number(key::MATRIX_SIZE)?;
    let threads = dense::threads(task, key::THREADS.name())?;
    dense::require_widest(task, "it", widest)?;
    Ok(Invocation {
        arguments: vec!["lininput".to_owned()],
        environment: dense::environment(&["OMP_NUM_THREADS", "MKL_NUM_THREADS"], threads),
        files: vec![("lininput", input(n))],
        ..Invocation::default()
    })
}

/// Writes the input: two lines of text, then tests, sizes, leading dimensions, runs per test, and
/// alignments in KiB.
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

/// Returns a leading dimension of whole 64-byte lines. A power of two would put columns into the
/// same cache sets.
fn leading(n: u64) -> u64 {
    let lda = n.checked_next_multiple_of(8).unwrap_or(u64::MAX);
    if lda.is_multiple_of(256) { lda + 8 } else { lda }
}
