use super::{BLIS, Library, MKL, OPENBLAS};
use crate::testing::{agrees, captured, command_line, matrices, refuses, task};
use crate::{ReferenceRunner, Tool};

const SOLVED: &str = include_str!("captured/openblas-0.3.21-debian12-dgesv.txt");
const MULTIPLIED: &str = include_str!("captured/openblas-0.3.29-debian13-dgemm.txt");
/// A run limited to AVX2.
const MKL_SOLVED: &str = include_str!("captured/mkl-2026.2-dgesv.txt");

#[test]
fn calls_alike_are_trials_of_one_figure() {
    let output = captured(&OPENBLAS, &[SOLVED, SOLVED, MULTIPLIED].concat());
    let trials: Vec<usize> = output.figures.iter().map(|f| f.trials.len()).collect();
    assert_eq!(trials, [2, 1]);
}

#[test]
fn what_is_cut_off_or_wrong_is_refused() {
    let changes = [
        ("library: ", "libraries: ", "no call of openblas"),
        ("core: ", "cor: ", "has no 'core:'"),
        ("started: ", "start: ", "has no 'started:'"),
        ("operation: ", "op: ", "has no 'operation:'"),
        ("\nn: ", "\nm: ", "has no 'n:'"),
        ("threads: ", "thread: ", "has no 'threads:'"),
        ("lda: ", "ld: ", "has no 'lda:'"),
        ("\nresidual: ", "\nrest: ", "has no 'residual:'"),
        ("seconds: ", "s: ", "has no 'seconds:'"),
        (SOLVED, MKL_SOLVED, "line 1: this is a call of \"mkl\", not of openblas"),
        ("n: 2000", "n: 2000\nn: 2001", "line 7: a call has a second \"n\""),
        ("dgesv", "zgesv", "neither dgesv nor"),
        ("n: 2000", "n: 2e3", "whole"),
        ("n: 2000", "n: 0", "the rate is out of range"),
        ("seconds: ", "seconds: 1e-59\nother: ", "the rate is out of range"),
        ("seconds: 0.07", "seconds: -0", "number"),
        ("residual: 1", "residual: nan", "number"),
        ("started: 1795", "started: 99999999", "out of range"),
    ];
    refuses(&OPENBLAS, SOLVED, &changes);
}

#[test]
fn a_call_has_the_threads_and_the_size_of_the_point_or_is_refused() {
    const ALONE: &str = "0.9.0, no LAPACK that calls it (haswell)";
    const SOLVES: &str = "OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2 MKL_DYNAMIC=FALSE -I solve.py \
                          openblas dgesv 5000 2 auto";
    const MULTIPLIES: &str = "MKL_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_DYNAMIC=FALSE -I solve.py \
                              mkl dgemm 5000 1 auto";
    // 2 CPUs whose widest instruction set is AVX-512.
    for (library, version, test, threads, isa, expected) in [
        (&OPENBLAS, "0.3.21", "dgesv", 2, "avx512", Ok(SOLVES)),
        (&MKL, "2026.2", "dgemm", 1, "avx512", Ok(MULTIPLIES)),
        (&BLIS, "1.1", "dgesv", 2, "avx512", Ok("BLIS_NUM_THREADS=2 .. blis dgesv 5000 2 ..")),
        // Another instruction set only where the library can be limited to it.
        (
            &OPENBLAS,
            "0.3.21",
            "dgemm",
            2,
            "avx2+fma",
            Ok(".. OPENBLAS_CORETYPE=Haswell .. 5000 2 avx2+fma"),
        ),
        (&MKL, "2026.2", "dgemm", 2, "avx2+fma", Ok(".. 5000 2 avx2+fma")),
        (&OPENBLAS, "1.0", "dgemm", 2, "sse2", Err("it cannot be limited to sse2")),
        (&MKL, "1.0", "dgemm", 2, "sse2", Err("it cannot be limited to sse2")),
        (&BLIS, "1.0", "dgemm", 2, "avx2+fma", Err("it cannot be limited to avx2+fma")),
        (&OPENBLAS, "1.0", "dgemm", 3, "avx512", Err("it runs no more threads than it has CPUs")),
        (&BLIS, ALONE, "dgesv", 2, "avx512", Err("there is no LAPACK that calls it")),
        (&BLIS, ALONE, "dgemm", 2, "avx512", Ok("..")),
        (&MKL, "2026.2", "zgesv", 2, "avx512", Err("it has no zgesv")),
    ] {
        let library: &Library = library;
        let params = matrices(5000, threads, isa);
        let call = library.call(version, &task(test, &params), "avx512");
        let line = call.map(|call| {
            assert_eq!(call.files[0].0, "solve.py");
            command_line(&call)
        });
        agrees(&format!("{version} {test} {threads} {isa}"), line, expected);
    }
}

#[test]
fn the_figure_is_that_of_the_task() {
    let figure = |test: &str, n: u64, threads: u64| {
        let output = OPENBLAS.parse(&[MULTIPLIED, SOLVED].concat()).unwrap();
        let params = matrices(n, threads, "avx512");
        OPENBLAS.figure(&task(test, &params), output).map(|f| f.title)
    };
    let solved = "dgesv of openblas 0.3.21 (SkylakeX)";
    assert_eq!(figure("dgesv", 2000, 2).as_deref(), Some(solved));
    assert_eq!((figure("dgesv", 2001, 2), figure("dgesv", 2000, 1)), (None, None));
}

#[test]
fn a_product_has_three_matrices_and_a_solve_one() {
    let memory = |test: &str, n: u64| OPENBLAS.memory(&task(test, &matrices(n, 2, "avx512")));
    // Measured with n = 4000, whose matrix has 122 MiB: 408 MiB and 234 MiB.
    let (product, solve) = (memory("dgemm", 4000) >> 20, memory("dgesv", 4000) >> 20);
    assert!((408..600).contains(&product) && (234..400).contains(&solve), "{product} {solve}");
    assert_eq!(memory("dgemm", u64::MAX), u64::MAX);
}
