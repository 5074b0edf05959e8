use std::path::Path;

use super::*;
use crate::testing;

const FILE: &str = "/proc/77/fd/5";

fn parameters(workload: &str) -> Params {
    let common = Params::default()
        .with("threads", 1)
        .with("block_size", 65_536)
        .with("queue_depth", 1)
        .with("file_size", 1 << 30)
        .with("engine", "psync")
        .with("direct", "on")
        .with("cache", "none")
        .with("amount", "auto");
    if workload.ends_with("write") { common.with("flush", "end") } else { common }
}

fn task<'a>(workload: &'a str, params: &'a Params, (seconds, work): (f64, f64)) -> Task<'a> {
    Task { seconds, work, file: Path::new(FILE), ..testing::task(workload, params) }
}

fn same(workload: &str, change: impl Fn(Params) -> Params) -> Result<String, String> {
    let params = change(parameters(workload));
    arguments(&task(workload, &params, (0.3, 300e6))).map(|all| all.join(" "))
}

#[test]
fn every_parameter_is_an_option() {
    for (workload, options) in [
        ("disk.seq_read", "-i 1 -+E -+n -w -I"),
        ("disk.rand_read", "-i 2 -+E -w -I"),
        ("disk.seq_write", "-i 0 -w -I -e"),
        ("disk.rand_write", "-i 0 -i 2 -w -I -e"),
    ] {
        let expected = format!("{options} -r 64 -s 1048576 -f {FILE}");
        assert_eq!(same(workload, |p| p), Ok(expected), "{workload}");
    }
    let cold = |p: Params| p.with("direct", "off").with("cache", "cold");
    let expected = format!("-i 1 -+E -+n -w -r 64 -s 1048576 -f {FILE}");
    assert_eq!(same("disk.seq_read", cold), Ok(expected));
    let unflushed = |p: Params| p.with("flush", "none").with("block_size", 16 << 20);
    let expected = format!("-i 0 -w -I -r 16384 -s 1048576 -f {FILE}");
    assert_eq!(same("disk.seq_write", unflushed), Ok(expected));
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |workload: &str, parameter: &str, value: &str| {
        let set = |p: Params| match value.parse::<u64>() {
            Ok(number) => p.with(parameter, number),
            Err(_) => p.with(parameter, value),
        };
        same(workload, set).unwrap_err()
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
        assert_eq!(refused("disk.seq_read", parameter, value), why, "{parameter}={value}");
    }
    assert_eq!(refused("disk.seq_write", "flush", "each"), "flush is not set");
    let warm = "it writes what it has written before: its cache is warm";
    assert_eq!(refused("disk.rand_write", "cache", "cold"), warm);
    for workload in ["disk.mixed", "disk.read_write", "disk.fsync", "cpu.flops"] {
        assert_eq!(same(workload, |p| p).unwrap_err(), "it has no such work");
        assert_eq!(Iozone.counts(workload), None);
    }
    let none = Params::default().with("block_size", 4096).with("file_size", 4096);
    let none = arguments(&task("disk.seq_read", &none, (0.3, 1e6)));
    assert_eq!(none.unwrap_err(), "engine is not set");
}

#[test]
fn a_file_that_takes_too_long_is_refused() {
    // 1 GiB at 100 MB/s: once 10.7 s, four times 42.9 s.
    let of = |workload: &'static str, rate: f64| {
        let params = parameters(workload);
        let task = task(workload, &params, (0.5, rate * 0.5));
        (arguments(&task).err(), Iozone.takes(&task).round())
    };
    assert_eq!(of("disk.seq_read", 100e6), (None, 11.0));
    let why = "all of its file takes it 43 s: it needs a smaller file_size";
    assert_eq!(of("disk.rand_write", 100e6), (Some(why.to_owned()), 43.0));
    assert_eq!(of("disk.rand_write", f64::NAN).0, None);
}

#[test]
fn the_figure_is_the_tests_and_its_file_the_runs() {
    let small = |workload: &str| {
        let small = parameters(workload).with("block_size", 4096).with("file_size", 1 << 20);
        if workload.ends_with("write") { small.with("flush", "none") } else { small }
    };
    let with = |workload: &str, params: &Params, text: &str| {
        let output = crate::Tool::parse(&Iozone, text).unwrap();
        Iozone.figure(&task(workload, params, (0.3, 300e6)), output)
    };
    let figure = |workload: &str, text: &str| with(workload, &small(workload), text);
    let text = include_str!("../captured/3.489-direct.txt");
    // 1024 4 63143 59345 61914 56796
    let written = figure("disk.seq_write", text).unwrap();
    assert_eq!(written.trials[0].value, 59_345.0 * 1024.0);
    assert_eq!(written.params, small("disk.seq_write"));
    let file = written.trials[0].file.clone().unwrap();
    assert_eq!((file.asked_read_bytes, file.asked_written_bytes), (0, 2 << 20));
    let written = figure("disk.rand_write", text).unwrap();
    assert_eq!(written.trials[0].value, 56_796.0 * 1024.0);
    let file = written.trials[0].file.clone().unwrap();
    assert_eq!((file.asked_read_bytes, file.asked_written_bytes), (1 << 20, 3 << 20));
    assert_eq!(figure("disk.rand_read", text).unwrap().trials[0].value, 61_914.0 * 1024.0);
    assert_eq!(figure("disk.seq_read", text), None);
    assert_eq!(figure("disk.mixed", text), None);
    // How it ran, where it differs from what it was asked: it did not flush.
    let flushed = small("disk.seq_write").with("flush", "end");
    let params = with("disk.seq_write", &flushed, text).unwrap().params;
    assert_eq!(params, small("disk.seq_write"));
    for (parameter, value) in
        [("block_size", 8192), ("file_size", 2 << 20), ("threads", 2), ("queue_depth", 2)]
    {
        let other = small("disk.rand_read").with(parameter, value);
        assert_eq!(with("disk.rand_read", &other, text), None, "{parameter}");
    }
    let buffered = small("disk.rand_read").with("direct", "off");
    assert_eq!(with("disk.rand_read", &buffered, text), None);
}
