use std::path::Path;

use super::*;
use crate::{Tool, testing};

const FILE: &str = "/proc/77/fd/5";

fn parameters(test: &str) -> Params {
    let common = Params::default()
        .with("threads", 1)
        .with("block_size", 4096)
        .with("file_size", 1 << 30)
        .with("amount", "auto");
    if test == COMMITS {
        return common;
    }
    let blocks = common
        .with("queue_depth", 32)
        .with("engine", "io_uring")
        .with("direct", "on")
        .with("cache", "none");
    match test {
        "randrw" => blocks.with("reads", 70).with("flush", "end"),
        _ if test.ends_with("write") => blocks.with("flush", "end"),
        _ => blocks,
    }
}

fn task<'a>(test: &'a str, params: &'a Params, seconds: f64, work: f64) -> Task<'a> {
    Task { seconds, work, file: Path::new(FILE), ..testing::task(test, params) }
}

/// The arguments that are not always the same.
fn of(test: &str, params: &Params, (seconds, work): (f64, f64)) -> Result<String, String> {
    let all = arguments(&task(test, params, seconds, work), true)?;
    let (always, own) = all.split_at(ALWAYS.len());
    assert_eq!(always, ALWAYS);
    assert_eq!(own[0], format!("--filename={FILE}"));
    Ok(own[1..].join(" "))
}

fn same(test: &str, change: impl Fn(Params) -> Params) -> Result<String, String> {
    of(test, &change(parameters(test)), (0.3, 40e6))
}

#[test]
fn every_parameter_is_an_option() {
    let uring = "--ioengine=io_uring --iodepth=32 --registerfiles=1 --fixedbufs=";
    for (test, expected) in [
        (
            "randread",
            format!(
                "--rw=randread --bs=4096 --size=1073741824 --direct=1 --invalidate=0 --end_fsync=0 \
                 {uring}1 --io_size=39997440"
            ),
        ),
        (
            "write",
            format!(
                "--rw=write --bs=4096 --size=1073741824 --direct=1 --invalidate=0 --end_fsync=1 \
                 {uring}0 --io_size=39997440"
            ),
        ),
        (
            "randrw",
            format!(
                "--rw=randrw --bs=4096 --size=1073741824 --direct=1 --invalidate=0 --end_fsync=1 \
                 --rwmixread=70 {uring}0 --io_size=39997440"
            ),
        ),
    ] {
        assert_eq!(same(test, |p| p), Ok(expected), "{test}");
    }
    let commits = of(COMMITS, &parameters(COMMITS), (0.3, 200.0));
    let expected = "--rw=write --bs=4096 --file_append=1 --size=819200 --direct=0 --ioengine=psync \
                    --fdatasync=1 --end_fsync=1";
    assert_eq!(commits.as_deref(), Ok(expected));
}

#[test]
fn each_thread_has_its_part_and_its_share() {
    let three = same("randwrite", |p| p.with("threads", 3)).unwrap();
    // 262144 blocks are 87381 for each of three, and one.
    assert!(three.contains("--size=357912576 "), "{three}");
    assert!(three.contains("--numjobs=3 --offset_increment=357912576 "), "{three}");
    assert!(three.ends_with("--io_size=13332480"), "{three}");
    let one = same("randwrite", |p| p).unwrap();
    assert!(!one.contains("numjobs"), "{one}");
}

#[test]
fn the_cache_the_engine_and_the_flush_are_ours() {
    let buffered = |cache| same("read", |p| p.with("direct", "off").with("cache", cache));
    let cold = buffered("cold").unwrap();
    assert!(cold.contains("--direct=0 --invalidate=1 --end_fsync=0"), "{cold}");
    assert!(buffered("warm").unwrap().contains("--direct=0 --invalidate=0"));
    let psync = same("read", |p| p.with("engine", "psync").with("queue_depth", 1));
    assert!(psync.unwrap().contains("--end_fsync=0 --ioengine=psync --io_size"));
    let unflushed = same("write", |p| p.with("flush", "none")).unwrap();
    assert!(unflushed.contains("--end_fsync=0 "), "{unflushed}");
    assert!(unflushed.contains("--fixedbufs=1"), "no flush that they would keep away");
    let plain = parameters("read");
    let unregistered = arguments(&task("read", &plain, 0.3, 1e6), false).unwrap();
    assert!(unregistered.contains(&"--fixedbufs=0".to_owned()));
}

#[test]
fn long_trials_begin_with_untimed_work() {
    let of = |params: Params, seconds| of("randwrite", &params, (seconds, 800e6)).unwrap();
    let long = of(parameters("randwrite"), 2.0);
    assert!(long.ends_with("--io_size=899997696 --ramp_time=250ms"), "{long}");
    assert!(!of(parameters("randwrite"), 0.9).contains("ramp_time"));
    for cache in ["cold", "warm"] {
        let buffered = parameters("randwrite").with("direct", "off").with("cache", cache);
        assert!(of(buffered, 2.0).ends_with("--io_size=799997952"), "{cache}");
    }
}

#[test]
fn a_mix_of_one_kind_is_that_kind() {
    for (reads, rw) in [(0, "randwrite"), (100, "randread")] {
        let params = parameters("randrw").with("reads", reads);
        let told = of("randrw", &params, (0.3, 40e6)).unwrap();
        assert!(told.starts_with(&format!("--rw={rw} ")) && !told.contains("rwmixread"));
        let task = task("randrw", &params, 0.3, 40e6);
        assert_eq!(pattern(&task).unwrap().test(Way::Mixed), rw);
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |test: &str, parameter: &str, value: &str| {
        same(test, |p| p.with(parameter, value)).unwrap_err()
    };
    assert_eq!(refused("rw", "flush", "end"), "it has no such work");
    assert_eq!(refused("randread", "engine", "psync"), "its psync has no such queue");
    assert_eq!(refused("randread", "engine", "auto"), "its auto has no such queue");
    for parameter in ["block_size", "file_size", "direct"] {
        assert_eq!(refused("randread", parameter, "auto"), format!("{parameter} is not set"));
    }
    assert_eq!(refused("randrw", "reads", "few"), "reads is not set");
    assert_eq!(refused("write", "flush", "often"), "flush is not set");
    let small = same("randread", |p| p.with("file_size", 8192).with("threads", 3));
    assert_eq!(small.unwrap_err(), "its threads need a block of the file each");
    let commits = |threads: u64, work| {
        of(COMMITS, &parameters(COMMITS).with("threads", threads), (0.3, work)).unwrap_err()
    };
    assert_eq!(commits(2, 10.0), "it is given one file, where our threads have one each");
    assert_eq!(commits(1, 1e6), "its file would grow by more than file_size");
    let short = of("randread", &parameters("randread"), (0.012, 40e6)).unwrap_err();
    assert_eq!(short, "it tells whole milliseconds, and a trial takes 12.0");
}

#[test]
fn a_path_that_fio_would_part_is_refused() {
    let params = parameters("randread");
    let colon = Task { file: Path::new("/t/a:b"), ..task("randread", &params, 0.3, 1e6) };
    assert_eq!(arguments(&colon, true).unwrap_err(), "its path has a colon");
    let device = Task { file: Path::new("/dev/null"), ..colon };
    assert_eq!(arguments(&device, true).unwrap_err(), "it is given no file");
}

#[test]
fn amounts_out_of_range_are_a_block_or_all_there_is() {
    let params = parameters("randread");
    for (work, bytes) in [(0.0, 4096), (-1.0, 4096), (f64::NAN, 4096), (1e300, u64::MAX)] {
        let told = of("randread", &params, (0.3, work)).unwrap();
        assert!(told.ends_with(&format!("--io_size={bytes}")), "{told}");
    }
}

#[test]
fn buffers_are_registered_where_they_may_be_locked() {
    let limits = |most: &str| {
        format!(
            "Limit  Soft Limit  Hard Limit  Units\nMax locked memory   {most}   {most}   bytes\n"
        )
    };
    let (none, capable) = ("CapEff:\t0000000000000000\n", "CapEff:\t0000000000004000\n");
    assert!(may_lock(8 << 20, &limits("8388608"), none));
    assert!(!may_lock((8 << 20) + 1, &limits("8388608"), none));
    assert!(may_lock(1 << 40, &limits("unlimited"), none));
    assert!(may_lock(1 << 40, &limits("65536"), capable));
    assert!(!may_lock(1, "", "") && !may_lock(1, &limits("many"), "CapEff:\tx"));
}

/// What fio printed that was run with these very arguments: the figure is the task's.
#[test]
fn the_figure_is_in_the_words_of_the_test() {
    let figure = |test: &str, params: &Params, work: f64, text: &str| {
        let task = task(test, params, 0.3, work);
        Fio.figure(&task, Fio.parse(text).unwrap()).unwrap_or_else(|| panic!("{test}"))
    };
    // 57573376 bytes in 107 ms
    let params = parameters("randread").with("threads", 2);
    let text = include_str!("../captured/3.33-beside-threads.json");
    let f = figure("randread", &params, 57_573_376.0, text);
    assert_eq!((&*f.test, f.unit), ("randread", Unit::BytePerSecond));
    assert_eq!((f.trials[0].work, f.trials[0].seconds), (57_573_376.0, 0.107));
    assert!(f.latency.is_some());
    let file = f.trials[0].file.clone().unwrap();
    assert_eq!((file.asked_read_bytes, file.direct), (57_573_376, Some(true)));
    assert_eq!((file.size_bytes, &f.params), (1 << 30, &params), "the parts together");

    let mixed = parameters("randrw");
    let text = include_str!("../captured/3.33-beside-mixed.json");
    let f = figure("randrw", &mixed, 29_462_528.0, text);
    assert_eq!((&*f.test, f.trials[0].work), ("randrw", 29_462_528.0));
    let file = f.trials[0].file.clone().unwrap();
    assert_eq!(file.asked_read_bytes + file.asked_written_bytes, 29_462_528);
    assert_eq!(file.flush, Flush::End);

    // 35 writes of 4096 bytes in 25 ms
    let text = include_str!("../captured/3.39-beside-commits.json");
    let f = figure(COMMITS, &parameters(COMMITS), 35.0, text);
    assert_eq!(f.params, parameters(COMMITS));
    assert_eq!((&*f.test, f.unit, f.latency), (COMMITS, Unit::OpPerSecond, None));
    assert_eq!((f.trials[0].work, f.trials[0].seconds), (35.0, 0.025));
    assert!((f.trials[0].value - 1400.0).abs() < 1e-9);
    assert_eq!(f.trials[0].file.as_ref().unwrap().flush, Flush::Each);

    let cold = parameters("read").with("direct", "off").with("cache", "cold");
    let cold = cold.with("block_size", 1 << 20).with("engine", "psync").with("queue_depth", 1);
    let text = include_str!("../captured/3.39-beside-cold.json");
    let f = figure("read", &cold, 128_974_848.0, text);
    assert_eq!((f.trials[0].work, &f.params), (128_974_848.0, &cold));
    let other = task("randwrite", &cold, 0.3, 40e6);
    assert_eq!(Fio.figure(&other, Fio.parse(text).unwrap()), None);
}

/// 16 MiB in 292 ms; `io_size` was not given.
const PSYNC: &str = include_str!("../captured/3.33-beside-psync.json");

#[test]
fn an_output_tells_how_it_ran() {
    let parameters = || {
        let small = parameters("randread").with("file_size", 16 << 20);
        small.with("engine", "psync").with("queue_depth", 1)
    };
    let told = |params: &Params, text: &str| {
        let figure = Fio.figure(&task("randread", params, 0.3, 16e6), Fio.parse(text).ok()?);
        figure.map(|f| (f.params, f.trials[0].file.clone().map(|file| file.size_bytes)))
    };
    assert_eq!(told(&parameters(), PSYNC), Some((parameters(), Some(16 << 20))));
    // What differs and may is told.
    let sync = PSYNC.replace("\"psync\"", "\"pvsync2\"");
    let engine = told(&parameters(), &sync).unwrap().0;
    assert_eq!(engine.text("engine"), Some("pvsync2"));
    let half = PSYNC.replace("16777216\",", "8388608\",");
    let (params, size) = told(&parameters(), &half).unwrap();
    assert_eq!((params.int("file_size"), size), (Some(8 << 20), Some(8 << 20)));
    // A thread's part, of a file that is no multiple of it.
    let odd = parameters().with("file_size", (16 << 20) + 5);
    assert_eq!(told(&odd, PSYNC).unwrap().0, odd);
    // Another job.
    for (parameter, value) in [("block_size", 8192), ("queue_depth", 2), ("threads", 2)] {
        assert_eq!(told(&parameters().with(parameter, value), PSYNC), None, "{parameter}");
    }
    assert_eq!(told(&parameters().with("direct", "off"), PSYNC), None);
    let sized =
        |bytes: &str| PSYNC.replace("\"rw\" :", &format!("\"io_size\" : \"{bytes}\",\n\"rw\" :"));
    assert_ne!(sized("1"), PSYNC);
    assert!(told(&parameters(), &sized("15998976")).is_some(), "3906 blocks of 16 MB");
    assert_eq!(told(&parameters(), &sized("15994880")), None);
}

#[test]
fn every_test_that_it_counts_has_a_pattern() {
    for test in ["read", "write", "randread", "randwrite", "randrw", COMMITS] {
        assert!(Fio.counts(test).is_some(), "{test}");
        assert!(pattern(&task(test, &parameters(test), 0.3, 1e6)).is_some(), "{test}");
    }
    assert_eq!((Fio.counts("rw"), Fio.counts("trim")), (None, None));
}
