use proofmark_model::{Param, Params};

use super::Sysbench;
use crate::testing::{asked, captured, helpers, outputs, task};
use crate::{Figure, ReferenceRunner, Task};

outputs! {
    CPU "1.0.20-debian11-cpu.txt"
    MEDIAN "1.0.20-debian12-cpu-median.txt"
    WRITE "1.0.20-debian11-memory-write.txt"
    READ "1.0.20-debian12-memory-read.txt"
    MIXED "1.0.20-debian11-fileio-rndrw.txt"
    DIRECT "1.0.20-debian12-fileio-seqrd-direct.txt"
    HISTOGRAM "1.0.20-debian12-fileio-rndwr-histogram.txt"
}

helpers!(Sysbench: refused);

fn figure(text: &str) -> Figure {
    let output = captured(&Sysbench, text);
    assert_eq!(output.version.as_deref(), Some("1.0.20"));
    let [figure] = <[Figure; 1]>::try_from(output.figures).unwrap();
    figure
}

#[test]
fn cpu_is_events_a_second() {
    let f = figure(CPU);
    assert_eq!((&*f.test, f.params.int("cpu-max-prime")), ("cpu", Some(10_000)));
    assert_eq!((f.trials[0].value, f.trials[0].work), (2474.79, 2500.0));
    assert_eq!(f.latency, None, "the 95th percentile alone");
}

#[test]
fn latency_is_read_with_its_median() {
    let latency = figure(MEDIAN).latency.unwrap();
    assert_eq!((latency.count, latency.p50, latency.p90), (3186, 0.12 / 1e3, None));
    assert_eq!((latency.min, latency.mean, latency.max), (0.12 / 1e3, 0.66 / 1e3, 190.21 / 1e3));
}

#[test]
fn memory_is_in_mib() {
    let f = figure(WRITE);
    assert_eq!((&*f.test, f.params.int("block_size")), ("memory_write", Some(1 << 20)));
    assert_eq!(f.trials[0].value, 14_691.43 * 1_048_576.0);
    assert!((f.trials[0].seconds - 1.0027).abs() < 1e-4, "{}", f.trials[0].seconds);
    assert_eq!(figure(READ).test, "memory_read");
    assert_eq!(figure(READ).params.text("memory-scope"), Some("local"));
}

#[test]
fn fileio_tells_how_it_read_and_wrote() {
    let f = figure(MIXED);
    assert_eq!((&*f.test, f.params.int("reads")), ("rndrw", Some(60)));
    assert_eq!(f.trials[0].value, (441.84 + 294.56) * 1_048_576.0);
    assert_eq!(f.trials[0].seconds, 1.0003);
    assert_eq!(f.params.int("block_size"), Some(16 << 10));
    assert_eq!(f.params.int("file_size"), Some(64 << 20));
    assert_eq!((f.params.text("direct"), f.params.text("engine")), (Some("off"), Some("psync")));
    assert_eq!(
        (f.params.int("file-fsync-freq"), f.params.int("queue_depth")),
        (Some(100), Some(1))
    );
    assert_eq!(f.params.get("file-fsync-end"), Some(&Param::Flag(true)));
    let f = figure(DIRECT);
    assert_eq!((&*f.test, f.params.text("direct")), ("seqrd", Some("on")));
    let f = figure(HISTOGRAM);
    assert_eq!((&*f.test, f.params.int("file-fsync-freq")), ("rndwr", None));
    assert_eq!(f.trials[0].value, 4269.88 * 1_048_576.0);
}

#[test]
fn other_modes_and_flags_have_their_names() {
    let with = |from: &str, to: &str| figure(&HISTOGRAM.replace(from, to));
    assert_eq!(with("random write test", "sequential rewrite test").test, "seqrewr");
    let created = with("random write test", "sequential write (creation) test");
    assert_eq!(created.test, "seqwr");
    let f = with("synchronous I/O", "asynchronous I/O");
    assert_eq!((f.params.text("engine"), f.params.get("queue_depth")), (Some("libaio"), None));
    assert_eq!(with("synchronous I/O", "fast mmaped I/O").params.text("engine"), Some("mmap"));
    let f = with("(none)", "dsync directio");
    assert_eq!(f.params.text("file-extra-flags"), Some("dsync"));
    assert_eq!(f.params.text("direct"), Some("on"));
    let merged = "Block size 16KiB\nMerging requests up to 256MiB for sequential IO.";
    assert_eq!(
        with("Block size 16KiB", merged).params.int("file-merged-requests"),
        Some(256 << 20)
    );
    assert_eq!(with("Block size 16KiB", "Block size 1.9531KiB").params.int("block_size"), None);
    let f = figure(&MIXED.replace("test: 1.50", "test: 1.37"));
    assert_eq!(f.params.int("reads"), None, "57.8 %");
}

#[test]
fn flushes_make_it_other_work() {
    let all = "Calling fsync() after each write operation.";
    let end = "Calling fsync() at the end of test, Enabled.";
    let f = figure(&HISTOGRAM.replace(end, all));
    assert_eq!((&*f.test, f.comparable), ("rndwr", false));
    assert_eq!(f.params.get("file-fsync-all"), Some(&Param::Flag(true)));
    let f = figure(&HISTOGRAM.replace(end, "").replace("random write test", "random r/w test"));
    assert!(f.comparable && f.test == "rndrw", "no word of flushes");
    let periodic = format!("{end}\nPeriodic FSYNC enabled, calling fsync() each 100 requests.");
    for (mode, test) in [
        ("sequential rewrite", "seqrewr"),
        ("sequential write (creation)", "seqwr"),
        ("random write", "rndwr"),
        ("random r/w", "rndrw"),
    ] {
        let text = HISTOGRAM.replace(end, &periodic).replace("random write", mode);
        let f = figure(&text);
        assert_eq!((&*f.test, f.comparable), (test, false));
    }
    // Reading tests say the same, and flush nothing.
    assert!(DIRECT.contains("Periodic FSYNC"));
    assert!(figure(DIRECT).comparable);
    assert!(refused(&MIXED.replace("fsyncs/s", "fsyncs")).what.contains("'fsyncs/s:'"));
}

#[test]
fn a_time_of_zero_is_none() {
    assert!(figure(MEDIAN).latency.is_some());
    for (label, value) in [("min:", "0.12"), ("avg:", "0.66"), ("50th percentile:", "0.12")] {
        let at = MEDIAN.find(label).unwrap();
        let (head, tail) = MEDIAN.split_at(at);
        let text = format!("{head}{}", tail.replacen(value, "0.00", 1));
        assert_ne!(text, MEDIAN);
        assert_eq!(figure(&text).latency, None, "{label}");
    }
}

#[test]
fn what_is_wrong_is_refused() {
    assert!(refused(&format!("{CPU}{WRITE}")).what.contains("second report"));
    let fatal = HISTOGRAM.replace("Threads started!", "FATAL: Validation failed on file 3");
    assert!(refused(&fatal).what.contains("FATAL: Validation failed"));
    assert!(refused("sysbench 1.0.20 (using ...)\n").what.contains("no report of"));
    assert!(refused(&CPU.replace("2474.79", "nan")).what.contains("not a number"));
    assert!(refused(&CPU.replace("2474.79", "0.00")).what.contains("out of range"));
    assert!(
        refused(&CPU.replace("Number of threads: 1", "")).what.contains("'Number of threads:'")
    );
    assert!(refused(&CPU.replace("events: ", "event: ")).what.contains("total number of events"));
    assert!(
        refused(&WRITE.replace("operation: write", "operation: none")).what.contains("no bytes")
    );
    assert!(refused(&WRITE.replace("MiB/sec", "MB/sec")).what.contains("no 'MiB transferred'"));
    assert!(refused(&WRITE.replace("MiB transferred (", "MB (")).what.contains("in brackets"));
    assert!(refused(&WRITE.replace("1024KiB", "1024KB")).what.contains("is no size"));
    let huge = WRITE.replace("1024KiB", "18446744073709551615KiB");
    assert!(refused(&huge).what.contains("is no size"));
    assert!(refused(&MIXED.replace("random r/w", "mixed")).what.contains("no mode"));
    assert!(refused(&MIXED.replace("Doing", "Did")).what.contains("no 'Doing"));
    assert!(refused(&MIXED.replace("1.0003s", "1.0003m")).what.contains("does not end in"));
    assert!(refused(&MIXED.replace("(none)", "huge")).what.contains("no flag"));
    assert!(refused(&MIXED.replace("each 100", "each one")).what.contains("whole number"));
}

/// The parameters of a sweep; without a parameter of pages, which the machine would have a say in.
fn sweep() -> Params {
    let params = Params::default().with("op", "read").with("working_set", 1 << 20);
    params.with("threads", 2).with("isa", "scalar")
}

fn arguments(task: &Task) -> Result<String, String> {
    asked(&Sysbench, "1", task).map(|made| made.arguments.join(" "))
}

#[test]
fn beside_a_sweep_it_goes_over_the_same_set_as_often() {
    let params = sweep();
    let made = arguments(&task("memory_read", &params)).unwrap();
    assert_eq!(
        made,
        "memory --threads=2 --memory-block-size=1048576 --memory-total-size=3999268864 \
         --memory-oper=read --memory-scope=local --memory-access-mode=seq --time=0 run"
    );
    let large = sweep().with("working_set", 8_u64 << 30);
    let made = arguments(&task("memory_write", &large)).unwrap();
    assert!(made.contains("--memory-total-size=17179869184 --memory-oper=write"), "{made}");
    for work in [f64::NAN, f64::INFINITY, 0.0] {
        let huge = sweep().with("working_set", 1_u64 << 62);
        let made = arguments(&Task { work, ..task("memory_read", &huge) }).unwrap();
        assert!(made.contains("--memory-total-size=9223372036854775807 "), "{work}: {made}");
    }
    assert!(Sysbench.takes(&task("memory_read", &large)) > 17.0);
    assert!(Sysbench.takes(&task("memory_read", &params)) < 1.0);
    let memory = |params: &Params| Sysbench.memory(&task("memory_read", params));
    assert_eq!((memory(&params), memory(&large)), (2 << 20, 16 << 30), "a block a thread");
}

#[test]
fn what_it_does_otherwise_is_refused() {
    let why = |name: &str, value: Param| {
        let params = sweep().with(name, value);
        arguments(&task("memory_read", &params)).unwrap_err()
    };
    let params = sweep();
    assert!(arguments(&task("memory_copy", &params)).unwrap_err().contains("no such test"));
    assert!(why("isa", "avx2".into()).contains("isa=scalar"));
    assert!(why("working_set", Param::Int(3 << 20)).contains("power of two"));
    assert!(why("working_set", Param::Int(0)).contains("power of two"));
    assert!(why("working_set", Param::Int(1 << 19)).contains("small blocks"));
    assert!(why("threads", Param::Int(3)).contains("do not fit"));
    for test in ["memory_copy", "seqrd", "rndrd", "cpu"] {
        assert_eq!(Sysbench.counts(test), None);
    }
    assert!(["memory_read", "memory_write"].iter().all(|t| Sysbench.counts(t).is_some()));
}

#[test]
fn its_block_is_a_sweeps_working_set() {
    let of = |op: &str, text: &str| {
        let (params, test) = (sweep().with("op", op), format!("memory_{op}"));
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
