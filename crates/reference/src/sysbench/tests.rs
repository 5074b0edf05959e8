use proofmark_model::{Param, Params};

use super::Sysbench;
use crate::testing::{captured, does, only, refuses, replaced, task, with, with_piece};
use crate::{Figure, ReferenceRunner, Task};

const CPU: &str = include_str!("captured/1.0.20-debian11-cpu.txt");
const MEDIAN: &str = include_str!("captured/1.0.20-debian12-cpu-median.txt");
const WRITE: &str = include_str!("captured/1.0.20-debian11-memory-write.txt");
const READ: &str = include_str!("captured/1.0.20-debian12-memory-read.txt");
const MIXED: &str = include_str!("captured/1.0.20-debian11-fileio-rndrw.txt");
const DIRECT: &str = include_str!("captured/1.0.20-debian12-fileio-seqrd-direct.txt");
const HISTOGRAM: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-histogram.txt");

/// The figure of random writes whose report has another piece.
fn written(from: &str, to: &str) -> Figure {
    with_piece(&Sysbench, HISTOGRAM, from, to)
}

#[test]
fn other_modes_and_flags_have_their_names() {
    let test = "random write test";
    assert_eq!(written(test, "sequential rewrite test").test, "seqrewr");
    assert_eq!(written(test, "sequential write (creation) test").test, "seqwr");
    let merged = "Block size 16KiB\nMerging requests up to 256MiB for sequential IO.";
    let word = |word: &str| Some(Param::Text(word.to_owned()));
    for (from, to, name, value) in [
        ("synchronous I/O", "asynchronous I/O", "engine", word("libaio")),
        ("synchronous I/O", "asynchronous I/O", "queue_depth", None),
        ("synchronous I/O", "fast mmaped I/O", "engine", word("mmap")),
        ("(none)", "dsync directio", "file-extra-flags", word("dsync")),
        ("(none)", "dsync directio", "direct", word("on")),
        ("Block size 16KiB", merged, "file-merged-requests", Some(Param::Int(256 << 20))),
        ("Block size 16KiB", "Block size 1.9531KiB", "block_size", None),
    ] {
        assert_eq!(written(from, to).params.get(name), value.as_ref(), "{to}");
    }
    let f = with_piece(&Sysbench, MIXED, "test: 1.50", "test: 1.37");
    assert_eq!(f.params.int("reads"), None, "57.8 %");
}

#[test]
fn flushes_make_it_other_work() {
    let end = "Calling fsync() at the end of test, Enabled.";
    let f = written(end, "Calling fsync() after each write operation.");
    assert_eq!((&*f.test, f.comparable), ("rndwr", false));
    assert_eq!(f.params.get("file-fsync-all"), Some(&Param::Flag(true)));
    let silent = replaced(HISTOGRAM, end, "");
    let f = with_piece(&Sysbench, &silent, "random write test", "random r/w test");
    assert!(f.comparable && f.test == "rndrw", "no word of flushes");
    let periodic = format!("{end}\nPeriodic FSYNC enabled, calling fsync() each 100 requests.");
    let periodic = replaced(HISTOGRAM, end, &periodic);
    for (mode, test) in [
        ("sequential rewrite", "seqrewr"),
        ("sequential write (creation)", "seqwr"),
        ("random write", "rndwr"),
        ("random r/w", "rndrw"),
    ] {
        let f = with_piece(&Sysbench, &periodic, "random write", mode);
        assert_eq!((&*f.test, f.comparable), (test, false));
    }
    // Reading tests say the same, and flush nothing.
    assert!(DIRECT.contains("Periodic FSYNC") && only(&Sysbench, DIRECT).comparable);
}

#[test]
fn a_time_of_zero_is_none() {
    assert!(only(&Sysbench, MEDIAN).latency.is_some());
    for (label, value) in [("min:", "0.12"), ("avg:", "0.66"), ("50th percentile:", "0.12")] {
        let (head, tail) = MEDIAN.split_at(MEDIAN.find(label).unwrap());
        let text = format!("{head}{}", replaced(tail, value, "0.00"));
        assert_eq!(only(&Sysbench, &text).latency, None, "{label}");
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let second = [CPU, WRITE].concat();
    let changes = [
        (CPU, &*second, "second report"),
        (CPU, "sysbench 1.0.20 (using ...)\n", "no report of"),
        ("Threads started!", "FATAL: Validation failed on file 3", "FATAL: Validation failed"),
        ("2474.79", "nan", "not a number"),
        ("2474.79", "0.00", "out of range"),
        ("Number of threads: 1", "", "'Number of threads:'"),
        ("events: ", "event: ", "total number of events"),
    ];
    refuses(&Sysbench, CPU, &changes);
    let changes = [
        ("operation: write", "operation: none", "no bytes"),
        ("MiB/sec", "MB/sec", "no 'MiB transferred'"),
        ("MiB transferred (", "MB (", "in brackets"),
        ("1024KiB", "1024KB", "is no size"),
        ("1024KiB", "18446744073709551615KiB", "is no size"),
    ];
    refuses(&Sysbench, WRITE, &changes);
    let changes = [
        ("fsyncs/s", "fsyncs", "'fsyncs/s:'"),
        ("random r/w", "mixed", "no mode"),
        ("Doing", "Did", "no 'Doing"),
        ("1.0003s", "1.0003m", "does not end in"),
        ("(none)", "huge", "no flag"),
        ("each 100", "each one", "whole number"),
    ];
    refuses(&Sysbench, MIXED, &changes);
}

/// The parameters of a sweep; without one of pages, which the machine would have a say in.
fn sweep(changes: &str) -> Params {
    with(&Params::default(), &format!("op=read working_set=1m threads=2 isa=scalar {changes}"))
}

#[test]
fn it_goes_over_the_same_set_as_often_or_is_refused() {
    let params = sweep("");
    let all = [
        (
            "memory_read",
            "",
            Ok("memory --threads=2 --memory-block-size=1048576 --memory-total-size=3999268864 \
                --memory-oper=read --memory-scope=local --memory-access-mode=seq --time=0 run"),
        ),
        (
            "memory_write",
            "working_set=8g",
            Ok("..--memory-total-size=17179869184 --memory-oper=write.."),
        ),
        ("memory_copy", "", Err("it has no such test")),
        ("memory_read", "isa=avx2", Err("..isa=scalar")),
        ("memory_read", "working_set=3m", Err("its block must be a power of two")),
        ("memory_read", "working_set=0", Err("its block must be a power of two")),
        ("memory_read", "working_set=512k", Err("..so small a block")),
        ("memory_read", "threads=3", Err("..do not fit..")),
    ];
    does(&Sysbench, "1", &task("", &params), &all);
    for work in [f64::NAN, f64::INFINITY, 0.0] {
        let huge = [("memory_read", "working_set=4194304t", Ok("..=9223372036854775807 .."))];
        does(&Sysbench, "1", &Task { work, ..task("", &params) }, &huge);
    }
    for (set, takes, memory) in [("", 0.0..1.0, 2 << 20), ("working_set=8g", 17.0..60.0, 16 << 30)]
    {
        let params = sweep(set);
        let task = task("memory_read", &params);
        assert!(takes.contains(&Sysbench.takes(&task)), "{set}");
        assert_eq!(Sysbench.memory(&task), memory, "a block a thread");
    }
    let others = ["memory_copy", "seqrd", "rndrd", "cpu"];
    assert!(others.iter().all(|test| Sysbench.counts(test).is_none()));
}

#[test]
fn its_block_is_a_sweeps_working_set() {
    let of = |op: &str, text: &str| {
        let (params, test) = (sweep(&format!("op={op}")), format!("memory_{op}"));
        Sysbench.figure(&task(&test, &params), captured(&Sysbench, text))
    };
    let f = of("write", WRITE).unwrap();
    assert_eq!((&*f.test, f.params.int("working_set")), ("memory_write", Some(1 << 20)));
    assert_eq!((f.params.get("block_size"), f.params.text("op")), (None, Some("write")));
    assert_eq!(f.trials[0].value, 14_691.43 * 1_048_576.0);
    assert_eq!(f.params.text("isa"), Some("scalar"));
    assert!(of("read", READ).is_some());
    assert_eq!((of("read", WRITE), of("write", CPU)), (None, None));
}
