use super::Linpack;
use super::runner::solve;
use crate::testing::{captured, helpers, matrices, task};
use crate::{ReferenceRunner, Task, Tool};

/// Made after the published description of the listing, since the program cannot be had.
const MADE: &str = include_str!("captured/made-4-sizes.txt");
const FAILED: &str = include_str!("captured/made-failed.txt");

helpers!(Linpack: refused);

#[test]
fn the_figures_are_those_of_the_text() {
    let output = captured(&Linpack, MADE);
    let trials: Vec<usize> = output.figures.iter().map(|f| f.trials.len()).collect();
    assert_eq!(trials, [4, 2, 2, 1]);
    // "5000   5008   4      1.021      81.6573  2.581643e-11 3.599893e-02   pass".
    let figure = &output.figures[2];
    assert_eq!(figure.test, "LINPACK");
    let parameters = ["n", "LDA", "Align", "threads"].map(|parameter| figure.params.int(parameter));
    assert_eq!(parameters, [Some(5000), None, None, Some(2)]);
    let trial = &figure.trials[0];
    assert_eq!(trial.value, 81.6573e9);
    assert!((trial.work - (2.0 / 3.0 * 125e9 + 50e6)).abs() < 1.0, "{}", trial.work);
    assert!((trial.seconds - 1.021).abs() < 5e-4, "{}", trial.seconds);
    let solution = trial.solution.as_ref().unwrap();
    assert_eq!((solution.n, solution.leading_dimension, solution.alignment), (5000, 5008, 4096));
    assert_eq!((solution.residual, solution.normalised_residual), (2.581_643e-11, 3.599_893e-2));
}

#[test]
fn one_size_with_two_leading_dimensions_is_two_figures() {
    let twice = MADE.replace("5000   5008   4      0.987", "5000   5016   4      0.987").replace(
        "5000   5008   4       83.0577  84.4581",
        "5000   5008   4       81.6573  81.6573\n5000   5016   4       84.4581  84.4581",
    );
    let output = Linpack.parse(&twice).unwrap();
    let dimensions: Vec<_> = output.figures.iter().map(|f| f.params.int("LDA")).collect();
    assert_eq!(dimensions, [1000, 2000, 5008, 5016, 10_000].map(Some));
}

#[test]
fn a_failing_residual_goes_along() {
    let output = captured(&Linpack, FAILED);
    let passes = |i: usize| output.figures[i].trials[0].solution.as_ref().unwrap().passes();
    assert!(passes(0) && !passes(1));
}

#[test]
fn what_the_listing_says_must_be_what_it_shows() {
    let e = refused(&MADE.replacen("pass", "fail", 1));
    assert_eq!(e.line, 23);
    assert!(e.what.contains("\"fail\" of a normalised residual of 0.035"), "{e}");
    assert!(refused(&FAILED.replacen("fail", "pass", 1)).what.contains("\"pass\" of"));
    let e = refused(&MADE.replace("checks PASSED", "checks FAILED"));
    assert!(e.what.contains("no residual above did"), "{e}");
    let e = refused(&MADE.replace("83.0577", "83.0677"));
    assert_eq!(e.line, 38);
    assert!(e.what.contains("the summary says 83.0677, the solves 83.0577"), "{e}");
    let e = refused(&MADE.replace("84.4581 \n", "84.4591 \n"));
    assert!(e.what.contains("the summary says 84.4591"), "{e}");
    let e = refused(&MADE.replace("5000   5008   4       83", "5000   5000   4       83"));
    assert!(e.what.contains("the table does not hold"), "{e}");
    assert!(refused(&MADE.replace("(GFlops)", "(MFlops)")).what.contains("not in GFlops"));
}

#[test]
fn what_is_cut_off_or_wrong_is_refused() {
    let at = |text: &str| MADE.find(text).unwrap();
    assert!(refused(&MADE[..at("1000   1000   4      0.031")]).what.contains("no line"));
    assert!(refused(&MADE[..at("4.298950e-12")]).what.contains("8 columns"));
    assert!(refused(&MADE[..at("Performance")]).what.contains("ends too early"));
    assert!(refused(&MADE[..at("10000  10000  4       88")]).what.contains("ends too early"));
    assert!(refused(&MADE[..at("83.0577")]).what.contains("5 columns"));
    assert!(refused(&MADE.replacen("21.4750", "0.0000", 1)).what.contains("more than zero"));
    assert!(refused(&MADE.replacen("0.031 ", "0.021 ", 1)).what.contains("it took"));
    assert!(refused(&MADE.replacen("0.031 ", "-0.03 ", 1)).what.contains("not a number"));
    assert!(
        refused(&MADE.replacen("1000   4      0.031", "1e3    4      0.031", 1))
            .what
            .contains("whole")
    );
    let align = MADE.replacen("1000   4      0.031", "1000   18446744073709551615 0.031", 1);
    assert!(refused(&align).what.contains("the alignment is out of range"));
}

/// A task of so many equations and threads on 2 CPUs.
fn with_task<T>(n: u64, threads: u64, isa: &str, call: impl FnOnce(&Task) -> T) -> T {
    call(&task("LINPACK", &matrices(n, threads, isa)))
}

#[test]
fn a_solve_has_the_size_and_the_threads_of_the_point() {
    let input = |n| {
        let call = with_task(n, 2, "avx512", |t| solve(t, "avx512")).unwrap();
        assert_eq!(call.arguments, ["lininput"]);
        let set: Vec<String> = call.environment.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(set, ["OMP_NUM_THREADS=2", "MKL_NUM_THREADS=2", "MKL_DYNAMIC=FALSE"]);
        let (name, text) = call.files[0].clone();
        assert_eq!(name, "lininput");
        let numbers = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
        text.lines().skip(2).map(numbers).collect::<Vec<_>>()
    };
    assert_eq!(input(5001), ["2", "500 5001", "504 5008", "1 1", "4 4"]);
    assert_eq!(input(4096)[2], "504 4104", "no power of two");
    assert_eq!(input(500)[1], "400 500");
}

#[test]
fn what_it_cannot_do_alike_is_refused() {
    let refused =
        |threads, isa: &str| with_task(5000, threads, isa, |t| solve(t, "avx512")).unwrap_err();
    assert_eq!(refused(3, "avx512"), "it runs no more threads than it has CPUs");
    assert_eq!(refused(2, "sse2"), "it cannot be held to sse2");
    assert!(Linpack.counts("LINPACK").is_some() && Linpack.counts("other").is_none());
}

#[test]
fn the_figure_is_that_of_the_task() {
    let trials = |n, threads| {
        let figure =
            with_task(n, threads, "avx512", |t| Linpack.figure(t, captured(&Linpack, MADE)));
        figure.map(|f| f.trials.len())
    };
    assert_eq!((trials(5000, 2), trials(5001, 2), trials(5000, 1)), (Some(2), None, None));
}

#[test]
fn its_memory_is_the_matrix_and_its_threads() {
    let memory = |n, threads| with_task(n, threads, "avx512", |t| Linpack.memory(t));
    assert!((10_008 * 10_000 * 8..2 << 30).contains(&memory(10_000, 2)));
    assert!(memory(10_000, 4) > memory(10_000, 2));
    assert_eq!(memory(u64::MAX, 1), u64::MAX);
}
