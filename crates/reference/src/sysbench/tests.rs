use proofmark_model::{Flush, Order, Param, Params, key};

use super::Sysbench;
use crate::testing::{captured, does, only, refuses, replaced, task, with, with_piece};
use crate::{Figure, ReferenceRunner, Task, Tool};

const CPU: &str = include_str!("captured/1.0.20-debian11-cpu.txt");
const MEDIAN: &str = include_str!("captured/1.0.20-debian12-cpu-median.txt");
const WRITE: &str = include_str!("captured/1.0.20-debian11-memory-write.txt");
const READ: &str = include_str!("captured/1.0.20-debian12-memory-read.txt");
const MIXED: &str = include_str!("captured/1.0.20-debian11-fileio-rndrw.txt");
const DIRECT: &str = include_str!("captured/1.0.20-debian12-fileio-seqrd-direct.txt");
const TWO: &str = include_str!("captured/1.0.20-debian12-cpu-2-threads.txt");
const NONE: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-no-flush.txt");
const AT_END: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-flush-end.txt");
const EACH: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-flush-each.txt");
const THREADS: &str = include_str!("captured/1.0.20-debian12-threads-refused.txt");
const OLD_CPU: &str = include_str!("captured/made-0.4.12-cpu.txt");
const OLD_MEMORY: &str = include_str!("captured/made-0.4.12-memory-write.txt");
const OLD_FILES: &str = include_str!("captured/made-0.4.12-fileio-rndrw.txt");
const OLDER: &str = include_str!("captured/made-0.5-cpu-and-fileio.txt");
const NEW_CPU: &str = include_str!("captured/made-1.1.0-cpu.txt");
const NEW_FILES: &str = include_str!("captured/made-1.1.0-fileio-seqrewr.txt");
const HISTOGRAM: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-histogram.txt");

/// Returns the figure of random writes after a piece of the report is replaced.
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
        assert_eq!(written(from, to).params.named(name), value.as_ref(), "{to}");
    }
    let f = with_piece(&Sysbench, MIXED, "test: 1.50", "test: 1.37");
    assert_eq!(f.params.get(key::READS), None, "57.8 %");
}

#[test]
fn a_test_that_is_not_read_leaves_the_others() {
    let output = Sysbench.parse(&format!("{CPU}{THREADS}{WRITE}")).unwrap();
    let tests: Vec<&str> = output.figures.iter().map(|f| &*f.test).collect();
    assert_eq!(tests, ["cpu", "memory_write"]);
    for f in &output.figures {
        let why = "line 58: sysbench 1.0.20: unknown test";
        let lost = f.findings.iter().filter(|f| f.message.starts_with(why));
        assert_eq!(lost.count(), 1, "{:?}", f.findings);
    }
}

#[test]
fn mapped_files_are_other_work() {
    assert!(!written("synchronous I/O", "fast mmaped I/O").comparable);
}

#[test]
fn flushes_again_and_again_make_it_other_work() {
    let f = only(&Sysbench, EACH);
    assert_eq!((&*f.test, f.comparable), ("rndwr", false));
    assert_eq!(f.params.named("file-fsync-all"), Some(&Param::Flag(true)));
    let periodic = format!("{END}\nPeriodic FSYNC enabled, calling fsync() each 100 requests.");
    let periodic = replaced(HISTOGRAM, END, &periodic);
    for (mode, test) in [
        ("sequential rewrite", "seqrewr"),
        ("sequential write (creation)", "seqwr"),
        ("random write", "rndwr"),
        ("random r/w", "rndrw"),
    ] {
        let f = with_piece(&Sysbench, &periodic, "random write", mode);
        assert_eq!((&*f.test, f.comparable), (test, false));
        assert_eq!(
            (f.params.number("file-fsync-freq"), f.params.get(key::FLUSH)),
            (Some(100), None)
        );
        let file = f.trials[0].file.as_ref().unwrap();
        assert_eq!((file.flush, file.flush_every_bytes), (Flush::Each, Some(100 * 16384)));
    }
    // Reading tests print the same, but flush nothing.
    let f = only(&Sysbench, DIRECT);
    assert!(DIRECT.contains("Periodic FSYNC") && f.comparable);
    assert_eq!((f.params.named("file-fsync-freq"), f.params.get(key::FLUSH)), (None, None));
}

const END: &str = "Calling fsync() at the end of test, Enabled.";

#[test]
fn a_pace_is_no_rate_of_the_machine() {
    let paced = "Number of threads: 2\nTarget transaction rate: 40/sec";
    let f = with_piece(&Sysbench, HISTOGRAM, "Number of threads: 2", paced);
    assert!(!f.comparable && f.findings.iter().any(|f| f.message.contains("40/sec")));
}

#[test]
fn the_sizes_of_all_files_and_of_one_are_held_against_each_other() {
    let size = |text: &str| only(&Sysbench, text).trials[0].file.as_ref().unwrap().size_bytes;
    assert_eq!(size(&NONE.replace("16MiB total file size", "")), 16 << 20);
    let larger = only(&Sysbench, &replaced(NONE, "16MiB total", "160GiB total"));
    assert!(larger.findings.iter().any(|f| f.message.contains("in all")));
}

#[test]
fn the_state_of_the_files_says_when_it_flushed() {
    let state = |text: &str| {
        let f = only(&Sysbench, text);
        (
            f.trials[0].file.clone().unwrap(),
            f.params.get(key::FLUSH).map(str::to_owned),
            f.comparable,
        )
    };
    let (file, flush, comparable) = state(NONE);
    assert_eq!((file.flush, file.order, file.direct), (Flush::Never, Order::Rand, Some(false)));
    assert_eq!((flush.as_deref(), comparable), (Some("none"), true));
    assert_eq!((file.size_bytes, file.asked_read_bytes), (16 << 20, 0));
    let trial = &only(&Sysbench, NONE).trials[0];
    assert!((file.asked_written_bytes as f64 - trial.work).abs() < 1.0);
    let (file, flush, comparable) = state(AT_END);
    assert_eq!((file.flush, flush.as_deref(), comparable), (Flush::End, Some("end"), true));
    assert!(file.asked_written_bytes > 500 * file.size_bytes, "written over and over again");
    assert_eq!(state(EACH).0.flush, Flush::Each);
    // The report announces a flush, but the counts show none.
    let said = NONE.replace("Using synchronous", &format!("{END}\nUsing synchronous"));
    assert_eq!(state(&said).0.flush, Flush::Never);
    // Below 0.005 flushes per second, the counts prove nothing.
    let long =
        said.replace("total time:                          1.0001s", "total time: 3600.0001s");
    assert_eq!(state(&long).0.flush, Flush::End);
    for (flags, flush, direct) in [
        ("dsync directio", Flush::Dsync, true),
        ("sync ", Flush::Dsync, false),
        ("directio", Flush::Never, true),
        ("0", Flush::Never, false),
        ("16384", Flush::Never, true),
        ("1052672", Flush::Dsync, false),
        ("4096", Flush::Dsync, false),
    ] {
        let (file, _, comparable) = state(&NONE.replace("(none)", flags));
        assert_eq!((file.flush, file.direct), (flush, Some(direct)), "{flags}");
        assert_eq!(comparable, flush == Flush::Never, "{flags}");
    }
    refuses(&Sysbench, NONE, &[("(none)", "2048", "\"2048\" is no known flag")]);
}

#[test]
fn versions_have_their_own_labels() {
    let f = only(&Sysbench, OLD_CPU);
    assert_eq!((f.trials[0].value, f.trials[0].work), (800.0, 10_000.0));
    assert_eq!(
        (f.params.number("cpu-max-prime"), f.params.get(key::THREADS)),
        (Some(20_000), Some(2))
    );
    let f = only(&Sysbench, OLD_MEMORY);
    assert_eq!((&*f.test, f.trials[0].value), ("memory_write", 4096.0 * 1_048_576.0));
    assert_eq!(
        (f.params.get(key::BLOCK_SIZE), f.params.word("memory-scope")),
        (Some(1 << 20), Some("local"))
    );
    let f = only(&Sysbench, OLD_FILES);
    assert_eq!((&*f.test, f.trials[0].value), ("rndrw", 200.0 * 16_384.0));
    assert_eq!((f.params.get(key::DIRECT), f.params.get(key::READS)), (Some("on"), Some(60)));
    assert_eq!(f.params.get(key::FILE_SIZE), Some(3 << 30));
    let both = captured(&Sysbench, OLDER);
    let values: Vec<_> = both.figures.iter().map(|f| (&*f.test, f.trials[0].value)).collect();
    assert_eq!(values, [("cpu", 1250.0), ("rndwr", 20.0 * 1_048_576.0)]);
    assert_eq!(
        (both.version.as_deref(), both.figures[1].params.get(key::FLUSH)),
        (Some("0.5"), Some("end"))
    );
    let f = only(&Sysbench, NEW_CPU);
    assert_eq!((f.trials[0].value, f.trials[0].work), (2400.0, 24_000.0));
    let f = only(&Sysbench, NEW_FILES);
    assert_eq!((&*f.test, f.trials[0].value), ("seqrewr", 100.0 * 1_048_576.0));
    // The report has no time: its four threads took 39.6 s together.
    assert!((f.trials[0].seconds - 9.9).abs() < 1e-9);
    // Versions before 1.0.9 print no rate of events.
    let silent: String =
        CPU.lines().filter(|l| !l.contains("events per second")).flat_map(|l| [l, "\n"]).collect();
    let f = only(&Sysbench, &silent);
    assert!((f.trials[0].value / only(&Sysbench, CPU).trials[0].value - 1.0).abs() < 0.01);
    for text in [OLD_CPU, OLD_MEMORY, OLD_FILES, OLDER, NEW_CPU, NEW_FILES] {
        let figures = captured(&Sysbench, text).figures;
        assert!(figures.iter().all(|f| f.findings.is_empty()), "{text}");
    }
}

#[test]
fn runs_of_one_file_are_trials_or_figures() {
    let log = ["$ sysbench cpu run\n", CPU, "--- node 2: again\n", CPU, WRITE].concat();
    let output = captured(&Sysbench, &log);
    let trials: Vec<_> = output.figures.iter().map(|f| (&*f.test, f.trials.len())).collect();
    assert_eq!(trials, [("cpu", 2), ("memory_write", 1)]);
    assert_eq!(output.version.as_deref(), Some("1.0.20"));
    let mixed = captured(&Sysbench, &[CPU, NEW_CPU].concat());
    assert_eq!((mixed.version, mixed.figures.len()), (None, 2), "of two versions, and threads");
    // A text without the first line still names the test.
    let body = CPU.split_once("\n\n").unwrap().1;
    assert_eq!(captured(&Sysbench, body).figures, captured(&Sysbench, CPU).figures);
}

#[test]
fn what_is_not_read_is_named_with_its_version() {
    let cpu = "Doing CPU performance benchmark";
    let limit = "Maximum prime number checked in CPU test: 20000";
    for (does, says) in [
        ("Doing OLTP test.", "sysbench 0.4.12: a test of a database"),
        ("Doing thread subsystem performance test", "sysbench 0.4.12: the test threads"),
        ("Doing mutex performance test", "sysbench 0.4.12: the test mutex"),
    ] {
        refuses(&Sysbench, &replaced(OLD_CPU, limit, ""), &[(cpu, does, says)]);
    }
    let sql = "SQL statistics:\n    queries performed:\n        read:  70";
    refuses(
        &Sysbench,
        NEW_CPU,
        &[("Prime numbers limit: 10000", sql, "sysbench 1.1.0-2ca9e3f: a test of a database")],
    );
    assert!(THREADS.contains("1880"));
    let alone = Sysbench.parse(THREADS).unwrap_err();
    assert!(alone.what.contains("proofmark reads cpu, memory and fileio"), "{alone}");
    let prepared = "sysbench 1.0.20 (using system LuaJIT)\n\n4 files, 4096Kb each, 16Mb total\n";
    assert!(Sysbench.parse(prepared).unwrap_err().what.contains("no run of sysbench"));
}

#[test]
fn what_it_says_twice_is_compared() {
    let found = |text: &str, from: &str, to: &str| {
        let f = with_piece(&Sysbench, text, from, to);
        f.findings.into_iter().map(|f| f.message).collect::<Vec<_>>().join("; ")
    };
    for (text, from, to, says) in [
        (TWO, "4787.97", "9575.94", "events per second"),
        (TWO, "events:              4816", "events:              9632", "events per second"),
        (TWO, "0.41", "0.21", "by the sum of all events"),
        (
            TWO,
            "sum:                                 1993.65",
            "sum: 3993.65",
            "in all, but 0.9968 s for each",
        ),
        (TWO, "2408.0000", "2508.0000", "4816 events in all, but 2508"),
        (TWO, "0.41", "14.41", "is not between"),
        (TWO, "0.26", "14.26", "above the maximum"),
        (NONE, "15005.95", "1500.59", "writes per second of 16384 bytes"),
        (NONE, "1.0001s", "2.0001s", "961225 events in 2.0001 s"),
        (
            OLD_FILES,
            "Total transferred 156.25Mb  (3.125Mb/sec)",
            "Total transferred 156.25Mb  (31.25Mb/sec)",
            "31.2500 MiB/s in all",
        ),
        (OLD_FILES, "Block size 16Kb", "Block size 64Kb", "by operations, block and time"),
        (NEW_FILES, "IOPS=6400.00 100.00", "IOPS=6400.00 400.00", "writes per second"),
        (OLD_MEMORY, "performed: 10240", "performed: 20480", "blocks of 1048576"),
        (OLD_MEMORY, "2.5000s", "5.0000s", "by the total time"),
    ] {
        assert_eq!(found(text, "\n\n", "\n\n"), "", "as it is");
        let found = found(text, from, to);
        assert!(found.contains(says), "{from} {to}: {found:?}");
    }
    let warns = "WARNING: Percentile statistics will be inaccurate\nThreads started!";
    assert!(found(TWO, "Threads started!", warns).contains("Percentile statistics will be"));
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
    let changes = [
        (CPU, "sysbench 1.0.20 (using ...)\n", "no run of sysbench"),
        ("Threads started!", "FATAL: Validation failed on file 3", "FATAL: Validation failed"),
        ("2474.79", "nan", "not a number"),
        ("2474.79", "0.00", "out of range"),
        ("Number of threads: 1", "", "'Number of threads:'"),
        ("events: ", "event: ", "total number of events"),
    ];
    refuses(&Sysbench, CPU, &changes);
    let changes = [
        ("operation: write", "operation: none", "no bytes"),
        ("MiB/sec", "MB/sec", "expected MiB transferred"),
        ("MiB/sec", "KiB/sec", "no 'MiB transferred'"),
        ("MiB transferred (", "MB (", "in brackets"),
        ("1024KiB", "1024KB", "is no size"),
        ("1024KiB", "18446744073709551615KiB", "is no size"),
    ];
    refuses(&Sysbench, WRITE, &changes);
    let changes = [
        ("fsyncs/s", "fsyncs", "'fsyncs/s:'"),
        ("random r/w", "mixed", "no known mode"),
        ("Doing", "Did", "no 'Doing"),
        ("1.0003s", "1.0003m", "does not end in"),
        ("(none)", "huge", "no known flag"),
        ("each 100", "each one", "whole number"),
    ];
    refuses(&Sysbench, MIXED, &changes);
}

/// Returns the parameters of a sweep without `pages`, which depends on the machine.
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
        ("memory_read", "working_set=512k", Err("with so small a block..")),
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
    assert_eq!((&*f.test, f.params.get(key::WORKING_SET)), ("memory_write", Some(1 << 20)));
    assert_eq!(
        (f.params.get(key::BLOCK_SIZE), f.params.get(key::OPERATION)),
        (None, Some("write"))
    );
    assert_eq!(f.trials[0].value, 14_691.43 * 1_048_576.0);
    assert_eq!(f.params.get(key::ISA), Some("scalar"));
    assert!(of("read", READ).is_some());
    assert_eq!((of("read", WRITE), of("write", CPU)), (None, None));
}
