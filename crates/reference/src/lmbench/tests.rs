use proofmark_model::{Params, Unit, key};

use super::{Bandwidth, Latency, Stream};
use crate::testing::{captured, does, refuses, replaced, task, with};
use crate::{ReferenceRunner, Task, Tool};

const SMALL: &str = include_str!("captured/3.0-a9-debian12-lat_mem_rd-t-64.txt");
const FOUR: &str = include_str!("captured/3.0-a9-debian12-stream-2-processes.txt");
const SECOND: &str = include_str!("captured/3.0-a9-debian12-stream2-1-process.txt");
const COPY: &str = include_str!("captured/3.0-a9-debian12-bw_mem-fcp-2-processes.txt");
const READ: &str = include_str!("captured/3.0-a9-debian12-bw_mem-frd-2-processes.txt");

#[test]
fn sizes_strides_and_repetitions_are_kept_apart() {
    let odd = captured(&Latency, &replaced(SMALL, "0.50000", "0.50010"));
    assert_eq!(odd.figures[18].params.get(key::WORKING_SET), Some(524_393), "of no known step");
    let two = [SMALL, &replaced(SMALL, "stride=64", "stride=128")].join("\n");
    let figures = captured(&Latency, &two).figures;
    assert_eq!(figures.len(), 2 * captured(&Latency, SMALL).figures.len());
    assert_eq!(figures.last().unwrap().params.number("stride"), Some(128));
}

#[test]
fn what_may_be_several_operations_is_no_repetition() {
    let lines = |text: &str| {
        let figures = Bandwidth.parse(text).unwrap().figures;
        figures.iter().map(|f| (f.trials.len(), f.params.number("line"))).collect::<Vec<_>>()
    };
    let several = "16.78 9107.20\n\n16.78 7012.44\n33.55 9001.10\n16.78 5110.09\n";
    assert_eq!(lines(several), [1, 2, 3, 4].map(|line| (1, Some(line))));
    assert_eq!(lines("16.78 9107.20\n33.55 9001.10\n"), [(1, None), (1, None)], "a sweep");
    // One of two runs of lat_mem_rd may have been in random order.
    let again = [SMALL, "```\n$ lat_mem_rd -t 1 64\n", SMALL].concat();
    let figures = captured(&Latency, &again).figures;
    assert!(figures.iter().all(|f| f.trials.len() == 1));
    let runs: Vec<_> = figures.iter().map(|f| f.params.number("run").unwrap()).collect();
    let of_a_run = captured(&Latency, SMALL).figures.len();
    assert_eq!(runs, [vec![1; of_a_run], vec![2; of_a_run]].concat());
}

#[test]
fn latency_and_bandwidth_of_stream_say_how_many_processes() {
    let threads = |text: &str| {
        let figures = captured(&Stream, text).figures;
        figures.iter().map(|f| f.params.get(key::THREADS)).collect::<Vec<_>>()
    };
    assert_eq!((threads(FOUR), threads(SECOND)), (vec![Some(2); 4], vec![Some(1); 4]));
    let runs = [FOUR, "numactl stream\n", &replaced(FOUR, "7568.51", "7571.02")].concat();
    let figures = captured(&Stream, &runs).figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2; 4]);
    let wrong = captured(&Stream, &replaced(FOUR, "8602.25", "6602.25")).figures;
    let said: Vec<_> = wrong.iter().flat_map(|f| &f.findings).map(|f| &*f.message).collect();
    assert_eq!(said, ["latency x bandwidth is 1.54 times the 16 bytes of an element"]);
    let alone: String =
        FOUR.lines().filter(|l| l.contains("bandwidth")).collect::<Vec<_>>().join("\n");
    assert_eq!(threads(&alone), [None; 4]);
}

#[test]
fn the_results_file_of_the_suite_is_named() {
    let suite = format!("[lmbench3.0 results for Linux node 6.1.0]\n[MB: 64]\n{FOUR}\n{SMALL}");
    assert!(crate::read(&suite).is_none());
    assert!(crate::unread(&suite).unwrap().contains("lmbench's results file"));
}

#[test]
fn what_is_wrong_is_refused() {
    let changes = [
        (SMALL, "0.00049 3.347", "no sizes"),
        (SMALL, "\"stride=x\n", "whole number"),
        ("32.628", "", "no size and time"),
        ("0.50000 ", "\n0.50000 ", "follow the end of their stride"),
        ("32.628", "inf", "not a number"),
        ("32.628", "1.1e60", "not a number"),
        ("32.628", "1e-60", "the time is out of range"),
        ("32.628", "0", "not more than zero"),
    ];
    refuses(&Latency, SMALL, &changes);
    let changes = [
        (FOUR, "STREAM copy latency: 1", "no bandwidth"),
        ("MB/sec", "GB/sec", "end in MB/sec"),
        ("7568.51", "-1", "not a number"),
    ];
    refuses(&Stream, FOUR, &changes);
    let changes = [
        (COPY, "", "no size and rate"),
        (COPY, "usage: bw_mem size", "usage: bw_mem"),
        (COPY, "67.11 1e999", "not a number"),
        (COPY, "1e40 1e-40", "out of range"),
    ];
    refuses(&Bandwidth, COPY, &changes);
}

#[test]
fn lat_mem_rd_walks_our_sets_at_random() {
    let params = with(&Params::default(), "order=rand pages=none working_set=256m");
    let test = "lat_mem_rd -t";
    let all = [
        (test, "", Ok("ENOUGH=100000 TIMING_O=0 LOOP_O=0 -N 1 -t 256 64")),
        (test, "working_set=32k", Ok(".. -N 1 -t 1 64")),
        (test, "working_set=1536k", Ok(".. -N 1 -t 2 64")),
        (test, "working_set=1920m", Err("..2^n and 3 x 2^n..")),
        (test, "working_set=2k", Err("..2^n and 3 x 2^n..")),
        (test, "working_set=20k", Err("..2^n and 3 x 2^n..")),
        (test, "working_set=0", Err("..2^n and 3 x 2^n..")),
        (test, "working_set=1048576t", Err("..smaller")),
        (test, "order=local", Err("..order=rand..")),
        (test, "working_set=512k pages=huge", Err("..pages=small")),
        (test, "working_set=8m pages=huge", Err("..pages=small")),
    ];
    does(&Latency, "3", &task("", &params), &all);
    let takes = |set| Latency.takes(&task(test, &with(&params, set)));
    assert!(takes("working_set=32k") < 5.0 && takes("") > 15.0);
}

#[test]
fn lat_mem_rds_figure_is_that_of_our_set() {
    let params = with(&Params::default(), "working_set=1m order=rand");
    let figure = |params: &Params, text: &str| {
        Latency.figure(&task("lat_mem_rd -t", params), captured(&Latency, text))
    };
    let f = figure(&params, SMALL).unwrap();
    assert_eq!((&*f.test, f.unit), ("lat_mem_rd -t", Unit::Second));
    assert_eq!((f.params.get(key::ORDER), f.params.number("stride")), (Some("rand"), Some(64)));
    assert!((f.trials[0].value - 32.628e-9).abs() < 1e-15);
    assert_eq!(figure(&params, &replaced(SMALL, "stride=64", "stride=128")), None);
    assert_eq!(figure(&with(&params, "working_set=2m"), SMALL), None);
}

/// Returns the parameters of a stream workload without `pages`, which depends on the machine.
fn parameters(changes: &str) -> Params {
    with(&Params::default(), &format!("threads=2 array_size=128m stores=temporal {changes}"))
}

#[test]
fn bw_mem_takes_every_word() {
    let params = parameters("");
    let all = [
        ("frd", "", Ok("ENOUGH=200000 TIMING_O=0 LOOP_O=0 -P 2 -N 1 67108864 frd")),
        ("fwr", "", Ok(".. -P 2 -N 1 67108864 fwr")),
        ("fcp", "", Ok(".. -P 2 -N 1 67108864 fcp")),
        ("rd", "", Err("it has no such loop")),
        ("fcp", "array_size=134218240", Err("..512 bytes..")),
        ("fwr", "stores=nontemporal", Err("..stores=temporal")),
        ("frd", "threads=3", Err("..do not fit..")),
        ("frd", "threads=0", Err("..do not fit..")),
    ];
    does(&Bandwidth, "3", &task("", &params), &all);
    let sweep = with(&Params::default(), "working_set=32k");
    let all =
        [("fwr", "", Ok(".. -P 1 -N 1 32768 fwr")), ("fcp", "", Ok(".. -P 1 -N 1 16384 fcp"))];
    does(&Bandwidth, "3", &task("", &sweep), &all);
    assert_eq!(Bandwidth.counts("rd"), None);
}

#[test]
fn a_copy_of_bw_mem_counts_both_ends() {
    let figure = |test: &str, params: &Params, text: &str| {
        Bandwidth.figure(&task(test, params), Bandwidth.parse(text).unwrap())
    };
    let f = figure("fcp", &parameters(""), COPY).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("fcp", 2.0 * 2292.48e6));
    assert_eq!(f.params.get(key::ARRAY_SIZE), Some(128 << 20));
    assert!((f.trials[0].work - f.trials[0].seconds * f.trials[0].value).abs() < 1.0);
    assert_eq!((f.params.get(key::ISA), f.params.get(key::WORD)), (Some("scalar"), Some(4)));
    assert_eq!(figure("frd", &parameters(""), COPY).unwrap().trials[0].value, 2292.48e6);
    assert_eq!(figure("fcp", &parameters("array_size=64m"), COPY), None);
    let sweep = with(&Params::default(), "op=read working_set=16k threads=2");
    let f = figure("frd", &sweep, READ).unwrap();
    assert_eq!(
        (f.params.get(key::WORKING_SET), f.params.get(key::OPERATION)),
        (Some(16384), Some("read"))
    );
    assert_eq!(f.trials[0].value, 12_373.62e6);
    assert_eq!(figure("fcp", &parameters(""), &format!("{COPY}{READ}")), None, "two runs");
}

#[test]
fn stream_is_given_our_arrays() {
    let params = parameters("");
    let line = "ENOUGH=200000 TIMING_O=0 LOOP_O=0 -v 1 -M 201326592 -P 2 -N 1";
    let all = [
        ("STREAM triad", "", Ok(line)),
        ("STREAM add", "stores=nontemporal", Err("..stores=temporal")),
        ("STREAM triad", "array_size=1g", Err("..1 GiB..")),
        ("STREAM add", "array_size=auto", Err("the configuration has no size")),
    ];
    does(&Stream, "3", &task("", &params), &all);
    assert_eq!((Stream.counts("STREAM2 fill"), Stream.counts("STREAM sum")), (None, None));
    let figure = |test: &str, text| Stream.figure(&task(test, &params), captured(&Stream, text));
    let f = figure("STREAM triad", FOUR).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("STREAM triad", 7695.39e6));
    assert_eq!(
        (f.params.get(key::ARRAY_SIZE), f.params.get(key::THREADS)),
        (Some(128 << 20), Some(2))
    );
    assert_eq!(f.params.get(key::ISA), None, "what its compiler chose is not reported");
    assert_eq!(figure("STREAM add", FOUR).unwrap().trials[0].value, 7574.41e6);
    assert_eq!(figure("STREAM triad", SECOND), None);
}

#[test]
fn what_has_the_name_of_a_program_may_be_another() {
    assert_eq!(super::run::installed("sh", b"STREAM2 daxpy latency"), None);
    assert!(super::run::installed("sh", b"ELF").is_some(), "on the PATH");
    assert_eq!(super::run::installed("no-such-program", b""), None);
}

#[test]
fn a_run_lasts_as_long_as_one_of_our_trials() {
    let params = parameters("");
    let task = task("fcp", &params);
    let with = |seconds| super::run::lasts_us(&Task { seconds, ..task });
    assert_eq!([0.2, 0.01, f64::NAN, 1e9, f64::INFINITY].map(with), [2e5, 1e5, 1e5, 1e8, 1e8]);
    assert!(Bandwidth.takes(&task) > 1.6 && Stream.takes(&task) > 4.0);
}

#[test]
fn its_memory_is_that_of_all_processes() {
    let stream = "threads=2 array_size=128m";
    let walk = "lat_mem_rd -t";
    for (tool, test, params, bytes) in [
        (&Latency as &dyn ReferenceRunner, walk, "working_set=256m", 257 << 20),
        // Whole MiB, and two numbers for each page.
        (&Latency, walk, "working_set=4k", (1 << 20) + 4096),
        (&Latency, walk, "working_set=18446744073709551615", u64::MAX),
        (&Bandwidth, "frd", stream, 128 << 20),
        (&Bandwidth, "fcp", stream, 256 << 20),
        // The set is both arrays.
        (&Bandwidth, "fcp", "working_set=4m op=copy threads=2", 8 << 20),
        // The third array too.
        (&Stream, "STREAM copy", stream, 384 << 20),
        (&Stream, "STREAM copy", "", 0),
    ] {
        assert_eq!(tool.memory(&task(test, &with(&Params::default(), params))), bytes, "{params}");
    }
}
