use proofmark_model::key;
use std::path::Path;

use super::*;
use crate::testing::{self, does, with};

const FILE: &str = "/proc/77/fd/5";

fn parameters(test: &str) -> Params {
    let common = "threads=1 block_size=64k queue_depth=1 file_size=1g engine=psync direct=on \
                  cache=none amount=auto";
    let flush = if test.ends_with("write") { "flush=end" } else { "" };
    with(&Params::default(), &format!("{common} {flush}"))
}

fn task<'a>(test: &'a str, params: &'a Params, (seconds, work): (f64, f64)) -> Task<'a> {
    Task { seconds, work, file: Path::new(FILE), ..testing::task(test, params) }
}

#[test]
fn every_parameter_is_an_option_or_the_task_is_refused() {
    const WORK: &str = "it has no such work";
    const RECORDS: &str = "its records are 1 KiB to 16 MiB, in whole KiB";
    const FILES: &str = "its processes have a file each, proofmark's threads share one";
    const WARM: &str = "it rewrites a file that it has just written, so the cache is warm";
    let params = parameters("rewrite");
    let all = [
        ("read", "", Ok("-i 1 -+E -+n -w -I -r 64 -s 1048576 -f /proc/77/fd/5")),
        ("random read", "", Ok("-i 2 -+E -w -I -r 64 -s 1048576 -f /proc/77/fd/5")),
        ("rewrite", "", Ok("-i 0 -w -I -e -r 64 -s 1048576 -f /proc/77/fd/5")),
        ("random write", "", Ok("-i 0 -i 2 -w -I -e -r 64 -s 1048576 -f /proc/77/fd/5")),
        ("read", "direct=off cache=cold", Ok("-i 1 -+E -+n -w -r 64 ..")),
        ("rewrite", "flush=none block_size=16m", Ok("-i 0 -w -I -r 16384 -s 1048576 ..")),
        ("read", "queue_depth=2", Err("it has no queue depth")),
        ("read", "threads=2", Err(FILES)),
        ("read", "engine=io_uring", Err("it has no io_uring")),
        ("read", "engine=", Err("it has no ")),
        ("read", "engine=0", Err("engine is not set")),
        ("read", "direct=auto", Err("direct is not set")),
        ("read", "block_size=auto", Err("block_size is not set")),
        ("read", "block_size=512", Err(RECORDS)),
        ("read", "block_size=32m", Err(RECORDS)),
        ("read", "file_size=0", Err("file_size is not set")),
        ("read", "file_size=65537", Err("file_size must be a multiple of block_size")),
        ("rewrite", "flush=each", Err("flush is not set")),
        ("random write", "cache=cold", Err(WARM)),
        ("mixed test", "", Err(WORK)),
        ("write", "", Err(WORK)),
        ("reread", "", Err(WORK)),
    ];
    does(&Iozone, "3", &task("", &params, (0.3, 300e6)), &all);
    assert!(["mixed test", "write", "reread"].iter().all(|test| Iozone.counts(test).is_none()));
}

#[test]
fn a_file_that_takes_too_long_is_refused() {
    // 1 GiB at 100 MB/s takes 10.7 s once, 42.9 s four times.
    let of = |test: &'static str, rate: f64| {
        let params = parameters(test);
        let task = task(test, &params, (0.5, rate * 0.5));
        (arguments(&task).err(), Iozone.takes(&task).round())
    };
    assert_eq!(of("read", 100e6), (None, 11.0));
    let why = "it needs about 43 s for the whole file: set a smaller file_size";
    assert_eq!(of("random write", 100e6), (Some(why.to_owned()), 43.0));
    assert_eq!(of("random write", f64::NAN).0, None);
}

#[test]
fn the_figure_is_the_tests_and_its_file_the_runs() {
    // 1024 4 63143 59345 61914 56796
    let text = include_str!("../captured/3.489-direct.txt");
    let figure = |test: &str, changes: &str| {
        let params = with(&parameters(test), &format!("block_size=4k file_size=1m {changes}"));
        let output = crate::Tool::parse(&Iozone, text).unwrap();
        let figure = Iozone.figure(&task(test, &params, (0.3, 300e6)), output)?;
        Some((params, figure))
    };
    for (test, kb, read, written) in [
        ("rewrite", 59_345.0, 0, 2 << 20),
        ("random write", 56_796.0, 1 << 20, 3 << 20),
        ("random read", 61_914.0, 1 << 20, 0),
    ] {
        // The parameters of the run replace those of the task: it did not flush.
        let (params, found) = figure(test, "").unwrap();
        let ran = if test.ends_with("write") { params.with(key::FLUSH, "none") } else { params };
        assert_eq!((found.trials[0].value, found.params), (kb * 1024.0, ran), "{test}");
        let file = found.trials[0].file.clone().unwrap();
        assert_eq!((file.asked_read_bytes, file.asked_written_bytes), (read, written), "{test}");
    }
    assert_eq!((figure("read", ""), figure("write", "")), (None, None));
    for other in ["block_size=8k", "file_size=2m", "threads=2", "queue_depth=2", "direct=off"] {
        assert_eq!(figure("random read", other), None, "{other}");
    }
}
