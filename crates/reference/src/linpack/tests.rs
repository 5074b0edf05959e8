use super::Linpack;
use super::runner::solve;
use crate::testing::{CUT, captured, command_line, matrices, refuses, task};
use crate::{ReferenceRunner, Task, Tool};

/// A listing written from its published description: the program is not available.
const MADE: &str = include_str!("captured/made-4-sizes.txt");
const FAILED: &str = include_str!("captured/made-failed.txt");

#[test]
fn one_size_with_two_leading_dimensions_is_two_figures() {
    let twice = MADE.replace("5000   5008   4      0.987", "5000   5016   4      0.987").replace(
        "5000   5008   4       83.0577  84.4581",
        "5000   5008   4       81.6573  81.6573\n5000   5016   4       84.4581  84.4581",
    );
    let output = Linpack.parse(&twice).unwrap();
    let dimensions: Vec<_> = output.figures.iter().map(|f| f.params.number("LDA")).collect();
    assert_eq!(dimensions, [1000, 2000, 5008, 5016, 10_000].map(Some));
}

/// Returns a listing of a version that prints no column of checks.
fn unchecked() -> String {
    MADE.replace("Residual(norm) Check", "Residual(norm)").replace("   pass\n", "\n")
}

#[test]
fn listings_without_checks_are_read() {
    assert_eq!(captured(&Linpack, &unchecked()), captured(&Linpack, MADE));
    let without: String = unchecked().replace("Residual checks PASSED\n", "");
    assert_eq!(captured(&Linpack, &without), captured(&Linpack, MADE), "nor of all together");
    let wrong = ("3.599893e-02", "3.599893e+02", "checks passed, but a residual above did not");
    refuses(&Linpack, &unchecked(), &[wrong]);
    let cut = ("88.7719  9.187981e-11 3.239775e-02", "88.7719  9.187981e-11", "7 columns");
    refuses(&Linpack, &unchecked(), &[cut]);
}

#[test]
fn listings_of_one_file_are_trials_where_size_and_threads_agree() {
    let figures = |second: &str| {
        let figures = captured(&Linpack, &[MADE, second].concat()).figures;
        figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>()
    };
    assert_eq!(figures(&unchecked()), [8, 4, 4, 2]);
    assert_eq!(figures(&MADE.replace("threads: 2", "threads: 1")), [4, 2, 2, 1, 4, 2, 2, 1]);
    assert_eq!(figures(&MADE.replace("Number of threads: 2\n", "")).len(), 8, "unknown threads");
    let lost = MADE.split("Performance").next().unwrap();
    let both = [lost, MADE].concat();
    refuses(&Linpack, &both, &[("Size", "Size", "line 54: .. summary is missing")]);
}

#[test]
fn what_is_cut_off_or_contradicts_itself_is_refused() {
    let aligned = "1000   18446744073709551615 0.031";
    let changes = [
        ("pass", "fail", "line 23: \"fail\" of a normalised residual of 0.035"),
        ("checks PASSED", "checks FAILED", "no residual above did"),
        ("83.0577", "83.0677", "line 38: the summary reports 83.0677, but the solves 83.0577"),
        ("84.4581 \n", "84.4591 \n", "the summary reports 84.4591"),
        ("5000   5008   4       83", "5000   5000   4       83", "the table has no such solves"),
        ("(GFlops)", "(MFlops)", "not in GFlops"),
        ("1000   1000   4      0.031", CUT, "no line"),
        ("4.298950e-12", CUT, "8 columns"),
        ("Performance", CUT, "ends too early"),
        ("10000  10000  4       88", CUT, "ends too early"),
        ("83.0577", CUT, "5 columns"),
        ("21.4750", "0.0000", "more than zero"),
        ("0.031 ", "0.021 ", "it took"),
        ("0.031 ", "-0.03 ", "not a number"),
        ("1000   4      0.031", "1e3    4      0.031", "whole"),
        ("1000   4      0.031", aligned, "the alignment is out of range"),
    ];
    refuses(&Linpack, MADE, &changes);
    refuses(&Linpack, FAILED, &[("fail", "pass", "\"pass\" of")]);
}

/// Calls a function with a task of this many equations and threads on 2 CPUs.
fn with_task<T>(n: u64, threads: u64, isa: &str, call: impl FnOnce(&Task) -> T) -> T {
    call(&task("LINPACK", &matrices(n, threads, isa)))
}

#[test]
fn a_solve_has_the_size_and_the_threads_of_the_point() {
    let input = |n| {
        let call = with_task(n, 2, "avx512", |t| solve(t, "avx512")).unwrap();
        let line = "OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 MKL_DYNAMIC=FALSE lininput";
        assert_eq!(command_line(&call), line);
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
    for (threads, isa, why) in [
        (3, "avx512", "it runs no more threads than it has CPUs"),
        (2, "sse2", "it cannot be limited to sse2"),
    ] {
        let refused = with_task(5000, threads, isa, |t| solve(t, "avx512"));
        assert_eq!(refused.unwrap_err(), why);
    }
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
