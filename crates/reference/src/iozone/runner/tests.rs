use std::path::Path;

use super::*;
use crate::testing;

const FILE: &str = "/proc/77/fd/5";

fn parameters(test: &str) -> Params {
    let common = Params::default()
        .with("threads", 1)
        .with("block_size", 65_536)
        .with("queue_depth", 1)
        .with("file_size", 1 << 30)
        .with("engine", "psync")
        .with("direct", "on")
        .with("cache", "none")
        .with("amount", "auto");
    if test.ends_with("write") { common.with("flush", "end") } else { common }
}

fn task<'a>(test: &'a str, params: &'a Params, (seconds, work): (f64, f64)) -> Task<'a> {
    Task { seconds, work, file: Path::new(FILE), ..testing::task(test, params) }
}

fn same(test: &str, change: impl Fn(Params) -> Params) -> Result<String, String> {
    let params = change(parameters(test));
    arguments(&task(test, &params, (0.3, 300e6))).map(|all| all.join(" "))
}

#[test]
fn every_parameter_is_an_option() {
    for (test, options) in [
        ("read", "-i 1 -+E -+n -w -I"),
        ("random read", "-i 2 -+E -w -I"),
        ("rewrite", "-i 0 -w -I -e"),
        ("random write", "-i 0 -i 2 -w -I -e"),
    ] {
        let expected = format!("{options} -r 64 -s 1048576 -f {FILE}");
        assert_eq!(same(test, |p| p), Ok(expected), "{test}");
    }
    let cold = |p: Params| p.with("direct", "off").with("cache", "cold");
    let expected = format!("-i 1 -+E -+n -w -r 64 -s 1048576 -f {FILE}");
    assert_eq!(same("read", cold), Ok(expected));
    let unflushed = |p: Params| p.with("flush", "none").with("block_size", 16 << 20);
    let expected = format!("-i 0 -w -I -r 16384 -s 1048576 -f {FILE}");
    assert_eq!(same("rewrite", unflushed), Ok(expected));
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |test: &str, parameter: &str, value: &str| {
        let set = |p: Params| match value.parse::<u64>() {
            Ok(number) => p.with(parameter, number),
            Err(_) => p.with(parameter, value),
        };
        same(test, set).unwrap_err()
    };
    for (parameter, value, why) in [
        ("queue_depth", "2", "it has no queue depth"),
        ("threads", "2", "its processes have a file each, our threads one together"),
        ("engine", "io_uring", "it has no io_uring"),
        ("engine", "", "it has no "),
        ("direct", "auto", "direct is not set"),
        ("block_size", "auto", "block_size is not set"),
        ("block_size", "512", "its records are of 1 KiB to 16 MiB, in whole KiB"),
        ("block_size", "33554432", "its records are of 1 KiB to 16 MiB, in whole KiB"),
        ("file_size", "0", "file_size is not set"),
        ("file_size", "65537", "its file is of whole records"),
    ] {
        assert_eq!(refused("read", parameter, value), why, "{parameter}={value}");
    }
    assert_eq!(refused("rewrite", "flush", "each"), "flush is not set");
    let warm = "it writes what it has written before: its cache is warm";
    assert_eq!(refused("random write", "cache", "cold"), warm);
    for test in ["mixed test", "write", "reread"] {
        assert_eq!(same(test, |p| p).unwrap_err(), "it has no such work");
        assert_eq!(Iozone.counts(test), None);
    }
    let none = Params::default().with("block_size", 4096).with("file_size", 4096);
    let none = arguments(&task("read", &none, (0.3, 1e6)));
    assert_eq!(none.unwrap_err(), "engine is not set");
}

#[test]
fn a_file_that_takes_too_long_is_refused() {
    // 1 GiB at 100 MB/s: once 10.7 s, four times 42.9 s.
    let of = |test: &'static str, rate: f64| {
        let params = parameters(test);
        let task = task(test, &params, (0.5, rate * 0.5));
        (arguments(&task).err(), Iozone.takes(&task).round())
    };
    assert_eq!(of("read", 100e6), (None, 11.0));
    let why = "all of its file takes it 43 s: it needs a smaller file_size";
    assert_eq!(of("random write", 100e6), (Some(why.to_owned()), 43.0));
    assert_eq!(of("random write", f64::NAN).0, None);
}

#[test]
fn the_figure_is_the_tests_and_its_file_the_runs() {
    let small = |test: &str| {
        let small = parameters(test).with("block_size", 4096).with("file_size", 1 << 20);
        if test.ends_with("write") { small.with("flush", "none") } else { small }
    };
    let with = |test: &str, params: &Params, text: &str| {
        let output = crate::Tool::parse(&Iozone, text).unwrap();
        Iozone.figure(&task(test, params, (0.3, 300e6)), output)
    };
    let figure = |test: &str, text: &str| with(test, &small(test), text);
    let text = include_str!("../captured/3.489-direct.txt");
    // 1024 4 63143 59345 61914 56796
    let written = figure("rewrite", text).unwrap();
    assert_eq!(written.trials[0].value, 59_345.0 * 1024.0);
    assert_eq!(written.params, small("rewrite"));
    let file = written.trials[0].file.clone().unwrap();
    assert_eq!((file.asked_read_bytes, file.asked_written_bytes), (0, 2 << 20));
    let written = figure("random write", text).unwrap();
    assert_eq!(written.trials[0].value, 56_796.0 * 1024.0);
    let file = written.trials[0].file.clone().unwrap();
    assert_eq!((file.asked_read_bytes, file.asked_written_bytes), (1 << 20, 3 << 20));
    assert_eq!(figure("random read", text).unwrap().trials[0].value, 61_914.0 * 1024.0);
    assert_eq!(figure("read", text), None);
    assert_eq!(figure("write", text), None);
    // How it ran, where it differs from what it was asked: it did not flush.
    let flushed = small("rewrite").with("flush", "end");
    let params = with("rewrite", &flushed, text).unwrap().params;
    assert_eq!(params, small("rewrite"));
    for (parameter, value) in
        [("block_size", 8192), ("file_size", 2 << 20), ("threads", 2), ("queue_depth", 2)]
    {
        let other = small("random read").with(parameter, value);
        assert_eq!(with("random read", &other, text), None, "{parameter}");
    }
    let buffered = small("random read").with("direct", "off");
    assert_eq!(with("random read", &buffered, text), None);
}
