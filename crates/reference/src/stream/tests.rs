use std::path::PathBuf;

use proofmark_model::{Params, key};

use super::{Stream, program, runner};
use crate::testing::{CUT, agrees, captured, command_line, refuses, replaced, task, with};
use crate::{Installed, Output, ReferenceRunner, Tool};

const TWO: &str = include_str!("captured/5.10-debian12-2-threads.txt");
const MPI: &str = include_str!("captured/made-mpi-4-ranks.txt");
const FORTRAN: &str = include_str!("captured/made-fortran.txt");
/// STREAM in HPC Challenge: recognised as hpl's, but read as STREAM's on request.
const HPCC: &str = include_str!("../hpl/captured/2.0-hpcc-1.5.0-debian12-2-processes.txt");

fn values(output: &Output) -> Vec<(&str, f64)> {
    output.figures.iter().map(|f| (&*f.test, f.trials[0].value)).collect()
}

#[test]
fn a_process_among_others_is_not_the_machine() {
    let output = Stream.parse(HPCC).unwrap();
    // GB/s. Times of one digit give neither mean nor slowest.
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
    // A slowest time with 3 digits is left out, too: "Scale: 32.6596 0.0023 0.0001 0.0203".
    for ((test, value), (found, v)) in expected.into_iter().zip(values(&output)) {
        assert_eq!(test, found);
        assert!((v / value - 1.0).abs() < 1e-12, "{test}: {v}");
    }
    assert_eq!(output.figures.len(), expected.len());
    assert_eq!(output.figures[0].params.get(key::ARRAY_SIZE), Some(166_666 * 8));
}

#[test]
fn other_forms_are_read() {
    // Lines of other benchmarks in HPC Challenge are not STREAM's.
    assert!(HPCC.find("Node(s) with error") < HPCC.find("StarSTREAM"));
    let failed = replaced(HPCC, "Node(s) with error 0", "Node(s) with error 1");
    assert_eq!(Stream.parse(&failed), Stream.parse(HPCC));
    let whole = captured(&Stream, TWO);
    let (new, old) =
        ("Function    Best Rate MB/s  Avg time", "Function      Rate (MB/s)   Avg time");
    assert_eq!(captured(&Stream, &replaced(TWO, new, old)), whole, "of version 5.9");
}

/// Returns another run of the same program, whose copy took longer.
fn again() -> String {
    let slower = replaced(TWO, "23833.6", "22875.2");
    replaced(&slower, "0.237502     0.302189", "0.247453     0.302189")
}

#[test]
fn runs_of_one_configuration_are_trials() {
    let label = |run: u32, text: &str| format!("run {run}, node a\n{text}");
    let both = [label(1, TWO), label(2, &again())].concat();
    let output = captured(&Stream, &both);
    assert_eq!(output.figures.len(), captured(&Stream, TWO).figures.len());
    for f in &output.figures {
        assert_eq!((f.trials.len(), f.proof.is_some()), (2, true), "{}", f.test);
    }
    let values = output.figures[0].trials.iter().map(|t| t.value / 1e6);
    assert_eq!(values.collect::<Vec<_>>(), [23_833.6, 22_875.2]);
    // Runs with other arrays or threads are another figure.
    let one =
        again().replace("counted = 2", "counted = 1").replace("requested = 2", "requested = 1");
    let fewer = [TWO, &one].concat();
    let threads: Vec<_> = captured(&Stream, &fewer)
        .figures
        .iter()
        .filter(|f| f.test == "Triad")
        .map(|f| (f.params.get(key::THREADS), f.trials.len()))
        .collect();
    assert_eq!(threads, [(Some(2), 1), (Some(1), 1)]);
    // A run never uses the arrays of the run before, and no run is lost.
    let changes = [
        ("Array size", "Arrays", "no 'Array size'"),
        ("Solution Validates", "Terminated", "the output ends too early"),
    ];
    for (from, to, why) in changes {
        let lacks = again().replace(from, to);
        for both in [[TWO, &lacks].concat(), [&lacks, TWO].concat()] {
            refuses(&Stream, &both, &[("Triad:", "Triad:", why)]);
        }
    }
}

#[test]
fn what_it_says_twice_is_compared() {
    let findings = |from: &str, to: &str| {
        let output = captured(&Stream, &replaced(TWO, from, to));
        let all = output.figures.iter().flat_map(|f| &f.findings).map(|f| f.message.clone());
        let mut all: Vec<String> = all.collect();
        assert!(all.len() == output.figures.len() || all.is_empty(), "each figure has it");
        all.pop().unwrap_or_default()
    };
    assert_eq!(findings("0.237502", "0.237502"), "");
    assert_eq!(
        findings("Threads requested = 2", "Threads requested = 4"),
        "4 threads were requested, but 2 were counted"
    );
    assert!(
        findings("Total memory required = 8097", "Total memory required = 8079").contains("total")
    );
    let changes = [
        ("0.263962     0.237502", "0.233962     0.237502", "mean time is not between"),
        ("0.302189", "0.202189", "mean time is not between"),
        ("Avg time     Min time", "Min time     Avg time", "these are not STREAM's columns"),
        ("MB/s  Avg time", "MB/s  Latency(ns)   Avg time", "these are not STREAM's columns"),
    ];
    refuses(&Stream, TWO, &changes);
    // 10 iterations of 0.264 s on average, none below 0.237 s.
    let slow = ("0.302189", "0.902189", "line 27: the maximum time is longer than the mean allows");
    refuses(&Stream, TWO, &[slow]);
}

#[test]
fn the_mpi_and_the_fortran_version_have_their_own_labels() {
    let mpi = captured(&Stream, MPI);
    let f = &mpi.figures[0];
    assert_eq!(f.params.get(key::ARRAY_SIZE), Some(640_000_000), "of all processes");
    assert_eq!((f.params.get(key::THREADS), f.params.number("processes")), (Some(8), Some(4)));
    assert_eq!((mpi.version.as_deref(), f.findings.len()), (Some("1.8"), 0));
    let alone = MPI.lines().filter(|l| !l.contains("Threads")).flat_map(|l| [l, "\n"]);
    let alone: String = alone.collect();
    assert_eq!(captured(&Stream, &alone).figures[0].params.get(key::THREADS), Some(4));
    let fortran = captured(&Stream, FORTRAN);
    let f = &fortran.figures[0];
    assert_eq!(
        (f.params.get(key::ARRAY_SIZE), f.params.number("NTIMES")),
        (Some(16_000_000), Some(12))
    );
    assert!(f.comparable && f.proof.is_some() && f.findings.is_empty());
}

#[test]
fn loops_on_a_gpu_are_not_the_machines_memory() {
    let gpu = " STREAM Benchmark implementation in CUDA\n";
    let why = "this STREAM uses CUDA: proofmark has no workload for GPUs";
    let head = replaced(TWO, "This system uses", &format!("{gpu}This system uses"));
    refuses(&Stream, &head, &[("Triad:", "Triad:", why)]);
    let before = format!("NVIDIA GPU 0: 1 GiB\n{TWO}");
    assert_eq!(captured(&Stream, &before), captured(&Stream, TWO), "what another program says");
}

#[test]
fn arrays_of_other_numbers_are_not_ours() {
    let single = TWO.replace("uses 8 bytes", "uses 4 bytes").replace("353783808", "707567616");
    let output = captured(&Stream, &single);
    assert_eq!((&*output.figures[0].test, output.figures[0].comparable), ("Copy", false));
    assert_eq!(output.figures[0].params.get(key::NUMBER_TYPE), Some("f32"));
    assert_eq!(output.figures[0].trials[0].work, 707_567_616.0 * 8.0);
}

#[test]
fn what_is_wrong_or_cut_off_is_refused() {
    let failed = "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)";
    let changes = [
        ("Solution Validates", failed, "line 32: wrong result"),
        ("Best Rate MB/s", "Best Rate kB/s", "MB/s"),
        ("Solution", CUT, "line 26: .. ends too early"),
        ("Triad:", CUT, "ends too early"),
        ("Function", CUT, "no table"),
        ("Scale: ", "Scope: ", "line 28: these are not STREAM's loops: expected Scale:"),
        ("0.302189", "", "4 numbers"),
        ("0.237502", "0.137502", "it took"),
        ("23833.6", "inf", "not a number"),
        ("Array size", "Arrays", "no 'Array size'"),
        ("353783808", "18446744073709551615", "too large"),
    ];
    refuses(&Stream, TWO, &changes);
    let copy = "Single STREAM Copy";
    let changes = [
        (copy, "Node(s) with error 1\nSingle STREAM Copy", "a process found its result wrong"),
        ("Single STREAM Add", "Single STREAM Sub", "no loop"),
    ];
    refuses(&Stream, HPCC, &changes);
    let alone = Stream.parse("Single STREAM Add GB/s 3.1").unwrap_err();
    assert!(alone.what.contains("SingleSTREAM"));
}

/// Returns the parameters of a workload without `pages`, which depends on the machine.
fn parameters(changes: &str) -> Params {
    with(&Params::default(), &format!("threads=2 stores=temporal {changes}"))
}

/// Writes a file of such a program, which the caller removes.
fn program_file(words: &str, memory: u64) -> PathBuf {
    let name = format!("proofmark-stream-{}-{:?}", std::process::id(), std::thread::current().id());
    let file: PathBuf = std::env::temp_dir().join(name);
    std::fs::write(&file, program::fake_program(words, memory)).unwrap();
    file
}

const WORDS: &str = "STREAM version $Revision: 5.10 $ Number of Threads counted = %i";

#[test]
fn it_has_our_threads_or_is_refused() {
    const ENDS: &str = "OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_PROC_BIND=true";
    let (alone, copies) = ("STREAM version $Revision: 5.10 $", format!("{WORDS} memcpy"));
    for (test, changes, words, expected) in [
        ("Copy", "", WORDS, Ok(ENDS)),
        ("Triad", "", WORDS, Ok(ENDS)),
        ("Triad", "stores=nontemporal", WORDS, Err("..stores=temporal")),
        ("Triad", "threads=3", WORDS, Err("..do not fit..")),
        ("Triad", "", "STREAM copy", Err("its program is no longer STREAM")),
        ("Triad", "", alone, Err("..without threads")),
        ("Triad", "threads=1", alone, Ok("OMP_NUM_THREADS=1 ..")),
        ("Copy", "", &copies, Err("..C library's..")),
        ("Triad", "", &copies, Ok(ENDS)),
    ] {
        let (file, params) = (program_file(words, 1 << 20), parameters(changes));
        let installed = Installed { program: file.clone(), version: "5.10".to_owned() };
        let call = Stream.invocation(&installed, &task(test, &params));
        std::fs::remove_file(file).unwrap();
        agrees(&format!("{test} {changes} {words}"), call.map(|i| command_line(&i)), expected);
    }
    let counted = ["Copy", "Triad", "Read", "Copy_mean"].map(|t| Stream.counts(t).is_some());
    assert_eq!(counted, [true, true, false, false]);
}

#[test]
fn its_figure_is_of_our_threads() {
    let figure = |changes: &str, text: &str| {
        Stream.figure(&task("Triad", &parameters(changes)), captured(&Stream, text))
    };
    let f = figure("", TWO).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("Triad", 8_490_811_392.0 / 0.738_743));
    // The mean, not the best rate that STREAM prints.
    let printed = TWO.lines().find_map(|l| l.strip_prefix("Triad:")).unwrap();
    let printed: f64 = printed.split_whitespace().next().unwrap().parse().unwrap();
    assert!(f.trials[0].value < printed * 1e6);
    assert_eq!(f.params.get(key::ARRAY_SIZE), Some(353_783_808 * 8));
    assert_eq!(figure("threads=1", TWO), None);
    let alone = TWO.replace("Number of Threads counted = 2", "");
    assert!(figure("threads=1", &alone).is_some() && figure("", &alone).is_none());
}

#[test]
fn its_memory_is_that_of_the_program_which_is_run() {
    let file = program_file(WORDS, 8_489_763_664);
    let found = runner::first(["/no/such/file".into(), "/bin/sh".into(), file.clone()].into_iter());
    std::fs::remove_file(&file).unwrap();
    let (program, found) = found.unwrap();
    assert_eq!((program, found.bytes), (file, 8_489_763_664));
    let here = Stream.installed().map_or(0, |i| program::Program::read(&i.program).unwrap().bytes);
    assert_eq!(Stream.memory(&task("Triad", &parameters(""))), here);
}
