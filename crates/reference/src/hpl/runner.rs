//! The run of HPL: one solve, with one process per thread.
//!
//! It runs HPL alone (`xhpl`), or the one in HPC Challenge (`hpcc`), which cannot skip its other
//! tests.

use proofmark_model::key;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Hpl, TEST};
use crate::dense::{self, widest};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, ask, on_path};

/// One thread for each process, with any BLAS. Without the other variables, Open MPI 4 and 5 refuse
/// to run as root, or more processes than cores. They also bind processes to CPUs of others.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("BLIS_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
];

impl ReferenceRunner for Hpl {
    fn installed(&self) -> Option<Installed> {
        let (program, solver) = (on_path(&["mpirun", "mpiexec"])?, solver()?);
        let version = format!("not reported by {}", name(&solver));
        Some(Installed { program, version })
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        (test == TEST).then_some(
            "2/3 n^3 + 3/2 n^2 operations, n^2 / 2 fewer than in proofmark; P x Q processes with a \
             thread each, with the BLAS that it was linked to",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let solver = solver().ok_or("neither xhpl nor hpcc is installed any more")?;
        solve(&solver, task, widest())
    }

    fn takes(&self, task: &Task) -> f64 {
        let n = dense::rows(task) as f64;
        if solver().is_some_and(|s| name(&s) == "xhpl") {
            return 1.0 + 2.0 * task.seconds;
        }
        // The sizes of HPC Challenge's other tests follow n: 1.5 s at 2000, 15 s at 5000, with one
        // process or two.
        0.5 + 8e-9 * n.powf(2.5) + 2.0 * task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        // A process or the launcher; a process also has panels of its part of the matrix.
        const PROCESS: u64 = 64 << 20;
        let n = dense::rows(task);
        // The other tests of HPC Challenge need no more memory than the solve.
        let matrix = n.saturating_mul(n).saturating_mul(9);
        let processes = task.params.threads().saturating_add(1);
        matrix.saturating_add(processes.saturating_mul(PROCESS))
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mut figure = find_solve(task, output)?;
        if let Some(blas) = solver().and_then(|s| linked(&s)) {
            figure.params = figure.params.with_named("BLAS", blas.as_str());
        }
        Some(figure)
    }
}

/// Finds HPL alone, which takes a tenth of the time, otherwise HPC Challenge.
fn solver() -> Option<PathBuf> {
    on_path(&["xhpl", "hpcc"])
}

fn name(solver: &Path) -> &str {
    solver.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns the invocation for the task on a CPU with this widest instruction set.
pub(super) fn solve(solver: &Path, task: &Task, widest: &str) -> Result<Invocation, String> {
    let (n, nb) = (task.number(key::MATRIX_SIZE)?, task.number(key::MATRIX_BLOCK)?);
    let threads = dense::threads(task, "processes")?;
    dense::require_widest(task, "its BLAS", widest)?;
    let path = solver.to_str().ok_or("the name of its program is not text")?;
    let (file, output) = match name(solver) {
        "hpcc" => ("hpccinf.txt", Some("hpccoutf.txt")),
        _ => ("HPL.dat", None),
    };
    Ok(Invocation {
        arguments: vec!["-n".to_owned(), threads.to_string(), path.to_owned()],
        environment: ENVIRONMENT.iter().map(|(n, value)| (*n, (*value).to_owned())).collect(),
        files: vec![(file, input(n, nb, grid(threads)))],
        output,
        ..Invocation::default()
    })
}

/// Returns the most square grid of P x Q processes, with P at most Q.
pub(super) fn grid(processes: u64) -> (u64, u64) {
    let p = (1..=processes.isqrt()).rev().find(|p| processes.is_multiple_of(*p)).unwrap_or(1);
    (p, processes / p)
}

/// Writes HPL's input: one solve of this size, the rest as in HPL's own file. HPL reads up to line
/// 31. HPC Challenge reads its further solves from line 33 on: none.
fn input(n: u64, nb: u64, (p, q): (u64, u64)) -> String {
    let values = [("{n}", n), ("{nb}", nb), ("{p}", p), ("{q}", q)];
    let set = |text: String, (name, value): (&str, u64)| text.replace(name, &value.to_string());
    values.into_iter().fold(include_str!("input.dat").to_owned(), set)
}

/// Returns the solve of the task's size with as many processes as the task has threads.
pub(super) fn find_solve(task: &Task, output: Output) -> Option<Figure> {
    dense::figure(task, output, |f| f.params.number("P")?.checked_mul(f.params.number("Q")?))
}

/// Returns the BLAS that a program calls, if `ldd` names it.
fn linked(solver: &Path) -> Option<String> {
    let answer = ask(Command::new(on_path(&["ldd"])?).arg(solver))?;
    let file = blas(&answer.output)?;
    let file = std::fs::canonicalize(&file).unwrap_or(file);
    Some(library_name(&file))
}

/// Returns the library in a listing of `ldd` that is named BLAS, or contains one.
pub(super) fn blas(listing: &str) -> Option<PathBuf> {
    let at = |name: &str| {
        let of = |line: &str| line.trim_start().starts_with(name);
        let (_, path) = listing.lines().find(|l| of(l))?.split_once(" => ")?;
        path.split_whitespace().next().filter(|p| p.starts_with('/')).map(PathBuf::from)
    };
    ["libblas.so", "libmkl_", "libopenblas", "libblis", "libflexiblas"].iter().find_map(|n| at(n))
}

/// Returns the name of a library, or its folder's if all implementations have the same file name.
pub(super) fn library_name(file: &Path) -> String {
    let word = |path: Option<&std::ffi::OsStr>| path.unwrap_or_default().to_string_lossy().into();
    let name: String = word(file.file_name());
    match name.starts_with("libblas.so") {
        true => word(file.parent().and_then(Path::file_name)),
        false => name,
    }
}
