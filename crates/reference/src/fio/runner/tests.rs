use std::path::Path;

use proofmark_model::{Flush, key};

use super::*;
use crate::Tool;
use crate::testing::{self, agrees, replaced, with};

const FILE: &str = "/proc/77/fd/5";

fn parameters(test: &str) -> Params {
    let common = "threads=1 block_size=4k file_size=1g amount=auto";
    let blocks = "queue_depth=32 engine=io_uring direct=on cache=none";
    let more = match test {
        COMMITS => "mode=append method=fdatasync",
        "randrw" => "reads=70 flush=end",
        _ if test.ends_with("write") => "flush=end",
        _ => "cache=none",
    };
    let blocks = if test == COMMITS { "" } else { blocks };
    with(&Params::default(), &format!("{common} {blocks} {more}"))
}

fn task<'a>(test: &'a str, params: &'a Params, seconds: f64, work: f64) -> Task<'a> {
    Task { seconds, work, file: Path::new(FILE), ..testing::task(test, params) }
}

/// Returns the arguments that differ between tasks.
fn own(test: &str, changes: &str, (seconds, work): (f64, f64)) -> Result<String, String> {
    let params = with(&parameters(test), changes);
    let all = arguments(&task(test, &params, seconds, work), true)?;
    let (always, own) = all.split_at(words(ALWAYS).len());
    assert_eq!(always.join(" "), ALWAYS);
    assert_eq!(own[0], format!("--filename={FILE}"));
    Ok(own[1..].join(" "))
}

#[test]
fn every_parameter_is_an_option_or_the_task_is_refused() {
    // 40 MB in 0.3 s.
    for (test, changes, expected) in [
        (
            "randread",
            "",
            Ok(
                "--rw=randread --bs=4096 --size=1073741824 --direct=1 --invalidate=0 --end_fsync=0 \
                --ioengine=io_uring --iodepth=32 --registerfiles=1 --fixedbufs=1 --io_size=39997440",
            ),
        ),
        ("write", "", Ok("--rw=write .. --end_fsync=1 .. --fixedbufs=0 --io_size=39997440")),
        ("randrw", "", Ok("--rw=randrw .. --end_fsync=1 --rwmixread=70 .. --fixedbufs=0 ..")),
        ("randrw", "reads=0", Ok("--rw=randwrite .. --end_fsync=1 --ioengine=..")),
        ("randrw", "reads=100", Ok("--rw=randread .. --end_fsync=0 --ioengine=..")),
        // 262144 blocks are 87381 for each of three threads; one is left.
        (
            "randwrite",
            "threads=3",
            Ok(".. --size=357912576 .. --end_fsync=1 --numjobs=3 --offset_increment=357912576 .. \
                --io_size=13332480"),
        ),
        ("read", "direct=off cache=cold", Ok(".. --direct=0 --invalidate=1 --end_fsync=0 ..")),
        ("read", "direct=off cache=warm", Ok(".. --direct=0 --invalidate=0 ..")),
        ("read", "engine=psync queue_depth=1", Ok(".. --end_fsync=0 --ioengine=psync --io_size..")),
        // Without a flush, which they would prevent, buffers are registered.
        ("write", "flush=none", Ok(".. --end_fsync=0 .. --fixedbufs=1 ..")),
        ("rw", "flush=end", Err("it has no such work")),
        ("randread", "engine=psync", Err("its psync has no such queue")),
        ("randread", "engine=auto", Err("its auto has no such queue")),
        ("randread", "block_size=auto", Err("block_size is not set")),
        ("randread", "file_size=auto", Err("file_size is not set")),
        ("randread", "direct=auto", Err("direct is not set")),
        ("randrw", "reads=few", Err("reads is not set")),
        ("write", "flush=often", Err("flush is not set")),
        ("randread", "file_size=8k threads=3", Err("its threads need a block of the file each")),
    ] {
        agrees(&format!("{test} {changes}"), own(test, changes, (0.3, 40e6)), expected);
    }
    let plain = parameters("read");
    let unregistered = arguments(&task("read", &plain, 0.3, 1e6), false).unwrap();
    assert!(unregistered.contains(&"--fixedbufs=0".to_owned()));
    for test in ["read", "write", "randread", "randwrite", "randrw", COMMITS] {
        assert!(pattern(&task(test, &parameters(test), 0.3, 1e6)).is_some(), "{test}");
    }
    assert_eq!((Fio.counts("rw"), Fio.counts("trim")), (None, None));
}

#[test]
fn work_and_time_of_a_trial_are_amounts() {
    let blocks = "--rw=write --bs=4096 --file_append=1 --size=819200 --direct=0 --ioengine=psync \
                  --fdatasync=1 --end_fsync=1";
    let several = "it writes one file, proofmark's threads one each";
    for (test, changes, trial, expected) in [
        (COMMITS, "", (0.3, 200.0), Ok(blocks)),
        (
            COMMITS,
            "method=o_dsync",
            (0.3, 200.0),
            Ok(".. --file_append=1 --size=819200 --direct=0 --ioengine=psync --sync=dsync"),
        ),
        (
            COMMITS,
            "mode=overwrite",
            (0.3, 1e6),
            Ok("--rw=write --bs=4096 --size=1073741824 --io_size=4096000000 --direct=0 \
                --ioengine=psync --fdatasync=1 --end_fsync=1"),
        ),
        (
            COMMITS,
            "mode=overwrite method=o_dsync",
            (0.3, 200.0),
            Ok(".. --io_size=819200 --direct=0 --ioengine=psync --sync=dsync"),
        ),
        (
            COMMITS,
            "mode=overwrite block_size=512",
            (0.3, 200.0),
            Err("it would first read the rest of each page"),
        ),
        (COMMITS, "mode=new", (0.3, 200.0), Err("mode is not set")),
        (COMMITS, "method=fsync", (0.3, 200.0), Err("method is not set")),
        (COMMITS, "threads=2", (0.3, 10.0), Err(several)),
        (COMMITS, "", (0.3, 1e6), Err("its file would grow by more than file_size")),
        // Long trials begin with untimed work.
        ("randwrite", "", (2.0, 800e6), Ok(".. --io_size=899997696 --ramp_time=250ms")),
        ("randwrite", "", (0.9, 800e6), Ok(".. --io_size=799997952")),
        ("randwrite", "direct=off cache=cold", (2.0, 800e6), Ok(".. --io_size=799997952")),
        ("randwrite", "direct=off cache=warm", (2.0, 800e6), Ok(".. --io_size=799997952")),
        ("randread", "", (0.012, 40e6), Err("it reports whole milliseconds; a trial takes 12.0")),
        ("randread", "", (0.3, 0.0), Ok(".. --io_size=4096")),
        ("randread", "", (0.3, -1.0), Ok(".. --io_size=4096")),
        ("randread", "", (0.3, f64::NAN), Ok(".. --io_size=4096")),
        ("randread", "", (0.3, 1e300), Ok(".. --io_size=18446744073709551615")),
    ] {
        agrees(&format!("{test} {changes} {trial:?}"), own(test, changes, trial), expected);
    }
}

#[test]
fn a_path_that_fio_would_part_is_refused() {
    let params = parameters("randread");
    let colon = Task { file: Path::new("/t/a:b"), ..task("randread", &params, 0.3, 1e6) };
    assert_eq!(arguments(&colon, true).unwrap_err(), "its path has a colon");
    let device = Task { file: Path::new("/dev/null"), ..colon };
    assert_eq!(arguments(&device, true).unwrap_err(), "it gets only files");
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

/// Returns a report's figure for a task, with its parameters.
fn figure(test: &str, changes: &str, work: f64, text: &str) -> Option<(Params, Figure)> {
    let params = with(&parameters(test), changes);
    let figure = Fio.figure(&task(test, &params, 0.3, work), Fio.parse(text).ok()?)?;
    Some((params, figure))
}

/// fio printed these with exactly these arguments, so the figure is the task's.
#[test]
fn the_figure_is_in_the_words_of_the_test() {
    let cold = "direct=off cache=cold block_size=1m engine=psync queue_depth=1";
    let cold_text = include_str!("../captured/3.39-beside-cold.json");
    for (test, changes, work, text) in [
        // Each thread has a part of the file.
        (
            "randread",
            "threads=2",
            57_573_376.0,
            include_str!("../captured/3.33-beside-threads.json"),
        ),
        ("randrw", "", 29_462_528.0, include_str!("../captured/3.33-beside-mixed.json")),
        ("read", cold, 128_974_848.0, cold_text),
    ] {
        let (params, f) = figure(test, changes, work, text).unwrap();
        assert_eq!((&*f.test, f.unit, &f.params), (test, Unit::BytePerSecond, &params));
        assert_eq!(f.trials[0].work, work, "{test}");
        let file = f.trials[0].file.clone().unwrap();
        assert_eq!(file.asked_read_bytes + file.asked_written_bytes, work as u64, "{test}");
        assert_eq!(Some(file.size_bytes), params.get(key::FILE_SIZE), "{test}");
        assert_eq!(file.flush == Flush::End, test == "randrw");
    }
    assert_eq!(figure("randwrite", cold, 40e6, cold_text), None);
    // 35 writes of 4096 bytes in 25 ms
    let text = include_str!("../captured/3.39-beside-commits.json");
    let (params, f) = figure(COMMITS, "", 35.0, text).unwrap();
    assert_eq!((&*f.test, f.unit, f.latency), (COMMITS, Unit::OpPerSecond, None));
    assert_eq!((f.trials[0].work, f.trials[0].seconds, f.params), (35.0, 0.025, params));
    assert!((f.trials[0].value - 1400.0).abs() < 1e-9);
    assert_eq!(f.trials[0].file.as_ref().unwrap().flush, Flush::Each);
    // 200 writes in 217 ms
    let text = include_str!("../captured/3.33-beside-dsync.json");
    let changes = "mode=overwrite method=o_dsync file_size=4m";
    let (params, f) = figure(COMMITS, changes, 200.0, text).unwrap();
    assert_eq!((f.trials[0].work, f.trials[0].seconds, f.params), (200.0, 0.217, params));
    assert_eq!(f.trials[0].file.as_ref().unwrap().flush, Flush::Dsync);
}

/// 16 MiB in 292 ms; `io_size` was not given.
const PSYNC: &str = include_str!("../captured/3.33-beside-psync.json");

#[test]
fn an_output_reports_how_it_ran() {
    const SMALL: &str = "file_size=16m engine=psync queue_depth=1";
    let reported = |changes: &str, text: &str| {
        let (asked, f) = figure("randread", &format!("{SMALL} {changes}"), 16e6, text)?;
        Some((asked, f.params, f.trials[0].file.as_ref()?.size_bytes))
    };
    // The part of a thread, also in a file that is no multiple of it.
    for size in [16 << 20, (16 << 20) + 5] {
        let (asked, ran, bytes) = reported(&format!("file_size={size}"), PSYNC).unwrap();
        assert_eq!((ran, bytes), (asked, size));
    }
    // A parameter that may differ is reported.
    let sync = reported("", &replaced(PSYNC, "\"psync\"", "\"pvsync2\"")).unwrap().1;
    assert_eq!(sync.get(key::ENGINE), Some("pvsync2"));
    let twice = "8388608\", \"loops\" : \"2\",";
    let (_, half, size) = reported("", &replaced(PSYNC, "16777216\",", twice)).unwrap();
    assert_eq!((half.get(key::FILE_SIZE), size), (Some(8 << 20), 8 << 20));
    for other in ["block_size=8k", "queue_depth=2", "threads=2", "direct=off"] {
        assert_eq!(reported(other, PSYNC), None, "{other}");
    }
    // 3906 blocks of 16 MB.
    for (bytes, same) in [("15998976", true), ("15994880", false)] {
        let sized = format!("\"io_size\" : \"{bytes}\",\n\"rw\" :");
        assert_eq!(reported("", &replaced(PSYNC, "\"rw\" :", &sized)).is_some(), same, "{bytes}");
    }
}
