use super::{BLIS, Library, MKL, OPENBLAS};
use crate::testing::{captured, helpers, matrices, task};
use crate::{ReferenceRunner, Tool};

const SOLVED: &str = include_str!("captured/openblas-0.3.21-debian12-dgesv.txt");
const MULTIPLIED: &str = include_str!("captured/openblas-0.3.29-debian13-dgemm.txt");
/// Held to AVX2.
const MKL_SOLVED: &str = include_str!("captured/mkl-2026.2-dgesv.txt");
const BLIS_MULTIPLIED: &str = include_str!("captured/blis-0.9.0-debian12-dgemm.txt");

helpers!(OPENBLAS: refused);

#[test]
fn the_figures_are_those_of_the_text() {
    let output = captured(&MKL, MKL_SOLVED);
    assert_eq!(output.version.as_deref(), Some("2026.2"));
    assert_eq!(output.started.unwrap().to_string(), "2026-11-21T23:48:19Z");
    let [figure] = &output.figures[..] else { panic!() };
    assert_eq!((&*figure.test, &*figure.title), ("dgesv", "dgesv of mkl 2026.2"));
    assert_eq!((figure.params.int("n"), figure.params.threads()), (Some(2048), 2));
    let trial = &figure.trials[0];
    // 2/3 n^3 + 2 n^2 = 5.735e9 in 0.0706 s.
    assert!((trial.work - (2.0 / 3.0 * 2048_f64.powi(3) + 2.0 * 2048_f64.powi(2))).abs() < 10.0);
    assert!((trial.value / 1e9 - 81.178).abs() < 0.01, "{}", trial.value);
    let solution = trial.solution.as_ref().unwrap();
    assert_eq!((solution.n, solution.leading_dimension, solution.alignment), (2048, 2056, 2 << 20));
    assert!(solution.passes() && solution.residual > 1e-13);
    let product = captured(&BLIS, BLIS_MULTIPLIED);
    let (figure, trial) = (&product.figures[0], &product.figures[0].trials[0]);
    assert_eq!((&*figure.test, trial.work), ("dgemm", 2e9));
    assert_eq!(trial.solution, None);
    assert_eq!(product.version.as_deref(), Some("0.9.0, LAPACK 3.11.0 (haswell)"));
}

#[test]
fn calls_alike_are_trials_of_one_figure() {
    let output = captured(&OPENBLAS, &[SOLVED, SOLVED, MULTIPLIED].concat());
    let trials: Vec<usize> = output.figures.iter().map(|f| f.trials.len()).collect();
    assert_eq!(trials, [2, 1]);
}

#[test]
fn what_is_cut_off_or_wrong_is_refused() {
    let without = |key: &str| -> String {
        SOLVED.lines().filter(|l| !l.starts_with(key)).flat_map(|l| [l, "\n"]).collect()
    };
    let keys = ["core", "started", "operation", "n:", "threads", "lda", "residual", "seconds"];
    for key in keys {
        let e = refused(&without(key));
        assert!(e.what.contains("no '") && e.what.ends_with("in it"), "{key}: {e}");
    }
    assert!(refused(&without("library")).what.contains("no call of openblas"));
    let e = refused(MKL_SOLVED);
    assert_eq!((e.line, &*e.what), (1, "a call of \"mkl\", not of openblas"));
    let e = refused(&SOLVED.replace("n: 2000", "n: 2000\nn: 2001"));
    assert_eq!((e.line, &*e.what), (7, "a second \"n\" of one call"));
    assert!(refused(&SOLVED.replace("dgesv", "zgesv")).what.contains("neither dgesv nor"));
    assert!(refused(&SOLVED.replace("n: 2000", "n: 2e3")).what.contains("whole"));
    assert!(refused(&SOLVED.replace("n: 2000", "n: 0")).what.contains("rate that follows"));
    assert!(refused(&SOLVED.replace("seconds: 0.07", "seconds: -0")).what.contains("number"));
    assert!(refused(&SOLVED.replace("residual: 1", "residual: nan")).what.contains("number"));
    let late = SOLVED.replace("started: 1795", "started: 99999999");
    assert!(refused(&late).what.contains("out of range"));
}

/// What is asked of the library for a point with these parameters on 2 CPUs, the widest with AVX-512.
fn call(
    library: &Library,
    version: &str,
    test: &str,
    threads: u64,
    isa: &str,
) -> Result<String, String> {
    let call = library.call(version, &task(test, &matrices(5000, threads, isa)), "avx512")?;
    assert_eq!((call.files[0].0, &*call.arguments[1]), ("solve.py", "solve.py"));
    let set: Vec<String> = call.environment.iter().map(|(k, v)| format!("{k}={v}")).collect();
    Ok(format!("{} python3 {}", set.join(" "), call.arguments.join(" ")))
}

#[test]
fn a_call_has_the_threads_and_the_size_of_the_point() {
    assert_eq!(
        call(&OPENBLAS, "0.3.21 (SkylakeX)", "dgesv", 2, "avx512").unwrap(),
        "OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2 MKL_DYNAMIC=FALSE python3 -I solve.py openblas \
         dgesv 5000 2 auto"
    );
    assert_eq!(
        call(&MKL, "2026.2", "dgemm", 1, "avx512").unwrap(),
        "MKL_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_DYNAMIC=FALSE python3 -I solve.py mkl dgemm 5000 \
         1 auto"
    );
    let solved = call(&BLIS, "1.1, LAPACK 3.12.0 (skx)", "dgesv", 2, "avx512").unwrap();
    assert!(solved.starts_with("BLIS_NUM_THREADS=2 ") && solved.contains(" blis dgesv 5000 2 "));
}

#[test]
fn other_instructions_only_where_the_library_keeps_to_them() {
    let held = call(&OPENBLAS, "0.3.21", "dgemm", 2, "avx2+fma").unwrap();
    assert!(held.contains(" OPENBLAS_CORETYPE=Haswell ") && held.ends_with("5000 2 avx2+fma"));
    let held = call(&MKL, "2026.2", "dgemm", 2, "avx2+fma").unwrap();
    assert!(held.ends_with("5000 2 avx2+fma"), "{held}");
    for (library, isa) in [(&OPENBLAS, "sse2"), (&MKL, "sse2"), (&BLIS, "avx2+fma")] {
        let e = call(library, "1.0", "dgemm", 2, isa).unwrap_err();
        assert_eq!(e, format!("it cannot be held to {isa}"));
    }
}

#[test]
fn what_it_cannot_do_alike_is_refused() {
    let e = call(&OPENBLAS, "0.3.21", "dgemm", 3, "avx512").unwrap_err();
    assert_eq!(e, "it runs no more threads than it has CPUs");
    let alone = "0.9.0, no LAPACK that calls it (haswell)";
    let e = call(&BLIS, alone, "dgesv", 2, "avx512").unwrap_err();
    assert_eq!(e, "there is no LAPACK that calls it");
    assert!(call(&BLIS, alone, "dgemm", 2, "avx512").is_ok());
    assert!(call(&MKL, "2026.2", "zgesv", 2, "avx512").is_err());
    let counted = ["dgesv", "dgemm", "zgesv"].map(|k| MKL.counts(k).is_some());
    assert_eq!(counted, [true, true, false]);
}

#[test]
fn the_figure_is_that_of_the_task() {
    let output = || OPENBLAS.parse(&[MULTIPLIED, SOLVED].concat()).unwrap();
    let figure = |test: &str, n: u64, threads: u64| {
        let params = matrices(n, threads, "avx512");
        OPENBLAS.figure(&task(test, &params), output()).map(|f| f.title)
    };
    let solved = "dgesv of openblas 0.3.21 (SkylakeX)";
    assert_eq!(figure("dgesv", 2000, 2).as_deref(), Some(solved));
    assert_eq!(figure("dgesv", 2001, 2), None);
    assert_eq!(figure("dgesv", 2000, 1), None);
}

#[test]
fn a_product_has_three_matrices_and_a_solve_one() {
    let memory = |test: &str, n: u64| OPENBLAS.memory(&task(test, &matrices(n, 2, "avx512")));
    // Measured of n = 4000, whose matrix has 122 MiB: 408 MiB and 234 MiB.
    let (product, solve) = (memory("dgemm", 4000) >> 20, memory("dgesv", 4000) >> 20);
    assert!((408..600).contains(&product) && (234..400).contains(&solve), "{product} {solve}");
    assert_eq!(memory("dgemm", u64::MAX), u64::MAX);
}
