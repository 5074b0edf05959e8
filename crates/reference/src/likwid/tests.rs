use proofmark_model::{Params, key};

use super::LikwidBench;
use crate::testing::{CUT, captured, does, refuses, replaced, task, with, with_piece};
use crate::{Figure, ReferenceRunner, Task};

const COPY: &str = include_str!("captured/5.2.2-debian12-copy_avx512-2-threads.txt");
const GROUPS: &str = include_str!("captured/5.2.2-debian12-load-2-work-groups.txt");
const TRIAD: &str = include_str!("captured/5.2.2-debian12-stream_mem_avx512-2-threads.txt");

#[test]
fn the_name_of_a_test_says_its_parameters() {
    let f = with_piece(&LikwidBench, COPY, "Test: copy_avx512", "Test: triad_avx512");
    assert_eq!((&*f.test, f.params.get(key::ARRAY_SIZE)), ("triad_avx512", None));
    let f = with_piece(&LikwidBench, TRIAD, "stream_mem_avx512", "stream_mem_avx_fma");
    assert_eq!((&*f.test, f.params.word("fma")), ("stream", Some("on")));
}

#[test]
fn runs_of_one_file_are_trials_or_figures() {
    let trials = |text: &str| {
        let figures = captured(&LikwidBench, text).figures;
        figures.iter().map(|f| (f.test.to_string(), f.trials.len())).collect::<Vec<_>>()
    };
    let again = replaced(COPY, "5923.94", "5923.96");
    let all = [COPY, "$ likwid-bench -t stream\nTest: none\n", TRIAD, "run 3\n", &again].concat();
    assert_eq!(trials(&all), [("copy".to_owned(), 2), ("stream".to_owned(), 1)]);
    let cut = [COPY, TRIAD.split("Data volume").next().unwrap()].concat();
    refuses(&LikwidBench, &cut, &[("Test", "Test", "no 'MByte/s:'")]);
}

#[test]
fn what_it_says_twice_is_compared() {
    let found = |from: &str, to: &str| {
        let f = with_piece(&LikwidBench, COPY, from, to);
        f.findings.into_iter().map(|f| f.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(found("Test", "Test"), "");
    let cycles = COPY.lines().find(|l| l.starts_with("Cycles:")).unwrap();
    assert!(found(cycles, "Cycles:\t\t\t1000").contains("the cycles by their clock"));
    assert!(
        found("Iterations per thread:\t20", "Iterations per thread:\t10")
            .contains("size x iterations")
    );
    let other = COPY.replace("copy_avx512", "daxpy_avx512");
    let more = with_piece(
        &LikwidBench,
        &other,
        "Iterations per thread:\t20",
        "Iterations per thread:\t13",
    );
    assert!(more.findings.is_empty(), "two arrays, one of them twice");
    assert!(found("Number of Flops:\t0", "Number of Flops:\t80530636800").contains("operations"));
}

#[test]
fn older_labels_and_work_groups_are_read() {
    let old = COPY.replace("Size (Byte):", "Size:");
    assert_eq!(captured(&LikwidBench, &old), captured(&LikwidBench, COPY));
    let f = &captured(&LikwidBench, GROUPS).figures[0];
    assert_eq!((&*f.test, f.comparable, f.params.number("work_groups")), ("load", false, Some(2)));
    assert_eq!((f.params.number("size"), f.params.get(key::ARRAY_SIZE)), (Some(320_000), None));
    assert!(f.findings.is_empty());
    // Sets of the same size are parts of one array.
    let even = GROUPS.replace("Size per thread:\t64000", "Size per thread:\t160000");
    let f = &captured(&LikwidBench, &even).figures[0];
    assert_eq!((f.comparable, f.params.get(key::ARRAY_SIZE)), (true, Some(320_000)));
}

#[test]
fn what_is_wrong_is_refused() {
    let changes = [
        ("LIKWID MICRO BENCHMARK", "", "no report"),
        ("MByte/s", CUT, "no 'MByte/s:'"),
        ("5923.94", "7923.94", "it took"),
        ("5923.94", "nan", "not a number"),
        ("80530636800", "0", "out of range"),
        ("80530636800", "-1", "whole number"),
        ("e+01 sec", "e+01 s", "does not end in sec"),
        ("Using 2 threads", "Using two threads", "whole number"),
        ("Size (Byte)", "Bytes", "no 'Size (Byte):'"),
        ("Iterations per", "Iteration per", "no 'Iterations per thread:'"),
        ("Using 1 work", "ERROR - out of memory\nUsing 1 work", "out of memory"),
    ];
    refuses(&LikwidBench, COPY, &changes);
}

/// Returns the parameters of a stream workload without `pages`, which depends on the machine.
fn parameters(changes: &str) -> Params {
    let all = format!("threads=2 isa=avx512 stores=temporal array_size=1920m {changes}");
    with(&Params::default(), &all)
}

#[test]
fn the_test_is_that_of_the_points_parameters_or_it_is_refused() {
    let params = parameters("");
    let all = [
        ("copy", "", Ok("-t copy_avx512 -W N:4026532kB:2 -i 1")),
        (
            "stream",
            "isa=avx2 stores=nontemporal array_size=64m",
            Ok("-t stream_mem_avx -W N:201326592B:2 -i 20"),
        ),
        (
            "store",
            "isa=sse2 stores=nontemporal threads=1",
            Ok("-t store_mem_sse -W N:2013265920B:1 -i 2"),
        ),
        ("load", "threads=1 array_size=1m", Ok("-t load_avx512 -W N:1048576B:1 -i 3815")),
        ("copy", "isa=scalar", Err("..8 bytes at a time..")),
        ("triad", "", Err("it has no such loop")),
        ("copy", "threads=3", Err("..do not fit..")),
        ("copy", "array_size=18446744073709551615", Err("the configuration has no size")),
    ];
    does(&LikwidBench, "5", &task("", &params), &all);
    let sweep = with(&Params::default(), "working_set=32k threads=2 isa=avx2");
    let all = [
        ("load", "", Ok("-t load_avx -W N:65536B:2 -i 61035")),
        ("store", "", Ok("-t store_avx -W N:65536B:2 -i 61035")),
        ("copy", "", Ok("-t copy_avx -W N:65536B:2 -i 61035")),
    ];
    does(&LikwidBench, "5", &task("", &sweep), &all);
    for (work, iterations) in [(0.0, ".. -i 1"), (f64::NAN, ".. -i 1"), (1e300, ".. -i 2147483647")]
    {
        let task = Task { work, ..task("", &params) };
        does(&LikwidBench, "5", &task, &[("copy", "", Ok(iterations))]);
    }
    assert!(["triad", "load_mem", "peakflops"].iter().all(|t| LikwidBench.counts(t).is_none()));
}

#[test]
fn a_sweeps_figure_has_a_sweeps_parameters() {
    let base = |test: &str, params: &Params| -> Option<Figure> {
        LikwidBench.figure(&task(test, params), captured(&LikwidBench, COPY))
    };
    let sweep = with(&Params::default(), "op=copy working_set=1920m threads=2");
    let f = base("copy", &sweep).unwrap();
    assert_eq!((&*f.test, f.params.get(key::WORKING_SET)), ("copy", Some(1920 << 20)));
    assert_eq!((f.params.get(key::OPERATION), f.params.get(key::STORES)), (Some("copy"), None));
    assert_eq!((f.params.get(key::ARRAY_SIZE), f.trials[0].value), (None, 5923.94e6));
    assert_eq!(base("load", &sweep.with(key::OPERATION, "read")), None, "another loop");
    let f = base("copy", &parameters("")).unwrap();
    assert_eq!(f.params.get(key::ARRAY_SIZE), Some(1920 << 20));
    assert_eq!(base("stream", &parameters("")), None);
}

#[test]
fn it_takes_its_clock_its_memory_and_the_work() {
    let (params, none) = (parameters(""), Params::default());
    let takes = LikwidBench.takes(&task("copy", &params));
    assert!((3.0..4.0).contains(&takes), "4 GB at 2 GB/s: {takes}");
    assert!(LikwidBench.takes(&task("copy", &none)) < 2.0);
    assert_eq!(LikwidBench.memory(&task("copy", &params)), 3840 << 20, "two arrays");
    assert_eq!(LikwidBench.memory(&task("copy", &none)), 0);
}
