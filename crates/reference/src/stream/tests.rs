use std::path::PathBuf;

use proofmark_model::Params;

use super::{Stream, program, runner};
use crate::testing::{captured, helpers, task};
use crate::{Installed, Output, ReferenceRunner, Tool};

const TWO: &str = include_str!("captured/5.10-debian12-2-threads.txt");
/// STREAM within HPC Challenge: hpl's by right, read as STREAM's where that is asked for.
const HPCC: &str = include_str!("../hpl/captured/2.0-hpcc-1.5.0-debian12-2-processes.txt");

helpers!(Stream: refused);

fn values(output: &Output) -> Vec<(&str, f64)> {
    output.figures.iter().map(|f| (&*f.test, f.trials[0].value)).collect()
}

#[test]
fn the_figures_are_those_of_the_text() {
    let output = captured(&Stream, TWO);
    assert_eq!(output.version.as_deref(), Some("5.10"));
    let triad = output.figures.iter().find(|f| f.test == "Triad").unwrap();
    // 353783808 elements of 8 bytes; "Triad: 14412.8 0.738743 0.589115 1.311863".
    assert_eq!(triad.params.int("array_size"), Some(353_783_808 * 8));
    assert_eq!(triad.params.int("threads"), Some(2));
    assert_eq!(triad.params.int("NTIMES"), Some(10));
    let [trial] = &triad.trials[..] else { panic!() };
    assert_eq!((trial.value, trial.work), (14_412.8e6, 353_783_808.0 * 24.0));
    assert!((trial.seconds - 0.589_115).abs() < 2e-6, "{}", trial.seconds);
    let copy = |test: &str| &output.figures.iter().find(|f| f.test == test).unwrap().trials;
    assert!((copy("Copy_mean")[0].seconds - 0.263_962).abs() < 1e-9);
    assert!((copy("Copy_slowest")[0].seconds - 0.302_189).abs() < 1e-9);
    assert_eq!(copy("Copy")[0].work, 353_783_808.0 * 16.0);
}

#[test]
fn a_process_among_others_is_not_the_machine() {
    let output = Stream.parse(HPCC).unwrap();
    // GB/s; times of one digit say nothing of mean and slowest.
    let expected = [
        ("star.Copy", 31.8312e9),
        ("star.Scale", 32.6596e9),
        ("star.Add", 31.7336e9),
        ("star.Triad", 30.0882e9),
        ("Copy", 33.159_115e9),
        ("Scale", 33.764_542e9),
        ("Add", 31.992_194e9),
        ("Triad", 30.459_359e9),
    ];
    // A slowest time of 3 digits is left out too: "Scale: 32.6596 0.0023 0.0001 0.0203".
    for ((test, value), (found, v)) in expected.into_iter().zip(values(&output)) {
        assert_eq!(test, found);
        assert!((v / value - 1.0).abs() < 1e-12, "{test}: {v}");
    }
    assert_eq!(output.figures.len(), expected.len());
    assert_eq!(output.figures[0].params.int("array_size"), Some(166_666 * 8));
}

#[test]
fn what_other_benchmarks_of_hpcc_say_is_not_streams() {
    let first = HPCC.find("Node(s) with error").unwrap();
    assert!(first < HPCC.find("StarSTREAM").unwrap());
    let failed = HPCC.replacen("Node(s) with error 0", "Node(s) with error 1", 1);
    assert_eq!(Stream.parse(&failed), Stream.parse(HPCC));
}

#[test]
fn threads_are_those_that_were_counted() {
    let output = captured(&Stream, &TWO.replace("Threads requested = 2", "Threads requested = 4"));
    assert_eq!(output.figures[0].params.int("threads"), Some(2));
}

#[test]
fn the_older_head_is_read() {
    let old =
        TWO.replace("Function    Best Rate MB/s  Avg time", "Function      Rate (MB/s)   Avg time");
    assert_eq!(values(&captured(&Stream, &old)), values(&captured(&Stream, TWO)));
    assert!(refused(&TWO.replace("Best Rate MB/s", "Best Rate kB/s")).what.contains("MB/s"));
}

#[test]
fn arrays_of_other_numbers_are_not_ours() {
    let single = TWO.replace("uses 8 bytes", "uses 4 bytes").replace("353783808", "707567616");
    let output = captured(&Stream, &single);
    assert_eq!((&*output.figures[0].test, output.figures[0].comparable), ("Copy", false));
    assert_eq!(output.figures[0].params.text("type"), Some("f32"));
    assert_eq!(output.figures[0].trials[0].work, 707_567_616.0 * 8.0);
}

#[test]
fn a_failed_validation_is_refused() {
    let failed = "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)";
    let valid = TWO.lines().find(|l| l.starts_with("Solution Validates")).unwrap();
    let e = refused(&TWO.replace(valid, failed));
    assert_eq!(e.line, 32);
    assert!(e.what.contains("wrong result"), "{e}");
    let e = refused(&HPCC.replacen(
        "Single STREAM Copy",
        "Node(s) with error 1\nSingle STREAM Copy",
        1,
    ));
    assert!(e.what.contains("a process found its result wrong"), "{e}");
}

#[test]
fn what_is_cut_off_is_refused() {
    let at = |text: &str| TWO.find(text).unwrap();
    let e = refused(&TWO[..at("Solution")]);
    assert_eq!((e.line, e.what.contains("ends too early")), (26, true), "{e}");
    assert!(refused(&TWO[..at("Triad:")]).what.contains("ends too early"));
    assert!(refused(&TWO[..at("Function")]).what.contains("no table"));
    let e = refused(&TWO.replace("Scale: ", "Scope: "));
    assert_eq!((e.line, e.what.contains("expected Scale:")), (28, true), "{e}");
    assert!(refused(&TWO.replace("0.302189", "")).what.contains("4 numbers"));
    assert!(refused(&TWO.replace("0.237502", "0.137502")).what.contains("it took"));
    assert!(refused(&TWO.replace("23833.6", "inf")).what.contains("not a number"));
    assert!(refused(&TWO.replace("Array size", "Arrays")).what.contains("no 'Array size'"));
    let huge = TWO.replace("353783808", "18446744073709551615");
    assert!(refused(&huge).what.contains("too large"));
    assert!(
        refused(&HPCC.replace("Single STREAM Add", "Single STREAM Sub")).what.contains("no loop")
    );
    assert!(refused("Single STREAM Add GB/s 3.1").what.contains("SingleSTREAM"));
}

/// The parameters of a workload; without a parameter of pages, which the machine would have a say in.
fn parameters() -> Params {
    Params::default().with("threads", 2).with("stores", "temporal")
}

/// A file of such a program; who is given it removes it.
fn made(words: &str, memory: u64) -> PathBuf {
    let name = format!("proofmark-stream-{}-{:?}", std::process::id(), std::thread::current().id());
    let file: PathBuf = std::env::temp_dir().join(name);
    std::fs::write(&file, program::made(words, memory)).unwrap();
    file
}

/// What runs it, if its program has these words in it and takes so much memory.
fn run(test: &str, params: &Params, words: &str, memory: u64) -> Result<String, String> {
    let file = made(words, memory);
    let installed = Installed { program: file.clone(), version: "5.10".to_owned() };
    let made = Stream.invocation(&installed, &task(test, params));
    std::fs::remove_file(file).unwrap();
    let made = made?;
    assert!(made.arguments.is_empty() && made.output.is_none());
    Ok(made.environment.iter().map(|(name, value)| format!("{name}={value} ")).collect())
}

const WORDS: &str = "STREAM version $Revision: 5.10 $ Number of Threads counted = %i";

#[test]
fn beside_ours_it_has_our_threads() {
    for test in ["Copy", "Scale", "Add", "Triad"] {
        let made = run(test, &parameters(), WORDS, 1 << 20).unwrap();
        assert_eq!(made, "OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_PROC_BIND=true ");
        assert!(Stream.counts(test).is_some());
    }
    assert_eq!((Stream.counts("Read"), Stream.counts("Copy_mean")), (None, None));
}

#[test]
fn what_its_program_does_otherwise_is_refused() {
    let why = |test: &str, params: &Params, words: &str, memory: u64| {
        run(test, params, words, memory).unwrap_err()
    };
    let past = parameters().with("stores", "nontemporal");
    assert!(why("Triad", &past, WORDS, 1).contains("stores=temporal"));
    assert!(why("Triad", &parameters().with("threads", 3), WORDS, 1).contains("do not fit"));
    assert!(why("Triad", &parameters(), "STREAM copy", 1).contains("no STREAM"));
    let alone = "STREAM version $Revision: 5.10 $";
    assert!(why("Triad", &parameters(), alone, 1).contains("without threads"));
    assert!(run("Triad", &parameters().with("threads", 1), alone, 1).is_ok());
    let copies = format!("{WORDS} memcpy");
    assert!(why("Copy", &parameters(), &copies, 1).contains("C library's"));
    assert!(run("Triad", &parameters(), &copies, 1).is_ok());
}

#[test]
fn its_figure_is_of_our_threads() {
    let figure = |params: &Params, text: &str| {
        Stream.figure(&task("Triad", params), captured(&Stream, text))
    };
    let f = figure(&parameters(), TWO).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("Triad", 8_490_811_392.0 / 0.738_743));
    assert_eq!(f.params.int("array_size"), Some(353_783_808 * 8));
    let one = parameters().with("threads", 1);
    assert_eq!(figure(&one, TWO), None);
    let alone = TWO.replace("Number of Threads counted = 2", "");
    assert!(figure(&one, &alone).is_some() && figure(&parameters(), &alone).is_none());
}

#[test]
fn its_memory_is_that_of_the_program_which_is_run() {
    let file = made(WORDS, 8_489_763_664);
    let found = runner::first(["/no/such/file".into(), "/bin/sh".into(), file.clone()].into_iter());
    std::fs::remove_file(&file).unwrap();
    let (program, found) = found.unwrap();
    assert_eq!((program, found.bytes), (file, 8_489_763_664));
    let params = parameters();
    let here = Stream.installed().map_or(0, |i| program::Program::read(&i.program).unwrap().bytes);
    assert_eq!(Stream.memory(&task("Triad", &params)), here);
    assert!(!Stream.tells_time());
}
