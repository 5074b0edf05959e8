use proofmark_model::Param;
use proptest::prelude::*;

use super::Sysbench;
use crate::testing::{captured, damaged, survives};
use crate::{Figure, Malformed, Tool};

const CPU: &str = include_str!("captured/1.0.20-debian11-cpu.txt");
const MEDIAN: &str = include_str!("captured/1.0.20-debian12-cpu-median.txt");
const WRITE: &str = include_str!("captured/1.0.20-debian11-memory-write.txt");
const READ: &str = include_str!("captured/1.0.20-debian12-memory-read.txt");
const MIXED: &str = include_str!("captured/1.0.20-debian11-fileio-rndrw.txt");
const DIRECT: &str = include_str!("captured/1.0.20-debian12-fileio-seqrd-direct.txt");
const HISTOGRAM: &str = include_str!("captured/1.0.20-debian12-fileio-rndwr-histogram.txt");
const ALL: [&str; 7] = [CPU, MEDIAN, WRITE, READ, MIXED, DIRECT, HISTOGRAM];

fn refused(text: &str) -> Malformed {
    Sysbench.parse(text).unwrap_err()
}

fn figure(text: &str) -> Figure {
    let output = captured(&Sysbench, text);
    assert_eq!(output.version.as_deref(), Some("1.0.20"));
    let [figure] = <[Figure; 1]>::try_from(output.figures).unwrap();
    figure
}

#[test]
fn the_captured_outputs_are_read() {
    insta::assert_json_snapshot!(ALL.map(|text| captured(&Sysbench, text)));
}

#[test]
fn cpu_is_events_a_second() {
    let f = figure(CPU);
    assert_eq!((&*f.kernel, f.params.int("cpu-max-prime")), ("sysbench.cpu", Some(10_000)));
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
    assert_eq!((&*f.kernel, f.params.int("block_size")), ("sysbench.memory_write", Some(1 << 20)));
    assert_eq!(f.trials[0].value, 14_691.43 * 1_048_576.0);
    assert!((f.trials[0].seconds - 1.0027).abs() < 1e-4, "{}", f.trials[0].seconds);
    assert_eq!(figure(READ).kernel, "sysbench.memory_read");
    assert_eq!(figure(READ).params.text("memory-scope"), Some("local"));
}

#[test]
fn fileio_tells_how_it_read_and_wrote() {
    let f = figure(MIXED);
    assert_eq!((&*f.kernel, f.params.int("reads")), ("disk.mixed", Some(60)));
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
    assert_eq!((&*f.kernel, f.params.text("direct")), ("disk.seq_read", Some("on")));
    let f = figure(HISTOGRAM);
    assert_eq!((&*f.kernel, f.params.int("file-fsync-freq")), ("disk.rand_write", None));
    assert_eq!(f.trials[0].value, 4269.88 * 1_048_576.0);
}

#[test]
fn other_modes_and_flags_have_their_names() {
    let with = |from: &str, to: &str| figure(&HISTOGRAM.replace(from, to));
    assert_eq!(with("random write test", "sequential rewrite test").kernel, "disk.seq_write");
    let created = with("random write test", "sequential write (creation) test");
    assert_eq!(created.kernel, "sysbench.seqwr");
    let f = with("synchronous I/O", "asynchronous I/O");
    assert_eq!((f.params.text("engine"), f.params.get("queue_depth")), (Some("libaio"), None));
    assert_eq!(with("synchronous I/O", "fast mmaped I/O").params.text("engine"), Some("mmap"));
    let f = with("(none)", "dsync directio");
    assert_eq!(f.params.text("file-extra-flags"), Some("dsync"));
    assert_eq!(f.params.text("direct"), Some("on"));
    let f = with(
        "Calling fsync() at the end of test, Enabled.",
        "Calling fsync() after each write operation.",
    );
    assert_eq!(f.params.get("file-fsync-all"), Some(&Param::Flag(true)));
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

proptest! {
    #[test]
    fn damage_is_survived(text in prop::sample::select(&ALL[..]).prop_flat_map(damaged)) {
        survives(&Sysbench, &text);
    }
}
