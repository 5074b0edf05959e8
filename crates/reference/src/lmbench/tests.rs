use proofmark_model::{Params, Unit};

use super::{Bandwidth, Latency, Stream};
use crate::testing::{asked, captured, refused, task};
use crate::{Figure, ReferenceRunner, Task, Tool};

const SMALL: &str = include_str!("captured/3.0-a9-debian12-lat_mem_rd-t-64.txt");
const LARGE: &str = include_str!("captured/3.0-a9-debian12-lat_mem_rd-t-64-256m.txt");
const FOUR: &str = include_str!("captured/3.0-a9-debian12-stream-2-processes.txt");
const SECOND: &str = include_str!("captured/3.0-a9-debian12-stream2-1-process.txt");
const COPY: &str = include_str!("captured/3.0-a9-debian12-bw_mem-fcp-2-processes.txt");
const READ: &str = include_str!("captured/3.0-a9-debian12-bw_mem-frd-2-processes.txt");

/// The arguments, and what is added to the environment.
fn run(tool: &dyn ReferenceRunner, task: &Task) -> Result<(String, String), String> {
    let invocation = asked(tool, "3", task)?;
    assert!(invocation.output.is_none() && invocation.files.is_empty());
    let set = invocation.environment.iter().map(|(name, value)| format!("{name}={value}"));
    Ok((invocation.arguments.join(" "), set.collect::<Vec<_>>().join(" ")))
}

fn why(tool: &dyn ReferenceRunner, test: &str, params: &Params) -> String {
    run(tool, &task(test, params)).unwrap_err()
}

#[test]
fn sizes_are_those_before_they_were_rounded() {
    let figures = captured(&Latency, LARGE).figures;
    let sets: Vec<u64> = figures.iter().map(|f| f.params.int("working_set").unwrap()).collect();
    assert_eq!(sets[..6], [512, 1024, 2048, 3072, 4096, 6144]);
    assert!(sets.iter().all(|s| s % 512 == 0));
    assert_eq!(sets.last(), Some(&(256 << 20)));
    let last = &figures.last().unwrap().trials[0];
    assert!((last.value - 304.169e-9).abs() < 1e-15, "{}", last.value);
    let odd = captured(&Latency, &SMALL.replace("0.50000", "0.50010"));
    assert_eq!(odd.figures[18].params.int("working_set"), Some(524_393), "of no known step");
}

#[test]
fn strides_and_repetitions_are_kept_apart() {
    let two = format!("{SMALL}\n{}", SMALL.replace("stride=64", "stride=128"));
    let figures = captured(&Latency, &two).figures;
    assert_eq!(figures.len(), 2 * captured(&Latency, SMALL).figures.len());
    assert_eq!(figures.last().unwrap().params.int("stride"), Some(128));
}

#[test]
fn what_is_wrong_is_refused() {
    assert!(refused(&Latency, "0.00049 3.347").what.contains("no sizes"));
    assert!(refused(&Latency, "\"stride=x\n").what.contains("whole number"));
    assert!(refused(&Latency, &SMALL.replace("32.628", "")).what.contains("no size and time"));
    assert!(refused(&Latency, &SMALL.replace("32.628", "inf")).what.contains("not a number"));
    assert!(refused(&Latency, &SMALL.replace("32.628", "0")).what.contains("not more than zero"));
    assert!(refused(&Stream, "STREAM copy latency: 1").what.contains("no bandwidth"));
    assert!(refused(&Stream, &FOUR.replace("MB/sec", "GB/sec")).what.contains("end in MB/sec"));
    assert!(refused(&Stream, &FOUR.replace("7568.51", "-1")).what.contains("not a number"));
    assert!(refused(&Bandwidth, "").what.contains("no size and rate"));
    assert!(refused(&Bandwidth, "usage: bw_mem size").what.contains("usage: bw_mem"));
    assert!(refused(&Bandwidth, "67.11 1e999").what.contains("not a number"));
    assert!(refused(&Bandwidth, "1e300 1e-300").what.contains("out of range"));
}

const QUICK: &str = "ENOUGH=200000 TIMING_O=0 LOOP_O=0";

#[test]
fn lat_mem_rd_walks_our_sets_at_random() {
    let params = Params::default().with("order", "rand").with("pages", "none");
    let of = |set: u64| params.clone().with("working_set", set);
    let with = |set: u64| run(&Latency, &task("lat_mem_rd -t", &of(set)));
    let (arguments, environment) = with(256 << 20).unwrap();
    assert_eq!(arguments, "-N 1 -t 256 64");
    assert_eq!(environment, "ENOUGH=100000 TIMING_O=0 LOOP_O=0");
    assert_eq!(with(32 << 10).unwrap().0, "-N 1 -t 1 64");
    assert_eq!(with(3 << 19).unwrap().0, "-N 1 -t 2 64");
    for set in [1920 << 20, 2048, 20 << 10, 0] {
        assert!(with(set).unwrap_err().contains("2^n and 3 x 2^n"), "{set}");
    }
    assert!(with(1 << 60).unwrap_err().contains("smaller"));
    let params = of(256 << 20).with("order", "local");
    assert!(why(&Latency, "lat_mem_rd -t", &params).contains("order"));
    for (set, small) in [(512 << 10, true), (8 << 20, true)] {
        let huge = of(set).with("pages", "huge");
        assert_eq!(why(&Latency, "lat_mem_rd -t", &huge).contains("pages=small"), small);
    }
    let takes = |set: u64| Latency.takes(&task("lat_mem_rd -t", &of(set)));
    assert!(takes(32 << 10) < 5.0 && takes(256 << 20) > 15.0);
}

#[test]
fn lat_mem_rds_figure_is_that_of_our_set() {
    let params = Params::default().with("working_set", 1 << 20).with("order", "rand");
    let figure = |params: &Params, text: &str| {
        Latency.figure(&task("lat_mem_rd -t", params), captured(&Latency, text))
    };
    let f = figure(&params, SMALL).unwrap();
    assert_eq!((&*f.test, f.unit), ("lat_mem_rd -t", Unit::Second));
    assert_eq!((f.params.text("order"), f.params.int("stride")), (Some("rand"), Some(64)));
    assert!((f.trials[0].value - 32.628e-9).abs() < 1e-15);
    assert_eq!(figure(&params, &SMALL.replace("stride=64", "stride=128")), None);
    assert_eq!(figure(&params.with("working_set", 2 << 20), SMALL), None);
}

/// The parameters of a stream workload; without a parameter of pages, which the machine would have a say in.
fn parameters() -> Params {
    Params::default().with("threads", 2).with("array_size", 128 << 20).with("stores", "temporal")
}

#[test]
fn bw_mem_takes_every_word() {
    for test in ["frd", "fwr", "fcp"] {
        let params = parameters();
        let made = run(&Bandwidth, &task(test, &params)).unwrap();
        assert_eq!(made, (format!("-P 2 -N 1 67108864 {test}"), QUICK.to_owned()));
        assert!(Bandwidth.counts(test).is_some());
    }
    let sweep = Params::default().with("working_set", 32 << 10);
    let with = |test: &str| run(&Bandwidth, &task(test, &sweep)).unwrap().0;
    assert_eq!(with("fwr"), "-P 1 -N 1 32768 fwr");
    assert_eq!(with("fcp"), "-P 1 -N 1 16384 fcp");
    assert!(why(&Bandwidth, "rd", &parameters()).contains("no such loop"));
    let odd = parameters().with("array_size", (128 << 20) + 512);
    assert!(why(&Bandwidth, "fcp", &odd).contains("512 bytes"));
    let past = parameters().with("stores", "nontemporal");
    assert!(why(&Bandwidth, "fwr", &past).contains("stores=temporal"));
    assert!(why(&Bandwidth, "frd", &parameters().with("threads", 3)).contains("do not fit"));
    assert!(why(&Bandwidth, "frd", &parameters().with("threads", 0)).contains("do not fit"));
    assert_eq!(Bandwidth.counts("rd"), None);
}

#[test]
fn a_copy_of_bw_mem_counts_both_ends() {
    let figure = |test: &str, params: &Params, text: &str| {
        Bandwidth.figure(&task(test, params), Bandwidth.parse(text).unwrap())
    };
    let f = figure("fcp", &parameters(), COPY).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("fcp", 2.0 * 2292.48e6));
    assert_eq!(f.params.int("array_size"), Some(128 << 20));
    assert!((f.trials[0].work - f.trials[0].seconds * f.trials[0].value).abs() < 1.0);
    assert_eq!((f.params.text("isa"), f.params.int("word")), (Some("scalar"), Some(4)));
    assert_eq!(figure("frd", &parameters(), COPY).unwrap().trials[0].value, 2292.48e6);
    assert_eq!(figure("fcp", &parameters().with("array_size", 64 << 20), COPY), None);
    let sweep = Params::default().with("op", "read").with("working_set", 16 << 10);
    let f = figure("frd", &sweep.with("threads", 2), READ).unwrap();
    assert_eq!((f.params.int("working_set"), f.params.text("op")), (Some(16384), Some("read")));
    assert_eq!(f.trials[0].value, 12_373.62e6);
    assert_eq!(figure("fcp", &parameters(), &format!("{COPY}{READ}")), None, "two runs");
}

#[test]
fn stream_is_given_our_arrays() {
    let params = parameters();
    let made = run(&Stream, &task("STREAM triad", &params)).unwrap();
    assert_eq!(made, ("-v 1 -M 201326592 -P 2 -N 1".to_owned(), QUICK.to_owned()));
    let past = parameters().with("stores", "nontemporal");
    assert!(why(&Stream, "STREAM add", &past).contains("stores=temporal"));
    let large = parameters().with("array_size", 1 << 30);
    assert!(why(&Stream, "STREAM triad", &large).contains("1 GiB"));
    assert!(why(&Stream, "STREAM add", &Params::default()).contains("no size"));
    assert_eq!((Stream.counts("STREAM2 fill"), Stream.counts("STREAM sum")), (None, None));
    let f: Figure = Stream.figure(&task("STREAM triad", &params), captured(&Stream, FOUR)).unwrap();
    assert_eq!((&*f.test, f.trials[0].value), ("STREAM triad", 7695.39e6));
    assert_eq!((f.params.int("array_size"), f.params.int("threads")), (Some(128 << 20), Some(2)));
    assert_eq!(f.params.get("isa"), None, "what its compiler chose is not told");
    let add = Stream.figure(&task("STREAM add", &params), captured(&Stream, FOUR)).unwrap();
    assert_eq!(add.trials[0].value, 7574.41e6);
    let second = captured(&Stream, SECOND);
    assert_eq!(second.figures[0].test, "STREAM2 fill");
    assert_eq!(Stream.figure(&task("STREAM triad", &params), second), None);
}

#[test]
fn what_has_the_name_of_a_program_may_be_another() {
    assert_eq!(super::run::installed("sh", b"STREAM2 daxpy latency"), None);
    assert!(super::run::installed("sh", b"ELF").is_some(), "on the PATH");
    assert_eq!(super::run::installed("no-such-program", b""), None);
}

#[test]
fn a_run_lasts_as_long_as_one_of_our_trials() {
    let params = parameters();
    let task = task("fcp", &params);
    let with = |seconds| super::run::lasts_us(&Task { seconds, ..task });
    assert_eq!([0.2, 0.01, f64::NAN, 1e9, f64::INFINITY].map(with), [2e5, 1e5, 1e5, 1e8, 1e8]);
    assert!(Bandwidth.takes(&task) > 1.6 && Stream.takes(&task) > 4.0);
}

#[test]
fn its_memory_is_that_of_all_processes() {
    let of = |tool: &dyn ReferenceRunner, test: &str, params: &Params| {
        assert!(!tool.tells_time());
        tool.memory(&task(test, params)) >> 20
    };
    let set = |bytes: u64| Params::default().with("working_set", bytes);
    assert_eq!(of(&Latency, "lat_mem_rd -t", &set(256 << 20)), 257);
    assert_eq!(of(&Latency, "lat_mem_rd -t", &set(4096)), 1, "it has whole MiB");
    assert_eq!(Latency.memory(&task("lat_mem_rd -t", &set(u64::MAX))), u64::MAX);
    assert_eq!(of(&Bandwidth, "frd", &parameters()), 128);
    assert_eq!(of(&Bandwidth, "fcp", &parameters()), 256);
    let sweep = set(4 << 20).with("op", "copy").with("threads", 2);
    assert_eq!(of(&Bandwidth, "fcp", &sweep), 8, "the set is both arrays");
    assert_eq!(of(&Stream, "STREAM copy", &parameters()), 384, "the third array too");
    assert_eq!(of(&Stream, "STREAM copy", &Params::default()), 0);
}
